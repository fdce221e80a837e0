"""Entities, one at a time: every method, every precondition, every error."""
import base64
import json
import os
import tempfile
import threading
import unittest
import uuid
from decimal import Decimal

from lib import HERE, Case, Client, Server, cli

NOBODY = '00000000-0000-4000-8000-000000000000'


class Create(Case):
    def test_create(self):
        answer = self.user(email='Grace.Hopper@Example.com' + uuid.uuid4().hex)
        item = answer.json
        self.assertEqual(item['plan'], 'free')
        self.assertEqual(item['rev'], 1)
        self.assertEqual(item['balance'], 0)
        self.assertTrue(item['email'].startswith('grace.hopper@example.com'))
        self.assertEqual(item['since'], item['updated'])
        self.assertIsNone(item['nick'])
        for derived in ('PK', 'SK', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'EntityType'):
            self.assertNotIn(derived, item)
        self.assertEqual(answer.headers['location'], f'/v1/shop/User?userId={item["userId"]}')
        self.assertRegex(answer.etag, '^"[0-9a-f]{32}"$')
        again = self.send(200, 'GET', answer.headers['location'][3:])
        self.assertEqual(again.json, item)
        self.assertEqual(again.etag, answer.etag)

    def test_members_in_the_order_of_the_model(self):
        names = list(self.user().json)
        self.assertEqual(names[:4], ['userId', 'email', 'name', 'plan'])

    def test_exists(self):
        item = self.user().json
        answer = self.send(409, 'POST', '/shop/User', {**item, 'email': 'other@example.com'})
        self.assertEqual(answer.json['detail'], 'There is a User with this key already')

    def test_unique(self):
        email = self.user().json['email']
        answer = self.send(409, 'POST', '/shop/User', {'email': email.upper(), 'name': 'B', 'nick': None})
        self.assertEqual(answer.json['type'], 'urn:dolmen:problem:not-unique')
        self.assertEqual(answer.json['errors'][0]['pointer'], '/email')

    def test_violations(self):
        body = {'email': 'a@b.c', 'name': '', 'plan': 'gold', 'tags': ['a'], 'address': {'street': 1, 'city': 'x'}}
        answer = self.send(400, 'POST', '/shop/User', body)
        self.assertEqual(answer.json['exception'], 'ValidationException')
        self.assertEqual(answer.json['entity'], 'User')
        errors = {error['pointer']: error for error in answer.json['errors']}
        self.assertEqual(set(errors), {'/name', '/plan', '/address/street', '/nick'})
        self.assertEqual(errors['/plan']['expected'], '"free" | "pro"')
        self.assertEqual(errors['/plan']['actual'], '"gold"')
        self.assertEqual(errors['/plan']['detail'], 'expected "free" | "pro", got "gold"')
        self.assertEqual(errors['/nick']['actual'], 'nothing')
        self.assertIn('/plan: expected "free" | "pro", got "gold"', answer.json['detail'])

    def test_same_text_as_dynamodb(self):
        answer = self.send(400, 'POST', '/shop/Counter', {'name': 'x', 'value': 'y'})
        with self.assertRaises(Exception) as raised:
            self.api.call('PutItem', {'TableName': 'shop', 'Item': {
                'EntityType': {'S': 'Counter'}, 'name': {'S': 'x'}, 'value': {'S': 'y'}}})
        self.assertEqual(raised.exception.message, answer.json['detail'])

    def test_no_parameters(self):
        self.assertIn('/name', self.send(400, 'POST', '/shop/Counter?name=x', {}).json['detail'])
        name = uuid.uuid4().hex
        self.assertIn('PK', self.send(201, 'POST', '/shop/Counter?keys=1', {'name': name}).json)

    def test_another_entity(self):
        answer = self.send(400, 'POST', '/shop/Counter', {'name': 'x', 'EntityType': 'User'})
        self.assertEqual(answer.json['errors'][0]['pointer'], '/EntityType')
        self.assertEqual(answer.json['errors'][0]['expected'], '"Counter"')

    def test_bad_bodies(self):
        for body in ('', '{', '{"name":1,}', '{"name":"x"} x', 'nonsense', '{"name":"\ud800"}'.encode('utf-8', 'surrogatepass')):
            answer = self.send(400, 'POST', '/shop/Counter', body)
            self.assertEqual(answer.json['type'], 'urn:dolmen:problem:malformed')
        self.assertEqual(self.send(400, 'POST', '/shop/Counter', '[1]').json['detail'], 'The body is not a JSON object')

    def test_content_type(self):
        answer = self.send(415, 'POST', '/shop/Counter', 'name=x', {'content-type': 'application/x-www-form-urlencoded'})
        self.assertEqual(answer.headers['accept-post'], 'application/json')
        answer = self.send(415, 'PATCH', '/shop/Counter?name=x', 'x', {'content-type': 'text/plain'})
        self.assertIn('application/merge-patch+json', answer.headers['accept-patch'])
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name}, {'content-type': 'Application/JSON; charset=utf-8'})

    def test_too_large(self):
        answer = self.send(400, 'POST', '/shop/User', {'email': 'x@y.z', 'name': 'x', 'nick': None, 'note': 'x' * 500000})
        self.assertIn('Item size', answer.json['detail'])
        self.send(413, 'POST', '/shop/User', 'x' * (17 << 20))


class Values(Case):
    def test_numbers_are_exact(self):
        for text in ('12345678901234567890.123456789012345678', '0.1', '-1e-130', '99999999999999999999999999999999999999',
                     '123456789012345678901234567890e40', '9.9e125', '0'):
            name = uuid.uuid4().hex
            answer = self.send(201, 'POST', '/shop/Counter', f'{{"name":"{name}","value":{text}}}')
            self.assertEqual(Decimal(answer.json['value']), Decimal(text))
            stored = self.api.call('GetItem', {'TableName': 'shop', 'Key': {
                'PK': {'S': 'COUNTER#' + name}, 'SK': {'S': 'COUNTER'}}})['Item']['value']['N']
            self.assertEqual(Decimal(stored), Decimal(text))

    def test_numbers_that_cannot_be(self):
        for text in ('1e126', '1e-131', '1' * 39, '-1e200'):
            answer = self.send(400, 'POST', '/shop/Counter', f'{{"name":"x","value":{text}}}')
            self.assertEqual(answer.json['errors'][0]['pointer'], '/value')

    def test_sets_and_binary(self):
        bytes_ = bytes(range(256))
        item = self.user(tags=['x', 'a', 'ü'], photo=base64.b64encode(bytes_).decode()).json
        self.assertEqual(item['tags'], ['a', 'x', 'ü'])
        self.assertEqual(base64.b64decode(item['photo']), bytes_)
        stored = self.api.call('GetItem', {'TableName': 'shop', 'Key': {
            'PK': {'S': 'USER#' + item['userId']}, 'SK': {'S': 'METADATA'}}})['Item']
        self.assertEqual(stored['tags'], {'SS': ['a', 'x', 'ü']})
        self.assertEqual(base64.b64decode(stored['photo']['B']), bytes_)

    def test_sets_and_binary_that_cannot_be(self):
        cases = [({'tags': ['a', 'a']}, '/tags'), ({'tags': []}, '/tags'), ({'tags': [1]}, '/tags/0'),
                 ({'photo': 'no base64!'}, '/photo')]
        for more, pointer in cases:
            answer = self.send(400, 'POST', '/shop/User', {'email': 'x@y.z', 'name': 'x', 'nick': None, **more})
            self.assertEqual([error['pointer'] for error in answer.json['errors']], [pointer])

    def test_nested(self):
        address = {'street': 'Rue "X"\n\t', 'city': 'Köln \U0001f600', 'zip': ''}
        limits = {'a/b': 1, 'c~d': 2.5}
        item = self.user(address=address, limits=limits).json
        self.assertEqual(item['address'], address)
        self.assertEqual(item['limits'], {'a/b': 1, 'c~d': Decimal('2.5')})

    def test_pointers_are_escaped(self):
        answer = self.send(400, 'POST', '/shop/User', {'email': 'x@y.z', 'name': 'x', 'nick': None, 'limits': {'a/b~c': 'x'}})
        self.assertEqual(answer.json['errors'][0]['pointer'], '/limits/a~1b~0c')

    def test_depth(self):
        deep = '[' * 40 + ']' * 40
        answer = self.send(400, 'POST', '/shop/User', f'{{"email":"x@y.z","name":"x","nick":null,"other":{deep}}}')
        self.assertIn('32 levels', answer.json['detail'])

    def test_unknown_attributes_stay(self):
        item = self.user(other={'x': [1, None, True, 'y']}).json
        self.assertEqual(item['other'], {'x': [1, None, True, 'y']})

    def test_keys_are_shown_on_demand(self):
        user = self.user().json['userId']
        item = self.get(200, '/shop/User', userId=user, keys='true').json
        self.assertEqual(item['PK'], 'USER#' + user)
        self.assertEqual(item['EntityType'], 'User')
        self.assertEqual(item['GSI1PK'], 'USER_EMAIL')


class Read(Case):
    def test_get(self):
        user = self.user().json['userId']
        self.assertEqual(self.get(200, '/shop/User', userId=user).json['userId'], user)
        self.assertEqual(self.get(200, '/shop/User', PK='USER#' + user, SK='METADATA').json['userId'], user)
        head = self.send(200, 'HEAD', '/shop/User', query={'userId': user})
        self.assertEqual(head.text, '')
        self.assertTrue(head.etag)

    def test_absent(self):
        answer = self.get(404, '/shop/User', userId=NOBODY)
        self.assertEqual(answer.json['detail'], 'There is no User with this key')

    def test_key_attributes(self):
        answer = self.get(400, '/shop/Order', userId=NOBODY)
        self.assertEqual([error['pointer'] for error in answer.json['errors']], ['/orderId'])
        answer = self.get(400, '/shop/Order')
        self.assertEqual([error['pointer'] for error in answer.json['errors']], ['/userId', '/orderId'])
        answer = self.get(400, '/shop/User', userId=NOBODY, name='x')
        self.assertEqual(answer.json['errors'][0]['pointer'], '/name')
        answer = self.get(400, '/shop/Order', userId=NOBODY, orderId='x')
        self.assertEqual(answer.json['errors'][0]['pointer'], '/orderId')

    def test_if_none_match(self):
        made = self.user()
        user = made.json['userId']
        query = {'userId': user}
        answer = self.send(304, 'GET', '/shop/User', headers={'if-none-match': made.etag}, query=query)
        self.assertEqual(answer.text, '')
        self.assertEqual(answer.etag, made.etag)
        self.assertNotIn('content-length', answer.headers)
        self.send(304, 'GET', '/shop/User', headers={'if-none-match': f'"x", W/{made.etag}'}, query=query)
        self.send(304, 'GET', '/shop/User', headers={'if-none-match': '*'}, query=query)
        self.send(200, 'GET', '/shop/User', headers={'if-none-match': '"x"'}, query=query)
        self.send(412, 'GET', '/shop/User', headers={'if-match': '"x"'}, query=query)

    def test_what_there_is_not(self):
        answer = self.get(404, '/shop/Usr')
        self.assertRegex(answer.json['detail'], r'^Table shop has no entity or pattern Usr \(there are .*\); did you mean "User"\?$')
        answer = self.get(404, '/shp/User')
        self.assertEqual(answer.json['detail'], 'There is no table shp with a model (GET /v1 lists them); did you mean "shop"?')
        self.get(404, '/shop/User/x')

    def test_methods(self):
        answer = self.send(405, 'DELETE', '/shop/userByEmail')
        self.assertEqual(answer.headers['allow'], 'GET, HEAD')
        answer = self.send(405, 'GET', '/shop/$batch')
        self.assertEqual(answer.headers['allow'], 'POST')
        answer = self.send(405, 'TRACE', '/shop/User')
        self.assertEqual(answer.headers['allow'], 'GET, HEAD, POST, PUT, PATCH, DELETE')
        self.send(405, 'POST', '/shop', {})

    def test_the_other_entity_of_a_key(self):
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name})
        key = {'PK': 'COUNTER#' + name, 'SK': 'COUNTER'}
        self.get(404, '/shop/User', **key)
        self.send(404, 'DELETE', '/shop/User', query=key)
        self.send(404, 'PATCH', '/shop/User', {'note': 'x'}, query=key)
        self.get(200, '/shop/Counter', name=name)

    def test_a_patch_does_not_change_the_key(self):
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name})
        answer = self.send(400, 'PATCH', '/shop/Counter', {'name': name + 'x'}, query={'name': name})
        self.assertIn('another key than the one it is addressed by', answer.json['detail'])
        self.send(200, 'PATCH', '/shop/Counter', {'name': name}, query={'name': name})

    def test_pages_of_others_stay_out(self):
        answer = self.send(403, 'GET', '', headers={'origin': 'https://example.com'})
        self.assertNotIn('access-control-allow-origin', answer.headers)

    def test_a_body_has_a_type(self):
        for method in ('POST', 'PUT', 'PATCH'):
            answer = self.send(415, method, '/shop/Counter', b'{"value":1}', {'content-type': ''},
                               {'name': 'x'} if method != 'POST' else None)
            self.assertIn('application/json', answer.json['detail'])


class Replace(Case):
    def test_replace_and_create(self):
        name = uuid.uuid4().hex
        made = self.send(201, 'PUT', '/shop/Counter', {'value': 1}, query={'name': name})
        self.assertEqual(made.json, {'name': name, 'value': 1})
        self.assertTrue(made.headers['location'].endswith(name))
        replaced = self.send(200, 'PUT', '/shop/Counter', {'name': name, 'value': 2}, query={'name': name})
        self.assertNotEqual(replaced.etag, made.etag)
        self.assertEqual(self.get(200, '/shop/Counter', name=name).json['value'], 2)

    def test_version_and_times(self):
        made = self.user()
        query = {'userId': made.json['userId']}
        answer = self.send(200, 'PUT', '/shop/User', {**made.json, 'name': 'New'}, query=query)
        self.assertEqual(answer.json['rev'], 2)
        self.assertEqual(answer.json['since'], made.json['since'])
        late = self.send(409, 'PUT', '/shop/User', {**made.json, 'name': 'Late'}, query=query).json
        self.assertEqual((late['type'], late['errors'][0]['pointer']), ('urn:dolmen:problem:conflict', '/rev'))

    def test_the_key_cannot_change(self):
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name})
        self.send(400, 'PUT', '/shop/Counter', {'name': 'other', 'value': 2}, query={'name': name})
        self.send(400, 'PATCH', '/shop/Counter', {'name': 'other'}, query={'name': name})
        self.assertEqual(self.get(200, '/shop/Counter', name=name).json['value'], 0)
        self.get(404, '/shop/Counter', name='other')

    def test_preconditions(self):
        query = {'name': uuid.uuid4().hex}
        path = '/shop/Counter'
        self.send(412, 'PUT', path, {'value': 1}, {'if-match': '*'}, query)
        self.send(412, 'PUT', path, {'value': 1}, {'if-match': '"0123"'}, query)
        first = self.send(201, 'PUT', path, {'value': 1}, {'if-none-match': '*'}, query)
        self.send(412, 'PUT', path, {'value': 1}, {'if-none-match': '*'}, query)
        self.send(412, 'PUT', path, {'value': 1}, {'if-match': '"0123"'}, query)
        second = self.send(200, 'PUT', path, {'value': 2}, {'if-match': f'"0123", {first.etag}'}, query)
        answer = self.send(412, 'PUT', path, {'value': 3}, {'if-match': first.etag}, query)
        self.assertEqual(answer.json['type'], 'urn:dolmen:problem:precondition')
        self.send(412, 'PUT', path, {'value': 3}, {'if-match': 'W/' + second.etag}, query)
        self.send(200, 'PUT', path, {'value': 3}, {'if-match': '*'}, query)
        self.assertEqual(self.get(200, path, **query).json['value'], 3)


class Patch(Case):
    def test_merge(self):
        made = self.user(note='x', address={'street': 'a', 'city': 'b', 'zip': '1'}, limits={'a': 1, 'b': 2})
        query = {'userId': made.json['userId']}
        patch = {'note': None, 'address': {'zip': None, 'city': 'c'}, 'limits': {'b': 3, 'c': 4}, 'tags': ['x'], 'gone': None}
        answer = self.send(200, 'PATCH', '/shop/User', patch, {'content-type': 'application/merge-patch+json'}, query)
        expected = {**made.json, 'rev': 2, 'address': {'street': 'a', 'city': 'c'}, 'limits': {'a': 1, 'b': 3, 'c': 4},
                    'tags': ['x'], 'updated': answer.json['updated']}
        del expected['note']
        self.assertEqual(answer.json, expected)
        self.assertEqual(self.get(200, '/shop/User', **query).json, expected)

    def test_index_keys_follow(self):
        made = self.user()
        query = {'userId': made.json['userId']}
        email = f'{uuid.uuid4()}@example.org'
        self.send(200, 'PATCH', '/shop/User', {'email': email, 'plan': 'pro'}, query=query)
        self.assertEqual(self.get(200, '/shop/userByEmail', email=made.json['email']).json['items'], [])
        self.assertEqual(len(self.get(200, '/shop/userByEmail', email=email.upper()).json['items']), 1)

    def test_null(self):
        made = self.user(nick='n')
        query = {'userId': made.json['userId']}
        answer = self.send(200, 'PATCH', '/shop/User', {'nick': None}, query=query)
        self.assertIsNone(answer.json['nick'])
        answer = self.send(400, 'PATCH', '/shop/User', {'name': None}, query=query)
        self.assertEqual(answer.json['errors'][0]['pointer'], '/name')

    def test_errors(self):
        self.send(404, 'PATCH', '/shop/User', {'name': 'x'}, query={'userId': NOBODY})
        self.send(404, 'PATCH', '/shop/User', {'name': 'x'}, {'if-match': '"x"'}, {'userId': NOBODY})
        made = self.user()
        query = {'userId': made.json['userId']}
        self.send(412, 'PATCH', '/shop/User', {'name': 'x'}, {'if-match': '"x"'}, query)
        self.send(400, 'PATCH', '/shop/User', {'plan': 'gold'}, query=query)
        self.send(400, 'PATCH', '/shop/User', '[]', query=query)
        self.send(200, 'PATCH', '/shop/User', {'name': 'x'}, {'if-match': made.etag}, query)


class Delete(Case):
    def test_delete(self):
        made = self.user()
        query = {'userId': made.json['userId']}
        self.send(412, 'DELETE', '/shop/User', headers={'if-match': '"x"'}, query=query)
        answer = self.send(204, 'DELETE', '/shop/User', headers={'if-match': made.etag}, query=query)
        self.assertEqual(answer.text, '')
        self.assertNotIn('content-length', answer.headers)
        self.send(404, 'DELETE', '/shop/User', query=query)
        self.send(404, 'DELETE', '/shop/User', headers={'if-match': made.etag}, query=query)
        self.get(404, '/shop/User', **query)
        self.user(email=made.json['email'])  # which is free again


class OtherTables(Case):
    def test_native_keys(self):
        self.send(201, 'POST', '/readings/Reading', {'station': 'a b/ü', 'at': 1700000000, 'value': 1.5})
        answer = self.get(200, '/readings/Reading', station='a b/ü', at='1700000000')
        self.assertEqual(answer.json['value'], Decimal('1.5'))
        answer = self.send(200, 'PATCH', '/readings/Reading', {'value': 2}, query={'station': 'a b/ü', 'at': 1700000000})
        self.assertEqual(answer.json, {'station': 'a b/ü', 'at': 1700000000, 'value': 2})
        answer = self.get(400, '/readings/Reading', station='x', at='soon')
        self.assertEqual(answer.json['errors'][0]['pointer'], '/at')

    def test_told_by_their_keys(self):
        book = self.send(201, 'POST', '/notes/Notebook', {'title': 'T'}).json['bookId']
        for number in (1, 2, 12):
            self.send(201, 'POST', '/notes/Note', {'bookId': book, 'number': number, 'text': 'x'})
        self.send(200, 'PUT', '/notes/Note', {'text': 'y'}, query={'bookId': book, 'number': 12})
        answer = self.get(200, '/notes/Note', bookId=book, number=12, keys=1)
        self.assertEqual(answer.json['SK'], 'NOTE#000012')
        self.assertEqual(answer.json['text'], 'y')
        items = self.get(200, '/notes/bookAndNotes', bookId=book).json['items']
        self.assertEqual([item['$entity'] for item in items], ['Notebook', 'Note', 'Note', 'Note'])

    def test_warnings(self):
        name = uuid.uuid4().hex
        answer = self.send(201, 'POST', '/lax/Thing', {'thingId': name, 'size': 99})
        self.assertIn('/size: expected', answer.headers['x-dolmen-warnings'])
        answer = self.get(200, '/lax/Thing', thingId=name, keys='')
        self.assertEqual(answer.json['GSI1PK'], 'COLOR#red')  # who sends entities need not send keys
        answer = self.send(200, 'PATCH', '/lax/Thing', {'color': 'green', 'size': 3}, query={'thingId': name})
        self.assertNotIn('x-dolmen-warnings', answer.headers)
        items = self.get(200, '/lax/thingsByColor', color='green').json['items']
        self.assertEqual([item['thingId'] for item in items], [name])

    def test_pages(self):
        tables = {table['name']: table for table in self.get(200, '').json['tables']}
        self.assertEqual(set(tables), {'shop', 'readings', 'notes', 'lax'})
        self.assertEqual(tables['shop']['entities'], ['User', 'Order', 'Counter', 'Pair'])
        page = self.get(200, '/shop').json
        user = page['entities'][0]
        self.assertEqual((user['name'], user['key'], user['doc']), ('User', ['userId'], 'Who buys.'))
        required = {attribute['name'] for attribute in user['attributes'] if attribute['required']}
        self.assertEqual(required, {'email', 'name', 'nick'})
        pattern = page['patterns'][1]
        self.assertEqual(pattern['name'], 'userByEmail')
        self.assertTrue(pattern['one'])


class Restart(unittest.TestCase):
    def test_cursors_outlive_the_server(self):
        with tempfile.TemporaryDirectory() as directory:
            with Server(directory) as server:
                cli('apply', os.path.join(HERE, 'plain.dolmen'), '--endpoint', server.endpoint)
                client = Client(server.endpoint)
                for at in (1, 2, 3):
                    client.send('POST', '/readings/Reading', {'station': 's', 'at': at, 'value': 0})
                first = client.get('/readings/latestOf', station='s').json
                client.connection.close()
            with Server(directory) as server:
                client = Client(server.endpoint)
                second = client.get('/readings/latestOf', station='s', cursor=first['cursor'])
                client.connection.close()
            self.assertEqual([item['at'] for item in first['items'] + second.json['items']], [3, 2])
            lines = cli('query', 'readings', 'latestOf', 'station=s', '--limit', '2', '--data', directory).splitlines()
            self.assertEqual([json.loads(line)['at'] for line in lines], [3, 2])


class Crowd(Case):
    CLIENTS, ROUNDS = 12, 8

    def count(self, step):
        """Many clients at once, each with a connection of its own."""
        name = uuid.uuid4().hex
        self.send(201, 'POST', '/shop/Counter', {'name': name})
        failures = []

        def work():
            client = Client(self.endpoint)
            try:
                for _ in range(self.ROUNDS):
                    step(client, {'name': name})
            except Exception as error:
                failures.append(error)
            client.connection.close()

        threads = [threading.Thread(target=work) for _ in range(self.CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        return self.get(200, '/shop/Counter', name=name).json

    def test_if_match_loses_nothing(self):
        def step(client, query):
            while True:
                seen = client.send('GET', '/shop/Counter', query=query)
                answer = client.send('PUT', '/shop/Counter', {'value': seen.json['value'] + 1},
                                     {'if-match': seen.etag}, query)
                if answer.status == 200:
                    return
                assert answer.status == 412, answer.text

        self.assertEqual(self.count(step)['value'], self.CLIENTS * self.ROUNDS)

    def test_patches_meet(self):
        """Each patches an attribute of its own, without looking; none is lost."""
        def step(client, query):
            answer = client.send('PATCH', '/shop/Counter', {'x' + uuid.uuid4().hex: 1}, query=query)
            assert answer.status == 200, answer.text

        item = self.count(step)
        self.assertEqual(len([name for name in item if name.startswith('x')]), self.CLIENTS * self.ROUNDS)


if __name__ == '__main__':
    unittest.main()
