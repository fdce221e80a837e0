"""What the tests of this directory share: a server for each class, items in and out, the clock."""
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from urllib.parse import urlsplit

from dolmen import AUTHORIZATION, ROOT, Api, ApiError, Server, verify_database  # noqa: F401

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))


def typed(value):
    if value is None:
        return {'NULL': True}
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, (int, float)):
        return {'N': str(value)}
    if isinstance(value, set):
        return {'SS': sorted(value)}
    return {'S': value}


def plain(value):
    (tag, inside), = value.items()
    if tag == 'N':
        return int(inside)
    if tag == 'SS':
        return set(inside)
    if tag == 'M':
        return {name: plain(one) for name, one in inside.items()}
    return None if tag == 'NULL' else inside


def item(kind, **attributes):
    return {'kind': {'S': kind}, **{name: typed(value) for name, value in attributes.items()}}


def key(partition, sort='x'):
    return {'PK': {'S': partition}, 'SK': {'S': sort}}


class Case(unittest.TestCase):
    """One server for the class, and its models."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix='dolmen-effects-')
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.start()
        cls.addClassCleanup(lambda: cls.server.process.poll() is None and cls.server.stop())

    @classmethod
    def start(cls):
        cls.server = Server(os.path.join(cls.directory, 'data'), '--admin')
        cls.api = Api(cls.server.endpoint)

    def apply(self, text, *tables, **options):
        self.api.call('ApplyModel', {'Model': text, 'FileName': 'test.dolmen', **options})
        for table in tables:
            self.settle(table)

    def settle(self, table, patience=60):
        self.until(lambda: self.api.call('DescribeModel', {'TableName': table})['Status'] == 'ACTIVE', f'the model of {table}', patience)

    def until(self, condition, what, patience=60):
        end = time.monotonic() + patience
        while not condition():
            self.assertLess(time.monotonic(), end, f'{what} did not come')
            time.sleep(0.02)

    def put(self, table, one, **options):
        return self.api.call('PutItem', {'TableName': table, 'Item': one, **options})

    def batch(self, table, *items):
        return self.api.call('BatchWriteItem', {'RequestItems': {table: [{'PutRequest': {'Item': one}} for one in items]}})

    def update(self, table, partition, text, sort='x', **values):
        return self.api.call('UpdateItem', {'TableName': table, 'Key': key(partition, sort), 'UpdateExpression': text,
                                            **({'ExpressionAttributeValues': {f':{n}': typed(v) for n, v in values.items()}} if values else {})})

    def delete(self, table, partition, sort='x'):
        return self.api.call('DeleteItem', {'TableName': table, 'Key': key(partition, sort)})

    def get(self, table, partition, sort='x'):
        found = self.api.call('GetItem', {'TableName': table, 'Key': key(partition, sort), 'ConsistentRead': True}).get('Item')
        return {name: plain(value) for name, value in found.items()} if found else None

    def scan(self, table, kind=None):
        items = self.api.pages('Scan', {'TableName': table, 'ConsistentRead': True})
        return [{name: plain(value) for name, value in one.items()} for one in items if kind is None or one['kind']['S'] == kind]

    def refused(self, call, *words):
        with self.assertRaises(ApiError) as caught:
            call()
        for word in words:
            self.assertIn(word, json.dumps(caught.exception.document, ensure_ascii=False))

    def headers(self, operation, request):
        self.api.connection.request('POST', '/', json.dumps(request), {
            'X-Amz-Target': 'DynamoDB_20120810.' + operation, 'Content-Type': 'application/x-amz-json-1.0',
            'X-Amz-Date': '20260101T000000Z', 'Authorization': AUTHORIZATION})
        response = self.api.connection.getresponse()
        body = response.read()
        self.assertEqual(response.status, 200, body)
        return dict(response.getheaders())

    def admin(self, path, body=None):
        parts = urlsplit(self.server.endpoint)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.request('GET' if body is None else 'POST', path, None if body is None else json.dumps(body))
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def cli(self, *arguments, code=0):
        done = subprocess.run([BINARY, *arguments, '--endpoint', self.server.endpoint], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout + done.stderr
