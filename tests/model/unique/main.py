"""Two hundred clients want the same unique value at once: exactly one gets it, whatever way they write.

Each client has a connection of its own and waits at a barrier; then all write at the same moment. What a loser hears
is part of the test.
"""
import os
import sys
import threading
import traceback

from dolmen import Api, ApiError

CLIENTS = 200
TABLE = 'unique'
MODEL = '''
table unique { key PK  type kind }
entity User {
  PK = "USER#{id}"
  id string
  email email unique, lower
  phone string? unique
}
'''


def text(value):
    return {'S': value}


def user(number, email, **more):
    return {'kind': text('User'), 'id': text(str(number)), 'email': text(email), **{n: text(v) for n, v in more.items()}}


def key(number):
    return {'PK': text(f'USER#{number}')}


def put(number, email):
    return 'PutItem', {'TableName': TABLE, 'Item': user(number, email)}


def update(number, email):
    return 'UpdateItem', {'TableName': TABLE, 'Key': key(number), 'UpdateExpression': 'SET email = :e',
                          'ExpressionAttributeValues': {':e': text(email)}}


def transact(number, email):
    # The second action alone would be fine: the transaction is all or nothing.
    return 'TransactWriteItems', {'TransactItems': [
        {'Put': put(number, email)[1]},
        {'Put': {'TableName': TABLE, 'Item': user(f'{number}-more', f'more{number}-{email}')}}]}


def batch(number, email):
    return 'BatchWriteItem', {'RequestItems': {TABLE: [{'PutRequest': {'Item': user(number, email)}}]}}


def statement(number, email):
    return 'ExecuteStatement', {'Statement': f"""INSERT INTO "{TABLE}" VALUE {{'kind': 'User', 'PK': 'USER#{number}', 'id': '{number}', 'email': '{email}'}}"""}


class Suite:
    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.apis = [Api(endpoint) for _ in range(CLIENTS)]
        self.api = Api(endpoint)

    def at_once(self, requests):
        """Calls each at the same moment on its own connection: for each None, or the error."""
        barrier = threading.Barrier(len(requests))
        outcomes = [None] * len(requests)

        def client(i):
            barrier.wait()
            try:
                self.apis[i].call(*requests[i])
            except ApiError as error:
                outcomes[i] = error
            except Exception as error:  # a connection that broke is no answer
                outcomes[i] = ApiError(0, {'__type': type(error).__name__, 'message': str(error)})

        threads = [threading.Thread(target=client, args=(i,)) for i in range(len(requests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    def items(self):
        return self.api.pages('Scan', {'TableName': TABLE, 'ConsistentRead': True})

    def owners(self, email):
        return [item['id']['S'] for item in self.items() if item['email']['S'] == email.lower()]

    def one_wins(self, requests, email):
        outcomes = self.at_once(requests)
        winners = [i for i, error in enumerate(outcomes) if error is None]
        assert len(winners) == 1, f'{len(winners)} of {len(requests)} succeeded: {[str(e) for e in outcomes if e][:3]}'
        assert len(self.owners(email)) == 1, self.owners(email)
        for i, error in enumerate(outcomes):
            if error is None:
                continue
            wanted = f'/email: expected a value that no other item has, got "{email.lower()}"'
            assert wanted in str(error.document), error.document
            if requests[i][0] == 'TransactWriteItems':
                assert error.name == 'TransactionCanceledException', error
            else:
                assert error.name == 'ValidationException', error
        return winners[0]

    # ---- The cases -----------------------------------------------------------------------------

    def case_put(self):
        self.one_wins([put(f'p{i}', 'put@example.org') for i in range(CLIENTS)], 'put@example.org')

    def case_normal_form(self):
        forms = ['Form@Example.org', 'form@example.org', 'FORM@EXAMPLE.ORG']
        self.one_wins([put(f'n{i}', forms[i % 3]) for i in range(CLIENTS)], 'form@example.org')

    def case_transactions(self):
        before = len(self.items())
        self.one_wins([transact(f't{i}', 'transact@example.org') for i in range(CLIENTS)], 'transact@example.org')
        assert len(self.items()) == before + 2, 'a canceled transaction left something'

    def case_updates(self):
        for i in range(CLIENTS):
            self.api.call(*put(f'u{i}', f'u{i}@example.org'))
        self.one_wins([update(f'u{i}', 'update@example.org') for i in range(CLIENTS)], 'update@example.org')

    def case_all_ways(self):
        """Puts, updates, transactions, batches and statements against each other."""
        for i in range(0, CLIENTS, 5):
            self.api.call(*put(f'a{i}', f'a{i}@example.org'))
        ways = [update, put, transact, batch, statement]
        self.one_wins([ways[i % 5](f'a{i}', 'all@example.org') for i in range(CLIENTS)], 'all@example.org')

    def case_within_a_transaction(self):
        """Two actions of one transaction that want the same value."""
        actions = [{'Put': put(f'w{i}', 'within@example.org')[1]} for i in range(2)]
        try:
            self.api.call('TransactWriteItems', {'TransactItems': actions})
            raise AssertionError('both got it')
        except ApiError as error:
            assert error.name == 'TransactionCanceledException', error
        assert self.owners('within@example.org') == []

    def case_handing_over(self):
        """A transaction in which one item gives the value away and another one takes it."""
        self.api.call(*put('h1', 'hand@example.org'))
        self.api.call('TransactWriteItems', {'TransactItems': [
            {'Delete': {'TableName': TABLE, 'Key': key('h1')}}, {'Put': put('h2', 'hand@example.org')[1]}]})
        assert self.owners('hand@example.org') == ['h2']

    def case_freed(self):
        """Deleting the item, or giving it another value, frees the value; then again only one gets it."""
        self.api.call(*put('f', 'free@example.org'))
        self.refuses(put('g', 'free@example.org'))
        self.api.call('DeleteItem', {'TableName': TABLE, 'Key': key('f')})
        winner = self.one_wins([put(f'f{i}', 'free@example.org') for i in range(CLIENTS)], 'free@example.org')
        self.api.call(*update(f'f{winner}', 'other@example.org'))
        self.one_wins([put(f'g{i}', 'free@example.org') for i in range(CLIENTS)], 'free@example.org')

    def case_replaced(self):
        """A put over the same item may keep the value, and gives it back if it brings another one."""
        self.api.call(*put('r', 'replace@example.org'))
        self.api.call(*put('r', 'replace@example.org'))
        self.api.call(*put('r', 'replaced@example.org'))
        self.api.call(*put('s', 'replace@example.org'))
        self.refuses(put('s', 'replaced@example.org'))

    def case_optional(self):
        """What is missing is claimed by nobody; each unique attribute counts for itself."""
        self.api.call('PutItem', {'TableName': TABLE, 'Item': user('o1', 'o1@example.org')})
        self.api.call('PutItem', {'TableName': TABLE, 'Item': user('o2', 'o2@example.org', phone='1')})
        self.refuses(('PutItem', {'TableName': TABLE, 'Item': user('o3', 'o3@example.org', phone='1')}))
        self.api.call('UpdateItem', {'TableName': TABLE, 'Key': key('o2'), 'UpdateExpression': 'REMOVE phone'})
        self.api.call('PutItem', {'TableName': TABLE, 'Item': user('o3', 'o3@example.org', phone='1')})

    def refuses(self, request):
        try:
            self.api.call(*request)
        except ApiError as error:
            assert error.name == 'ValidationException', error
            return
        raise AssertionError(f'{request} was taken')

    def case_churn(self):
        """Everybody takes and frees the same few values for a while: at no time two have one."""
        def client(i, failures):
            for round_ in range(10):
                email = f'churn{(i + round_) % 7}@example.org'
                try:
                    self.apis[i].call(*put(f'c{i}', email))
                except ApiError as error:
                    if error.name != 'ValidationException':
                        failures.append(error)
                if round_ % 3 == 2:
                    self.apis[i].call('DeleteItem', {'TableName': TABLE, 'Key': key(f'c{i}')})
        failures = []
        threads = [threading.Thread(target=client, args=(i, failures)) for i in range(50)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            emails = [item['email']['S'] for item in self.items() if item['email']['S'].startswith('churn')]
            # A scan is of one moment as long as it has one page.
            assert len(emails) == len(set(emails)), emails
        for thread in threads:
            thread.join()
        assert not failures, failures[:3]


def main():
    endpoint = os.environ['DOLMEN_ENDPOINT']
    Api(endpoint).call('ApplyModel', {'Model': MODEL})
    suite = Suite(endpoint)
    passed = failed = 0
    for name in [n for n in dir(Suite) if n.startswith('case_')]:
        try:
            getattr(suite, name)()
            passed += 1
        except Exception:
            failed += 1
            print(f'{name} failed')
            traceback.print_exc(file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
