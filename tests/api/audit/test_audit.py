"""The audit log of a server: what its lines say, and that it is whole, or said to be broken."""
import datetime
import hashlib
import hmac
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.parse import urlsplit

from dolmen import AUTHORIZATION, ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 60
TABLE = {'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}, {'AttributeName': 'sk', 'KeyType': 'RANGE'}],
         'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}, {'AttributeName': 'sk', 'AttributeType': 'N'}],
         'BillingMode': 'PAY_PER_REQUEST'}


def key(pk, sk):
    return {'pk': {'S': pk}, 'sk': {'N': str(sk)}}


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError(f'waited in vain: {what}')


def audit(*arguments, **options):
    return subprocess.run([BINARY, 'audit', *arguments], capture_output=True, text=True, timeout=PATIENCE, **options)


def raw(endpoint, method, path, body=None, headers=None):
    parts = urlsplit(endpoint)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text, response.getheader('x-amzn-RequestId')


def metric(endpoint, name):
    text = raw(endpoint, 'GET', '/metrics')[1].decode()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f'dolmen_{name} '))


def sign(endpoint, key_id, secret, operation, body):
    """The headers of a signed request."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    scope = f'{now[:8]}/us-east-1/dynamodb/aws4_request'
    target = f'DynamoDB_20120810.{operation}'
    host = urlsplit(endpoint).netloc
    canonical = (f'POST\n/\n\nhost:{host}\nx-amz-date:{now}\nx-amz-target:{target}\n\nhost;x-amz-date;x-amz-target\n'
                 + hashlib.sha256(body.encode()).hexdigest())
    text = f'AWS4-HMAC-SHA256\n{now}\n{scope}\n' + hashlib.sha256(canonical.encode()).hexdigest()
    signing = ('AWS4' + secret).encode()
    for part in scope.split('/'):
        signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(signing, text.encode(), hashlib.sha256).hexdigest()
    return {'X-Amz-Date': now, 'X-Amz-Target': target, 'Content-Type': 'application/x-amz-json-1.0',
            'Authorization': f'AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders=host;x-amz-date;x-amz-target, Signature={signature}'}


class Base(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix='dolmen-audit-')
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.log = os.path.join(self.root, 'audit.log')

    def server(self, *options, log=None):
        return Server(os.path.join(self.root, 'data'), '--audit-log', log or self.log, *options)

    def lines(self, *options):
        shown = audit('show', self.log, '--json', *options)
        self.assertEqual((shown.returncode, shown.stderr), (0, ''))
        return [json.loads(line) for line in shown.stdout.splitlines()]

    def assert_whole(self, log=None):
        result = audit('verify', log or self.log, '--json')
        document = json.loads(result.stdout)
        self.assertEqual((result.returncode, document['breaks']), (0, []), result.stdout)
        return document


class Lines(Base):
    """Each path leaves its line."""

    def test_operations(self):
        with self.server('--audit-keys', 'plain') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            api.call('CreateTable', {'TableName': 'Films', **TABLE})
            api.call('PutItem', {'TableName': 'Music', 'Item': {**key('a', 1), 'secret': {'S': 'hush'}}})
            api.call('GetItem', {'TableName': 'Music', 'Key': key('a', 1)})
            api.call('BatchWriteItem', {'RequestItems': {'Music': [{'PutRequest': {'Item': key('b', n)}} for n in (1, 2)],
                                                         'Films': [{'DeleteRequest': {'Key': key('c', 3)}}]}})
            api.call('TransactGetItems', {'TransactItems': [{'Get': {'TableName': 'Music', 'Key': key('a', 1)}}]})
            api.call('Query', {'TableName': 'Music', 'KeyConditionExpression': 'pk = :p', 'ExpressionAttributeValues': {':p': {'S': 'a'}}})
            api.call('ExecuteStatement', {'Statement': 'SELECT * FROM Music WHERE pk IN [\'a\', \'b\']'})
            api.call('ExecuteStatement', {'Statement': 'DELETE FROM Music WHERE pk = \'a\' AND sk = 1'})
            api.call('Scan', {'TableName': 'Music'})
            with self.assertRaises(ApiError):
                api.call('GetItem', {'TableName': 'Nothing', 'Key': key('a', 1)})
        lines = self.lines()
        self.assertEqual([line['operation'] for line in lines], [
            'CreateTable', 'CreateTable', 'PutItem', 'GetItem', 'BatchWriteItem', 'TransactGetItems', 'Query', 'ExecuteStatement',
            'ExecuteStatement', 'Scan', 'GetItem'])
        put, get, batch, transact, query, select, delete, scan, wrong = lines[2:]
        self.assertEqual(put['keys'], [{'key': key('a', 1)}])
        self.assertEqual((put['table'], put['access_key'], put['address'], put['decision'], put['status']),
                         ('Music', 'test', '127.0.0.1', 'not checked', 200))
        self.assertRegex(put['time'], r'^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
        self.assertEqual(len(put['request_id']), 52)
        self.assertGreater(put['latency_ms'], 0)
        self.assertEqual(get['keys'], put['keys'])
        told = {(one.get('table', batch['table']), json.dumps(one['key'], sort_keys=True)) for one in batch['keys']}
        self.assertEqual(told, {(t, json.dumps(k, sort_keys=True)) for t, k in
                                (('Music', key('b', 1)), ('Music', key('b', 2)), ('Films', key('c', 3)))})
        self.assertEqual(transact['keys'], put['keys'])
        self.assertEqual(query['keys'], [{'key': {'pk': {'S': 'a'}}}])
        self.assertEqual(sorted(one['key']['pk']['S'] for one in select['keys']), ['a', 'b'])
        self.assertEqual(delete['keys'], put['keys'])
        self.assertNotIn('keys', scan)
        self.assertEqual((wrong['status'], wrong['error']), (400, 'ResourceNotFoundException'))
        self.assertNotIn('hush', json.dumps(lines))
        self.assert_whole()

    def test_many_keys_are_counted(self):
        with self.server('--audit-keys', 'plain') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            api.call('BatchGetItem', {'RequestItems': {'Music': {'Keys': [key('k' * 1000, n) for n in range(100)]}}})
        line = self.lines()[-1]
        self.assertEqual(line['keys_total'], 100)
        self.assertLess(len(line['keys']), 100)
        self.assert_whole()

    def test_hashed_keys_can_be_found(self):
        with self.server() as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            for sk in ('1', '1.0', '2'):
                api.call('GetItem', {'TableName': 'Music', 'Key': {'pk': {'S': 'alice'}, 'sk': {'N': sk}}})
            api.call('GetItem', {'TableName': 'Music', 'Key': key('bob', 7)})
        first, same, other, bob = (line['keys'][0]['key'] for line in self.lines()[1:])
        self.assertEqual(first, same)
        self.assertEqual(first['pk'], other['pk'])
        self.assertNotEqual(first['sk'], other['sk'])
        self.assertRegex(first['pk'], '^hmac:[0-9a-f]{32}$')
        self.assertNotEqual(first['pk'], bob['pk'])
        self.assertEqual(len(self.lines('--item', 'alice')), 3)
        self.assertEqual(len(self.lines('--item', 'N:7.0')), 1)
        self.assertEqual(len(self.lines('--item', 'carol')), 0)
        with open(self.log) as file:
            self.assertNotIn('alice', file.read())

    def test_no_keys(self):
        with self.server('--audit-keys', 'none') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            api.call('PutItem', {'TableName': 'Music', 'Item': key('a', 1)})
        self.assertNotIn('keys', self.lines()[-1])

    def test_other_paths(self):
        model = os.path.join(self.root, 'shop.dolmen')
        with open(model, 'w') as file:
            file.write('table Shop {\n  key pk, sk\n  guard enforce\n}\n\nentity User {\n  pk = "USER#{id}"  sk = "USER"\n'
                       '  id    string\n  name  string\n}\n\naccess user(id) = User\n')
        objects = os.path.join(self.root, 'objects')
        with self.server('--audit-keys', 'plain', '--admin', '--objects', objects, '--model', model) as server:
            endpoint = server.endpoint
            port = urlsplit(endpoint).port
            identifier = raw(endpoint, 'GET', '/metrics')[2]
            raw(endpoint, 'GET', '/admin/ttl')
            raw(endpoint, 'GET', '/health')
            raw(endpoint, 'GET', '/')
            raw(endpoint, 'PUT', '/v1/Nothing')
            raw(endpoint, 'GET', '/v1/Shop')
            raw(endpoint, 'POST', '/v1/Shop/User', json.dumps({'id': '7', 'name': 'Ann'}), {'Content-Type': 'application/json'})
            raw(endpoint, 'GET', '/v1/Shop/User?id=7')
            raw(endpoint, 'GET', '/v1/Shop/user?id=7')
            raw(endpoint, 'GET', '/some-bucket/some-key', headers={
                'Authorization': AUTHORIZATION.replace('/dynamodb/', '/s3/'), 'X-Amz-Date': '20260101T000000Z'})
            raw(endpoint, 'GET', '/metrics', headers={'Host': f'elsewhere.example:{port}'})
            raw(endpoint, 'POST', '/', '{}', {'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'Content-Type': 'application/x-amz-json-1.0'})
            raw(endpoint, 'POST', '/', 'Action=ListMetrics&Version=2010-08-01', {
                'Content-Type': 'application/x-www-form-urlencoded', 'Authorization': AUTHORIZATION.replace('/dynamodb/', '/monitoring/'),
                'X-Amz-Date': '20260101T000000Z'})
        lines = self.lines()
        by_name = {line['operation']: line for line in lines}
        self.assertEqual(by_name['GET /metrics']['status'], 403)  # the last of them
        self.assertIn(identifier, [line.get('request_id') for line in lines])
        self.assertEqual(by_name['GET /admin/ttl']['status'], 200)
        self.assertEqual(by_name['PUT /v1/']['status'], 405)
        self.assertNotIn('GET /health', by_name)
        self.assertNotIn('GET /', by_name)
        self.assertIn('POST /', by_name)
        self.assertEqual(by_name['ListTables']['error'], 'MissingAuthenticationTokenException')
        self.assertEqual(by_name['ListTables']['decision'], 'unauthenticated')
        denied = by_name['GET /metrics']
        self.assertEqual(denied['decision'], 'denied')
        self.assertIn('--allowed-host', denied['reason'])
        thing = next(line for line in lines if line.get('resource') == '/some-bucket/some-key')
        self.assertEqual((thing['status'], thing['decision'], thing['access_key']), (403, 'unauthenticated', 'test'))
        self.assertIn('GET /v1/Shop', by_name)
        ann = [{'key': {'pk': {'S': 'USER#7'}, 'sk': {'S': 'USER'}}}]
        self.assertEqual(by_name['POST /v1/Shop/User']['keys'], ann)
        self.assertEqual(by_name['GET /v1/Shop/User']['keys'], ann)
        self.assertEqual(by_name['GET /v1/Shop/user']['keys'], [{'key': {'pk': {'S': 'USER#7'}}}])
        self.assert_whole()

    def test_scopes(self):
        for scope, expected in (('writes', ['CreateTable', 'PutItem', 'ListTables']), ('denied', ['ListTables'])):
            self.log = os.path.join(self.root, scope)
            with Server(os.path.join(self.root, f'data-{scope}'), '--audit-log', self.log, '--audit', scope) as server:
                api = Api(server.endpoint)
                api.call('CreateTable', {'TableName': 'Music', **TABLE})
                api.call('PutItem', {'TableName': 'Music', 'Item': key('a', 1)})
                api.call('GetItem', {'TableName': 'Music', 'Key': key('a', 1)})
                raw(server.endpoint, 'POST', '/', '{}', {'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'Content-Type': 'application/x-amz-json-1.0'})
            self.assertEqual([line['operation'] for line in self.lines()], expected)

    def test_show_filters(self):
        with self.server() as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            api.call('CreateTable', {'TableName': 'Films', **TABLE})
            for n in range(5):
                api.call('PutItem', {'TableName': 'Music', 'Item': key('a', n)})
            raw(server.endpoint, 'POST', '/', '{}', {'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'Content-Type': 'application/x-amz-json-1.0'})
        self.assertEqual(len(self.lines('--table', 'Films')), 1)
        self.assertEqual(len(self.lines('--operation', 'PutItem')), 5)
        self.assertEqual(len(self.lines('--operation', 'PutItem', '--last', '2')), 2)
        self.assertEqual(len(self.lines('--who', 'test')), 7)
        self.assertEqual(len(self.lines('--who', 'nobody')), 0)
        self.assertEqual([line['operation'] for line in self.lines('--decision', 'refused')], ['ListTables'])
        self.assertEqual(len(self.lines('--since', '1h')), 8)
        self.assertEqual(len(self.lines('--until', '2020')), 0)
        self.assertEqual(len(self.lines('--address', '127.')), 8)
        shown = audit('show', self.log, '--operation', 'PutItem', '--last', '1').stdout
        self.assertRegex(shown, r'^20\S+Z  not checked  PutItem Music \[.*\]  by test from 127\.0\.0\.1  200\n$')
        for wrong in (('--decision', 'maybe'), ('--since', 'yesterday'), ('--item', 'N:x'), ('--last', '0')):
            self.assertEqual(audit('show', self.log, *wrong).returncode, 2, wrong)
        self.assertEqual(audit('look', self.log).returncode, 2)
        self.assertEqual(audit('verify').returncode, 2)
        self.assertEqual(audit('verify', self.log + '.none').returncode, 1)


class Chain(Base):
    def write(self, api, first, count):
        for n in range(first, first + count):
            api.call('PutItem', {'TableName': 'Music', 'Item': key('a', n)})

    def test_kill_and_go_on(self):
        seen = 0
        for round_ in range(4):
            server = self.server('--audit-keys', 'plain')
            api = Api(server.endpoint)
            if round_ == 0:
                api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.write(api, round_ * 10, 10)
            written = until('lines on disk', lambda: self.count() > seen and self.count())
            server.kill()
            seen = written
        with self.server('--audit-keys', 'plain') as server:
            self.write(Api(server.endpoint), 100, 1)
        result = self.assert_whole()
        self.assertEqual(result['first'], 1)
        self.assertEqual(self.lines()[-1]['keys'], [{'key': key('a', 100)}])

    def count(self):
        with open(self.log) as file:
            return sum('"operation"' in line for line in file)

    def test_a_torn_line_is_closed(self):
        server = self.server()
        api = Api(server.endpoint)
        api.call('CreateTable', {'TableName': 'Music', **TABLE})
        self.write(api, 0, 3)
        until('lines on disk', lambda: self.count() == 4)
        server.kill()
        with open(self.log, 'a') as file:
            file.write('{"seq":9,"time":"20')
        before = audit('verify', self.log)
        self.assertEqual(before.returncode, 1)
        self.assertIn('torn', before.stdout)
        with self.server() as server:
            self.write(Api(server.endpoint), 3, 1)
        self.assertEqual(self.assert_whole()['torn'], 1)

    def test_rotation_under_load(self):
        with self.server('--audit-rotate', '64K', '--audit-keep', '4') as server:
            Api(server.endpoint).call('CreateTable', {'TableName': 'Music', **TABLE})

            def load(seed):
                api = Api(server.endpoint)
                for n in range(600):
                    api.call('PutItem', {'TableName': 'Music', 'Item': key(f'p{seed}', n)})

            threads = [threading.Thread(target=load, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(metric(server.endpoint, 'audit_lost_total'), 0)
        result = self.assert_whole()
        files = sorted(name for name in os.listdir(self.root) if name.startswith('audit.log.') and name[10:].isdigit())
        self.assertEqual(len(files), 4)
        self.assertGreater(result['first'], 1)
        self.assertGreater(result['last'], 2400)
        for name in os.listdir(self.root):
            if name.startswith('audit.log'):
                self.assertEqual(os.stat(os.path.join(self.root, name)).st_mode & 0o777, 0o600, name)

    def tampered(self, change):
        """Whether it is noticed that the files, a dict of lists of lines, are changed so."""
        copy = tempfile.mkdtemp(dir=self.root)
        files = {}
        for name in os.listdir(self.root):
            if name.startswith('audit.log'):
                with open(os.path.join(self.root, name), 'rb') as file:
                    files[name] = file.read().splitlines(keepends=True)
        change(files)
        for name, lines in files.items():
            with open(os.open(os.path.join(copy, name), os.O_WRONLY | os.O_CREAT, 0o600), 'wb') as file:
                file.write(b''.join(lines))
        return audit('verify', os.path.join(copy, 'audit.log')).returncode == 1

    def test_tampering(self):
        with self.server('--audit-rotate', '64K') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.write(api, 0, 450)
        self.assertGreater(self.assert_whole()['files'], 1)
        self.assertFalse(self.tampered(lambda files: None))
        seed = int(os.environ.get('AUDIT_SEED', '0')) or random.randrange(1 << 30)
        chance = random.Random(seed)

        def pick(files):
            name = chance.choice([name for name in files if name == 'audit.log' or name[10:].isdigit()])
            return files[name], chance.randrange(len(files[name]))

        def flip(files):
            lines, at = pick(files)
            line = bytearray(lines[at])
            line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
            lines[at] = bytes(line)

        def delete(files):
            lines, at = pick(files)
            del lines[at:at + chance.randrange(1, 4)]

        def swap(files):
            lines, at = pick(files)
            other = chance.choice([n for n in range(len(lines)) if n != at])
            lines[at], lines[other] = lines[other], lines[at]

        def double(files):
            lines, at = pick(files)
            lines.insert(chance.randrange(len(lines)), lines[at])

        def cut(files):
            lines, at = pick(files)
            del lines[at:]

        def drop(files):
            del files[chance.choice([name for name in files if name != 'audit.log.key'])]

        def rename(files):
            names = [name for name in files if name == 'audit.log' or name[10:].isdigit()]
            one, other = chance.sample(names, 2)
            files[one], files[other] = files[other], files[one]

        for change in (flip, delete, swap, double, cut, drop, rename):
            for n in range(12):
                self.assertTrue(self.tampered(change), f'{change.__name__}, AUDIT_SEED={seed}')

    def test_parts_streams_and_notes(self):
        with self.server('--audit-rotate', '64K') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.write(api, 0, 300)
        note = self.assert_whole()
        files = [f'{self.log}.{n}' for n in range(1, note['files'])] + [self.log]
        self.assertGreater(len(files), 1)
        self.assertEqual(audit('verify', *files, '--key', f'file:{self.log}.key').returncode, 0)
        self.assertEqual(audit('verify', *reversed(files)).returncode, 1)
        self.assertEqual(audit('verify', self.log, '--expect', f'{note["last"]}:{note["chain"]}').returncode, 0)
        self.assertEqual(audit('verify', self.log, '--expect', f'{note["last"] - 1}:{note["chain"]}').returncode, 1)
        self.assertEqual(audit('verify', self.log, '--expect', 'x').returncode, 2)
        other = os.path.join(self.root, 'other.key')
        with open(os.open(other, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
            file.write('ab' * 32)
        wrong = audit('verify', self.log, '--key', f'file:{other}')
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('another key', wrong.stdout)
        with open(self.log + '.1') as file:
            text = ''.join('Jan  1 00:00:00 host dolmen-audit[1]: ' + line for line in file)
        self.assertEqual(audit('verify', '-', input=text).returncode, 0)
        self.assertEqual(audit('verify', '-', input=text.replace('PutItem', 'GetItem', 1)).returncode, 1)
        os.unlink(self.log + '.key')
        without = audit('verify', self.log)
        self.assertEqual(without.returncode, 0)
        self.assertIn('Without the key', without.stdout)


class Secured(Base):
    """A server that asks who asks."""

    def setUp(self):
        super().setUp()
        made = subprocess.run([BINARY, 'init', '--secure', os.path.join(self.root, 'db'), '--json'], capture_output=True, text=True, check=True)
        document = json.loads(made.stdout)
        text = json.dumps(document)
        self.admin = [document[name] for name in document if 'ccess' in name and 'ecret' not in name][0], \
            [document[name] for name in document if 'ecret' in name][0]
        self.assertIn(self.admin[0], text)

    def secured(self, *options):
        return Server(os.path.join(self.root, 'db', 'data'), '--auth', 'enforce', '--master-key',
                      'file:' + os.path.join(self.root, 'db', 'secrets', 'master.key'), '--audit-log', self.log, *options)

    def ask(self, endpoint, operation='ListTables', request=None, key_id=None, secret=None):
        body = json.dumps(request or {})
        status, text, _ = raw(endpoint, 'POST', '/', body, sign(endpoint, key_id or self.admin[0], secret or self.admin[1], operation, body))
        document = json.loads(text)
        return status, document.get('__type', '').split('#')[-1], document.get('message', document.get('Message', ''))

    def test_who_and_why(self):
        with self.secured() as server:
            self.assertEqual(self.ask(server.endpoint)[0], 200)
            self.assertEqual(self.ask(server.endpoint, secret='wrong' * 8)[1], 'InvalidSignatureException')
            self.assertEqual(self.ask(server.endpoint, key_id='AKIANOBODY0000000000')[1], 'UnrecognizedClientException')
            self.assertEqual(raw(server.endpoint, 'GET', '/metrics')[0], 403)
        verified = audit('verify', self.log, '--key', 'file:' + os.path.join(self.root, 'db', 'secrets', 'master.key'))
        self.assertEqual(verified.returncode, 0, verified.stdout)
        good, wrong, nobody, page = self.lines()
        self.assertEqual((good['decision'], good['access_key']), ('allowed', self.admin[0]))
        self.assertRegex(good['principal'], '^arn:aws:iam::.*admin$')
        self.assertEqual((wrong['decision'], wrong['error']), ('unauthenticated', 'InvalidSignatureException'))
        self.assertIn('signature', wrong['reason'])
        self.assertEqual((nobody['decision'], nobody['access_key']), ('unauthenticated', 'AKIANOBODY0000000000'))
        self.assertEqual((page['operation'], page['decision'], page['status']), ('GET /metrics', 'unauthenticated', 403))

    def test_guessing_is_refused(self):
        with self.secured() as server:
            wrong = {'secret': 'wrong' * 8}
            self.assertEqual([self.ask(server.endpoint, **wrong)[1] for _ in range(11)], ['InvalidSignatureException'] * 11)
            status, name, message = self.ask(server.endpoint, **wrong)
            self.assertEqual((status, name), (400, 'ThrottlingException'))
            self.assertIn('Try again in', message)
            # The right secret is not looked at, either; another key is.
            self.assertEqual(self.ask(server.endpoint)[1], 'ThrottlingException')
            self.assertEqual(self.ask(server.endpoint, key_id='AKIANOBODY0000000000')[1], 'UnrecognizedClientException')
            until('the end of a second', lambda: self.ask(server.endpoint)[0] == 200)
        self.assertTrue(self.lines('--decision', 'throttled'))

    def test_no_lockout(self):
        with self.secured('--lockout', 'off') as server:
            for _ in range(20):
                self.assertEqual(self.ask(server.endpoint, secret='wrong' * 8)[1], 'InvalidSignatureException')
            self.assertEqual(self.ask(server.endpoint)[0], 200)

    def test_rate(self):
        with self.secured('--rate-limit', '20/m') as server:
            answers = [self.ask(server.endpoint) for _ in range(22)]
            self.assertEqual([answer[0] for answer in answers[:20]], [200] * 20)
            self.assertEqual(answers[21], (400, 'ThrottlingException', 'Rate of requests exceeds the allowed throughput.'))
        self.assertEqual({line['decision'] for line in self.lines('--who', 'admin')}, {'allowed', 'throttled'})


class Rates(Base):
    def test_without_security(self):
        with self.server('--rate-limit', '10/m') as server:
            api = Api(server.endpoint)
            for _ in range(10):
                api.call('ListTables', {})
            with self.assertRaises(ApiError) as refused:
                for _ in range(10):
                    api.call('ListTables', {})
            self.assertEqual(refused.exception.name, 'ThrottlingException')
            for _ in range(12):  # nobody's key: the address
                status, text, _ = raw(server.endpoint, 'GET', '/v1')
            self.assertEqual(status, 429, text)

    def test_what_is_no_rate(self):
        for wrong in (('--rate-limit', '10'), ('--rate-limit', '0/s'), ('--lockout', 'maybe')):
            result = subprocess.run([BINARY, 'serve', '--memory', *wrong], capture_output=True, timeout=PATIENCE)
            self.assertEqual(result.returncode, 2, wrong)


class Targets(Base):
    def listen(self):
        path = os.path.join(self.root, 'socket')
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(path)
        listener.settimeout(PATIENCE)
        self.addCleanup(listener.close)
        return path, listener

    def receive(self, listener, last):
        messages = []
        while not messages or last not in messages[-1]:
            messages.append(listener.recv(1 << 20).decode())
        return messages

    def drain(self, listener):
        try:
            while listener.recv(1 << 20):
                pass
        except OSError:
            pass

    def test_syslog(self):
        path, listener = self.listen()
        with self.server(log=f'syslog:{path}') as server:
            Api(server.endpoint).call('ListTables', {})
            messages = self.receive(listener, '"seal"')
            if not any('ListTables' in message for message in messages):
                messages += self.receive(listener, 'ListTables')
        for message in messages:
            self.assertRegex(message, r'^<86>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d dolmen-audit\[\d+\]: \{"seq":\d+,.*\}$')
        result = audit('verify', '-', input=''.join(message + '\n' for message in messages))
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_journald(self):
        path, listener = self.listen()
        with self.server(log=f'journald:{path}') as server:
            Api(server.endpoint).call('ListTables', {})
            messages = self.receive(listener, 'ListTables')
        texts = []
        for message in messages:
            fields = dict(line.split('=', 1) for line in message.splitlines())
            self.assertEqual((fields['SYSLOG_IDENTIFIER'], fields['PRIORITY']), ('dolmen-audit', '6'))
            texts.append(fields['MESSAGE'])
        self.assertEqual(json.loads(texts[-1])['operation'], 'ListTables')
        self.assertEqual(audit('verify', '-', input='\n'.join(texts) + '\n').returncode, 0)

    def test_a_listener_that_is_started_anew(self):
        path, listener = self.listen()
        with self.server(log=f'syslog:{path}') as server:
            api = Api(server.endpoint)
            api.call('ListTables', {})
            self.receive(listener, 'ListTables')
            listener.close()
            os.unlink(path)
            api.call('DescribeLimits', {})
            until('a failure', lambda: metric(server.endpoint, 'audit_writable') == 0)
            path, listener = self.listen()
            self.receive(listener, 'DescribeLimits')
            # A socket holds a few lines, and asking for metrics makes one: somebody has to take them.
            threading.Thread(target=self.drain, args=(listener,), daemon=True).start()
            until('writing', lambda: metric(server.endpoint, 'audit_writable') == 1)

    def test_standard_output(self):
        process = subprocess.Popen([BINARY, 'serve', '--memory', '--port', '0', '--audit-log', '-'], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            lines = []
            while not lines or 'listening on' not in lines[-1]:
                lines.append(process.stdout.readline())
            Api(lines.pop().split('listening on ')[1].strip()).call('ListTables', {})
        finally:
            process.terminate()
        lines += process.communicate(timeout=PATIENCE)[0].splitlines(keepends=True)
        self.assertEqual(sum('ListTables' in line for line in lines), 1)
        self.assertEqual(audit('verify', '-', input=''.join(lines)).returncode, 0)

    def test_what_is_refused(self):
        def start(*options):
            return subprocess.run([BINARY, 'serve', '--memory', '--port', '0', *options], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(start('--audit', 'all').returncode, 2)
        self.assertEqual(start('--audit-log', self.log, '--audit', 'some').returncode, 2)
        self.assertEqual(start('--audit-log', self.log, '--audit-rotate', '1K').returncode, 2)
        self.assertEqual(start('--audit-log', self.log, '--audit-rotate', '5 apples').returncode, 2)
        with open(self.log, 'w') as file:
            file.write('a diary\n')
        result = start('--audit-log', self.log)
        self.assertEqual(result.returncode, 1)
        self.assertIn('is not an audit log', result.stderr)
        result = start('--audit-log', 'syslogd')
        self.assertIn('./syslogd', result.stderr)
        result = start('--audit-log', f'journald:{self.root}/nobody')
        self.assertIn('cannot be reached', result.stderr)
        os.chmod(self.log + '.key', 0o644)
        os.unlink(self.log)
        self.assertIn('only its owner', start('--audit-log', self.log).stderr)


@unittest.skipUnless('AUDIT_SMALL_DISK' in os.environ, 'mounting a file system is not permitted here')
class FullDisk(Base):
    def setUp(self):
        super().setUp()
        self.disk = os.environ['AUDIT_SMALL_DISK']
        self.log = os.path.join(self.disk, 'audit.log')
        self.ballast = os.path.join(self.disk, 'ballast')
        self.addCleanup(lambda: [os.unlink(os.path.join(self.disk, name)) for name in os.listdir(self.disk)])

    def fill(self):
        with open(self.ballast, 'wb', buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1000))
            except OSError:
                pass
        self.addCleanup(lambda: None)

    def make_room(self):
        os.unlink(self.ballast)

    def test_nothing_waits_and_nothing_is_lost(self):
        with self.server('--audit-keys', 'plain') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.fill()
            n = 0
            while metric(server.endpoint, 'audit_writable') == 1:
                api.call('PutItem', {'TableName': 'Music', 'Item': key('a', n)})
                n += 1
            for _ in range(200):
                api.call('PutItem', {'TableName': 'Music', 'Item': key('a', n)})
                n += 1
            self.make_room()
            until('writing', lambda: metric(server.endpoint, 'audit_writable') == 1)
            self.assertEqual(metric(server.endpoint, 'audit_lost_total'), 0)
        self.assert_whole()
        puts = [line['keys'][0]['key']['sk']['N'] for line in self.lines('--operation', 'PutItem')]
        self.assertEqual(sorted(set(puts), key=int), [str(i) for i in range(n)])

    def test_lost_lines_are_told(self):
        with self.server('--audit-keys', 'plain', '--threads', '1') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.fill()
            while metric(server.endpoint, 'audit_lost_total') < 5:
                for _ in range(10):
                    api.call('BatchGetItem', {'RequestItems': {'Music': {'Keys': [key('k' * 2000, n) for n in range(100)]}}})
            self.make_room()
            until('writing', lambda: metric(server.endpoint, 'audit_writable') == 1)
            lost = until('the line', lambda: self.told_lost())
            self.assertEqual(lost, metric(server.endpoint, 'audit_lost_total'))
        self.assertEqual(self.assert_whole()['lost'], lost)

    def told_lost(self):
        with open(self.log) as file:
            return sum(json.loads(line)['lines'] for line in file if '"event":"lost"' in line)

    def test_strict(self):
        with self.server('--audit-strict') as server:
            api = Api(server.endpoint)
            api.call('CreateTable', {'TableName': 'Music', **TABLE})
            self.fill()
            done = 0
            with self.assertRaises(ApiError) as refused:
                while True:
                    api.call('PutItem', {'TableName': 'Music', 'Item': key('a', done)})
                    done += 1
            self.assertEqual(refused.exception.status, 503)
            self.assertIn('audit log', refused.exception.message)
            self.assertEqual(raw(server.endpoint, 'GET', '/health')[0], 200)
            self.make_room()

            def again():
                try:
                    return api.call('PutItem', {'TableName': 'Music', 'Item': key('a', done)}) == {}
                except ApiError:
                    return False
            until('serving', again)
            self.assertGreater(metric(server.endpoint, 'audit_refused_total'), 0)
            self.assertEqual(metric(server.endpoint, 'audit_lost_total'), 0)
        self.assert_whole()
        self.assertEqual(len(self.lines('--operation', 'PutItem')), done + 1)


if __name__ == '__main__':
    loader = unittest.defaultTestLoader
    module = sys.modules['__main__']
    suite = loader.loadTestsFromNames(sys.argv[1:], module) if len(sys.argv) > 1 else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f'{max(result.testsRun - failed, 0)} passed, {failed} failed')
    sys.exit(1 if failed else 0)
