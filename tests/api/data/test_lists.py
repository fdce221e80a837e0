"""$transaction, all or nothing; $batch, each for itself."""
import threading
import unittest
import uuid

from lib import Case, Client


class Transactions(Case):
    def transact(self, status, *operations):
        return self.send(status, 'POST', '/shop/$transaction', list(operations))

    def test_all(self):
        user = self.user()
        old, new = uuid.uuid4().hex, uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': old})
        key = {'userId': user.json['userId']}
        answer = self.transact(
            200,
            {'op': 'create', 'entity': 'Counter', 'item': {'name': new, 'value': 5}},
            {'op': 'patch', 'entity': 'User', 'key': key, 'item': {'note': 'n'}, 'ifMatch': user.etag},
            {'op': 'replace', 'entity': 'Order', 'key': {**key, 'orderId': 1}, 'item': {'status': 'paid'}},
            {'op': 'delete', 'entity': 'Counter', 'key': {'name': old}})
        results = answer.json['results']
        self.assertEqual([result['status'] for result in results], [201, 200, 201, 204])
        self.assertEqual(results[0]['item'], {'name': new, 'value': 5})
        self.assertEqual(results[1]['item']['note'], 'n')
        self.assertEqual(results[1]['item']['rev'], 2)
        self.assertEqual(self.get(200, '/shop/User', **key).etag, results[1]['etag'])
        self.get(404, '/shop/Counter', name=old)

    def test_nothing(self):
        there, new = uuid.uuid4().hex, uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': there})
        create = {'op': 'create', 'entity': 'Counter', 'item': {'name': new}}
        cases = [
            (409, {'op': 'create', 'entity': 'Counter', 'item': {'name': there}}),
            (404, {'op': 'patch', 'entity': 'Counter', 'key': {'name': 'none'}, 'item': {'value': 1}}),
            (404, {'op': 'delete', 'entity': 'Counter', 'key': {'name': 'none'}}),
            (404, {'op': 'check', 'entity': 'Counter', 'key': {'name': 'none'}}),
            (412, {'op': 'delete', 'entity': 'Counter', 'key': {'name': there}, 'ifMatch': '"x"'}),
            (400, {'op': 'patch', 'entity': 'Counter', 'key': {'name': there}, 'item': {'value': 'x'}}),
            (400, {'op': 'delete', 'entity': 'Counter', 'key': {}}),
        ]
        for status, operation in cases:
            answer = self.transact(status, create, operation)
            self.assertEqual(answer.json['results'][0], {})
            self.assertEqual(answer.json['results'][1]['status'], status)
            self.get(404, '/shop/Counter', name=new)
        pointers = [error['pointer'] for error in self.transact(400, create, cases[5][1]).json['results'][1]['problem']['errors']]
        self.assertEqual(pointers, ['/1/item/value'])

    def test_check(self):
        name = uuid.uuid4().hex
        made = self.send(201, 'POST', '/shop/Counter', {'name': name})
        check = {'op': 'check', 'entity': 'Counter', 'key': {'name': name}, 'ifMatch': made.etag}
        create = {'op': 'create', 'entity': 'Counter', 'item': {'name': name + 'x'}}
        self.transact(200, check, create)
        self.send(200, 'PATCH', '/shop/Counter', {'value': 9}, query={'name': name})
        self.transact(412, check, {**create, 'item': {'name': name + 'y'}})
        self.get(404, '/shop/Counter', name=name + 'y')

    def test_bad_requests(self):
        create = {'op': 'create', 'entity': 'Counter', 'item': {'name': 'x'}}
        for body in ('{}', '[]', '[1]', '[{}]', 'x', '[{"op":"create"}]', '[{"op":1}]', '[{"other":1}]'):
            self.send(400, 'POST', '/shop/$transaction', body)
        for operation in ({'op': 'get', 'entity': 'Counter', 'key': {'name': 'x'}}, {'op': 'x', 'entity': 'Counter'},
                          {'op': 'create', 'entity': 'Nothing', 'item': {}}, {'op': 'create', 'entity': 'Counter'},
                          {'op': 'delete', 'entity': 'Counter'}):
            self.assertIn('/1: ', self.transact(400, create, operation).json['detail'])
        self.transact(400, create, create)
        self.transact(400, *[create] * 101)
        large = [{'op': 'create', 'entity': 'Counter', 'item': {'name': uuid.uuid4().hex, 'x': 'x' * 390000}} for _ in range(11)]
        self.assertIn('4MB', self.transact(400, *large).text)
        self.send(415, 'POST', '/shop/$transaction', 'x', {'content-type': 'text/plain'})

    def test_transfers(self):
        """Money moves between two accounts; the sum stays, whoever is faster."""
        names = [uuid.uuid4().hex, uuid.uuid4().hex]
        for name in names:
            self.send(201, 'POST', '/shop/Counter', {'name': name, 'value': 1000})
        failures = []

        def work():
            client = Client(self.endpoint)
            for _ in range(6):
                while True:
                    seen = [client.get('/shop/Counter', name=name) for name in names]
                    answer = client.send('POST', '/shop/$transaction', [
                        {'op': 'patch', 'entity': 'Counter', 'key': {'name': name}, 'ifMatch': one.etag,
                         'item': {'value': one.json['value'] + change}}
                        for name, one, change in zip(names, seen, (-7, 7))])
                    if answer.status == 200:
                        break
                    if answer.status != 412:
                        failures.append(answer.text)
                        return
            client.connection.close()

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        values = [self.get(200, '/shop/Counter', name=name).json['value'] for name in names]
        self.assertEqual(values, [1000 - 7 * 36, 1000 + 7 * 36])


class Batches(Case):
    def test_each_for_itself(self):
        there = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': there})
        new = uuid.uuid4().hex
        answer = self.send(200, 'POST', '/shop/$batch', [
            {'op': 'create', 'entity': 'Counter', 'item': {'name': there}},
            {'op': 'create', 'entity': 'Counter', 'item': {'name': new}},
            {'op': 'get', 'entity': 'Counter', 'key': {'name': there}},
            {'op': 'get', 'entity': 'Counter', 'key': {'name': 'none'}},
            {'op': 'patch', 'entity': 'Counter', 'key': {'name': there}, 'patch': {'value': 'x'}},
            {'op': 'delete', 'entity': 'Counter', 'key': {'name': 1}},
        ])
        results = answer.json['results']
        self.assertEqual([result['status'] for result in results], [409, 201, 200, 404, 400, 400])
        self.assertEqual(results[2]['item'], {'name': there, 'value': 0})
        self.assertEqual(results[4]['problem']['errors'][0]['pointer'], '/4/item/value')
        self.assertEqual(results[5]['problem']['errors'][0]['pointer'], '/5/key/name')
        self.get(200, '/shop/Counter', name=new)

    def test_the_same_entity(self):
        """They run together, but none is lost."""
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name})
        answer = self.send(200, 'POST', '/shop/$batch', [
            {'op': 'patch', 'entity': 'Counter', 'key': {'name': name}, 'patch': {f'x{i}': i}} for i in range(50)])
        self.assertEqual({result['status'] for result in answer.json['results']}, {200})
        item = self.get(200, '/shop/Counter', name=name).json
        self.assertEqual(len([one for one in item if one.startswith('x')]), 50)


if __name__ == '__main__':
    unittest.main()
