"""Access patterns: pages, cursors, filters, several entities; the command line; the OpenAPI document."""
import json
import os
import subprocess
import unittest
import uuid

from lib import HERE, Case, cli


class Patterns(Case):
    def orders(self, count, **more):
        user = self.user().json['userId']
        batch = [{'op': 'create', 'entity': 'Order', 'item': {'userId': user, 'orderId': number, **more}}
                 for number in range(1, count + 1)]
        for at in range(0, count, 100):
            answer = self.send(200, 'POST', '/shop/$batch', batch[at:at + 100])
            self.assertEqual({result['status'] for result in answer.json['results']}, {201})
        return user

    def test_one(self):
        made = self.user().json
        answer = self.get(200, '/shop/userByEmail', email=made['email'].upper())
        self.assertEqual(answer.json, {'items': [made], 'cursor': None})
        self.assertEqual(self.get(200, '/shop/userById', userId=made['userId']).json['items'], [made])
        self.assertEqual(self.get(200, '/shop/userByEmail', email='nobody').json, {'items': [], 'cursor': None})

    def test_one_is_one(self):
        """However many items a page looks at."""
        user = self.orders(5)
        for query in ({}, {'limit': 1}, {'limit': 3}):
            page = self.get(200, '/shop/anyOrder', userId=user, **query).json
            self.assertEqual(([item['orderId'] for item in page['items']], page['cursor']), ([1], None))
        shown = cli('query', 'shop', 'anyOrder', 'userId=' + user, '--limit', '3', '--endpoint', self.endpoint, '--json')
        self.assertEqual([json.loads(line)['orderId'] for line in shown.splitlines()], [1])

    def test_part_of_an_entity(self):
        """An index that has only keys still tells the attributes that its keys are made of."""
        made = self.user(plan='pro').json
        found = [item for item in self.get(200, '/shop/usersOfPlan', plan='pro').json['items']
                 if item['userId'] == made['userId']]
        self.assertEqual(found, [{'userId': made['userId'], 'plan': 'pro', 'since': made['since']}])
        shown = [json.loads(line) for line in cli('query', 'shop', 'usersOfPlan', 'plan=pro', '--endpoint', self.endpoint,
                                                  '--json', '--all').splitlines()]
        self.assertIn(found[0], shown)
        keys = self.get(200, '/shop/usersOfPlan', plan='pro', keys='true').json['items'][0]
        self.assertEqual(set(keys), {'userId', 'plan', 'since', 'PK', 'SK', 'GSI2PK', 'GSI2SK'})

    def test_keys_that_can_be_read_in_two_ways(self):
        kind = uuid.uuid4().hex
        for left, right, rank in (('a', 'b', 7), ('a#b', 'c', 8)):
            self.send(201, 'POST', '/shop/Pair', {'left': left, 'right': right, 'kind': kind, 'rank': rank, 'memo': 'x'})
        self.assertEqual(self.get(200, '/shop/pairsOfKind', kind=kind).json['items'],
                         [{'left': 'a', 'right': 'b', 'kind': kind, 'rank': 7}, {'kind': kind, 'rank': 8}])

    def test_order_and_pages(self):
        user = self.orders(23)
        whole = self.get(200, '/shop/ordersOfUser', userId=user).json
        self.assertEqual([item['orderId'] for item in whole['items']], list(range(23, 0, -1)))
        self.assertIsNone(whole['cursor'])
        seen, query, pages = [], {'userId': user, 'limit': 5}, 0
        while True:
            page = self.get(200, '/shop/ordersOfUser', **query).json
            seen += page['items']
            pages += 1
            if page['cursor'] is None:
                break
            self.assertRegex(page['cursor'], '^[A-Za-z0-9_-]+$')
            query['cursor'] = page['cursor']
        self.assertEqual(seen, whole['items'])
        self.assertEqual(pages, 5)

    def test_cursors_cannot_be_made(self):
        user = self.orders(3)
        cursor = self.get(200, '/shop/ordersOfUser', userId=user, limit=1).json['cursor']
        other = self.orders(3)
        bad = [cursor[:-2], cursor[2:], 'x', '', cursor[:10] + ('A' if cursor[10] != 'A' else 'B') + cursor[11:],
               cursor + '=', 'A' * 8000]
        for text in bad:
            answer = self.client.send('GET', '/shop/ordersOfUser', query={'userId': user, 'cursor': text})
            self.assertIn(answer.status, (400, 414), text)
        for path, query in (('/shop/ordersOfUser', {'userId': other}), ('/shop/accountOf', {'userId': user})):
            answer = self.get(400, path, cursor=cursor, **query)
            self.assertEqual(answer.json['type'], 'urn:dolmen:problem:cursor')
        self.get(200, '/shop/ordersOfUser', userId=user, cursor=cursor)

    def test_several_entities(self):
        user = self.orders(2)
        items = self.get(200, '/shop/accountOf', userId=user).json['items']
        self.assertEqual([item['$entity'] for item in items], ['User', 'Order', 'Order'])
        self.assertNotIn('EntityType', items[0])
        self.send(200, 'PUT', '/shop/Order', items[1], query={'userId': user, 'orderId': 1})

    def test_filter(self):
        user = self.user().json['userId']
        for number in range(1, 7):
            self.send(201, 'POST', '/shop/Order', {'userId': user, 'orderId': number,
                                                   'total': {'amount': number * 10, 'currency': 'EUR'}})
        items = self.get(200, '/shop/cheapOrders', userId=user, max='30').json['items']
        self.assertEqual([item['orderId'] for item in items], [1, 2, 3])
        self.get(400, '/shop/cheapOrders', userId=user, max='cheap')

    def test_ranges(self):
        for at in range(1000, 1010):
            self.send(201, 'POST', '/readings/Reading', {'station': 'r', 'at': at, 'value': at})
        items = self.get(200, '/readings/readingsOf', station='r', **{'from': 1003, 'to': 1005}).json['items']
        self.assertEqual([item['at'] for item in items], [1003, 1004, 1005])
        answer = self.get(200, '/readings/latestOf', station='r').json
        self.assertEqual([item['at'] for item in answer['items']], [1009])
        self.assertIsNotNone(answer['cursor'])
        items = self.get(200, '/readings/latestOf', station='r', limit=3).json['items']
        self.assertEqual([item['at'] for item in items], [1009, 1008, 1007])

    def test_keys_only_index(self):
        explained = self.get(200, '/shop/ordersByStatus', status='paid', explain='true').json
        self.assertEqual(explained['operation'], 'Query')
        self.assertEqual(explained['index'], 'GSI1')
        self.assertEqual(explained['keys'], 'GSI1PK = "ORDER_STATUS#paid"')
        self.assertEqual(explained['request']['ExpressionAttributeValues'], {':GSI1PK': {'S': 'ORDER_STATUS#paid'}})
        self.api.call('Query', explained['request'])  # as it is

    def test_arguments(self):
        answer = self.get(400, '/shop/ordersSince', status='lost', since='yesterday', more=1)
        self.assertEqual([error['pointer'] for error in answer.json['errors']], ['/status', '/since', '/more'])
        answer = self.get(400, '/shop/ordersSince')
        self.assertEqual([error['actual'] for error in answer.json['errors']], ['nothing', 'nothing'])
        for limit in ('0', '-1', 'x', '', '10001', '99999999999999999999'):
            self.get(400, '/shop/userByEmail', email='x', limit=limit)
        self.send(400, 'GET', '/shop/userByEmail?email=%ff')


class CommandLine(Case):
    def query(self, *arguments, code=0):
        return cli('query', *arguments, '--endpoint', self.endpoint, code=code)

    def test_list(self):
        self.assertIn('userByEmail(email string)', self.query('shop'))
        patterns = {pattern['name']: pattern for pattern in json.loads(self.query('shop', '--json'))}
        self.assertEqual(patterns['ordersSince']['parameters'][1], {'name': 'since', 'type': 'timestamp'})

    def test_query(self):
        made = self.user(balance=7).json
        lines = self.query('shop', 'userByEmail', 'email=' + made['email'].upper()).splitlines()
        self.assertEqual([json.loads(line) for line in lines], [made])

    def test_pages(self):
        user = Patterns.orders(self, 12)
        first = subprocess.run([os.path.join(*cli_binary()), 'query', 'shop', 'ordersOfUser', 'userId=' + user, '--limit', '5',
                                '--endpoint', self.endpoint], capture_output=True, text=True, check=True)
        self.assertEqual(len(first.stdout.splitlines()), 5)
        cursor = first.stderr.split('--cursor ')[1].strip()
        rest = self.query('shop', 'ordersOfUser', 'userId=' + user, '--cursor', cursor, '--all')
        self.assertEqual([json.loads(line)['orderId'] for line in rest.splitlines()], list(range(7, 0, -1)))
        everything = self.query('shop', 'ordersOfUser', 'userId=' + user, '--limit', '5', '--all')
        self.assertEqual(everything, first.stdout + rest)

    def test_explain(self):
        text = self.query('shop', 'userByEmail', 'email=x@y.z', '--explain')
        for part in ('index     GSI1', 'GSI1SK = "x@y.z"', 'capacity', '"KeyConditionExpression"'):
            self.assertIn(part, text)
        document = json.loads(self.query('shop', 'userByEmail', 'email=x@y.z', '--explain', '--json'))
        self.assertEqual(document['capacity']['unitsPer4KB'], 0.5)
        offline = cli('query', 'shop', 'userById', 'userId=' + str(uuid.uuid4()), '--explain', '--json',
                      '--model', os.path.join(HERE, 'shop.dolmen'))
        self.assertEqual(json.loads(offline)['operation'], 'GetItem')

    def test_errors(self):
        self.assertIn('ordersOfUser(userId uuid)', self.query('shop', 'orders', code=2))
        self.assertIn('/email: expected string, got nothing', self.query('shop', 'userByEmail', code=2))
        self.query('shop', 'userByEmail', 'email', code=2)
        self.query('shop', 'userByEmail', 'email=x', '--cursor', 'x', code=2)
        self.query('nothing', code=1)
        cli('query', code=2)


def cli_binary():
    from lib import BINARY
    return (BINARY,)


class OpenApi(Case):
    def test_valid(self):
        if not os.path.isdir(os.path.join(HERE, 'node_modules')):
            subprocess.run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], cwd=HERE, check=True)
        done = subprocess.run(['node', os.path.join(HERE, 'openapi.mjs'), self.endpoint + '/v1/openapi.json'],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('3.1.0 valid', done.stdout)

    def test_every_operation_is_there(self):
        document = self.get(200, '/openapi.json').json
        methods = set(document['paths']['/v1/shop/User'])
        self.assertEqual(methods, {'get', 'post', 'put', 'patch', 'delete'})
        identifiers = [operation['operationId'] for path in document['paths'].values() for operation in path.values()]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        user = document['components']['schemas']['shop.UserInput']
        self.assertEqual(set(user['required']), {'email', 'name', 'nick'})
        self.assertEqual(user['properties']['plan']['enum'], ['free', 'pro'])
        self.assertEqual(user['properties']['name']['maxLength'], 100)
        self.assertEqual(user['properties']['tags']['anyOf'][0]['uniqueItems'], True)
        self.assertEqual(user['properties']['tags']['anyOf'][1], {'type': 'null'})

    def test_patterns_that_show_a_part(self):
        paths = self.get(200, '/openapi.json').json['paths']

        def items(name):
            page = paths['/v1/shop/' + name]['get']['responses']['200']['content']['application/json']['schema']
            return page['properties']['items']['items']

        self.assertEqual(items('userByEmail'), {'$ref': '#/components/schemas/shop.User'})
        self.assertEqual(set(items('usersOfPlan')['properties']), {'userId', 'plan', 'since'})
        self.assertEqual(set(items('usersOfPlan')['required']), {'userId', 'plan', 'since'})
        self.assertEqual(set(items('pairsOfKind')['properties']), {'left', 'right', 'kind', 'rank'})
        # Of a key with two texts it is not certain which is which.
        self.assertEqual(set(items('pairsOfKind')['required']), {'kind', 'rank'})


if __name__ == '__main__':
    unittest.main()
