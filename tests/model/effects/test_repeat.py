"""Repetitions: `idempotent`, within a request and by client request tokens."""
from support import Case, item, verify_database

MODEL = '''
table orders { key PK, SK  type kind }
entity Order {
  PK = "ORDER#{order}"  SK = "x"
  order  string
  basket string
}
idempotent Order by
  sha256(basket) for 1h
'''
RULE = 'idempotent Order by sha256(basket) for 1h'


class Repeat(Case):
    def setUp(self):
        self.apply(MODEL, 'orders')

    def order(self, order, basket):
        return item('Order', order=order, basket=basket)

    def orders(self):
        return sorted(one['order'] for one in self.scan('orders'))

    def transact(self, *orders, **options):
        return {'TransactItems': [{'Put': {'TableName': 'orders', 'Item': one}} for one in orders], **options}

    def test_twice_in_one_request(self):
        before = set(self.orders())
        batch = {'RequestItems': {'orders': [{'PutRequest': {'Item': self.order(f'b{n}', basket)}}
                                             for n, basket in enumerate(['one', 'two', 'one', 'three', 'two', 'one'])]}}
        # Each item of a batch is a write of its own: one that does what another did repeats it.
        self.assertEqual(self.headers('BatchWriteItem', batch).get('x-dolmen-repeated'), 'true')
        self.assertEqual(set(self.orders()) - before, {'b0', 'b1', 'b3'})
        self.assertEqual(self.headers('BatchWriteItem', batch).get('x-dolmen-repeated'), 'true')
        self.assertEqual(set(self.orders()) - before, {'b0', 'b1', 'b3'})
        # A transaction is one, and would have to be its own repetition.
        twice = self.transact(self.order('t0', 'four'), self.order('t1', 'four'))
        self.refused(lambda: self.api.call('TransactWriteItems', twice), 'TransactionCanceledException', 'two items of the transaction', RULE.replace('"', '\\"'))
        self.assertEqual(set(self.orders()) - before, {'b0', 'b1', 'b3'})
        verify_database(self.api)

    def test_a_token_tells_that_it_was_a_repetition(self):
        name = 'x-dolmen-repeated'
        first = self.transact(self.order('k0', 'five'), ClientRequestToken='first')
        again = self.transact(self.order('k1', 'five'), self.order('k2', 'six'), ClientRequestToken='again')
        self.assertEqual([self.headers('TransactWriteItems', first).get(name) for _ in range(2)], [None, None])
        self.assertEqual([self.headers('TransactWriteItems', again).get(name) for _ in range(3)], ['true'] * 3)
        self.assertNotIn('k2', self.orders())
