"""A data directory that is replaced under a running server: both directories keep all that they had, whenever the server
notices, and however it ends.

Run it with tests/api/ops/run. DOLMEN_BIN names the binary (default build/dolmen).
"""

import base64
import http.client
import json
import os
import random
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
from dolmen import Api, ApiError, Server  # noqa: E402

BUFFERS = ('--write-buffer', '6M')
BULK = 24


def create(api):
    api.call('CreateTable', {'TableName': 'stone', 'BillingMode': 'PAY_PER_REQUEST',
                             'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                             'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})


def put(api, key, value='x'):
    api.call('PutItem', {'TableName': 'stone', 'Item': {'k': {'S': key}, 'v': {'S': value}}})


def keys(directory):
    with Server(directory, *BUFFERS) as server:
        found = {item['k']['S'] for item in Api(server.endpoint).pages('Scan', {'TableName': 'stone', 'ProjectionExpression': 'k'})}
    return found


def health(endpoint):
    connection = http.client.HTTPConnection(endpoint.split('//')[1], timeout=30)
    connection.request('GET', '/health')
    document = json.loads(connection.getresponse().read())
    connection.close()
    return document


class Replaced(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.live, self.copy, self.bad = (os.path.join(place.name, name) for name in ('live', 'copy', 'bad'))
        noise = random.Random(1)
        self.old = set()
        with Server(self.live, *BUFFERS) as server:
            api = Api(server.endpoint)
            create(api)
            for number in range(BULK * 4):
                put(api, f'old{number}', base64.b64encode(noise.randbytes(200000)).decode())
                self.old.add(f'old{number}')
        shutil.copytree(self.live, self.copy)

    def write(self, server):
        api = Api(server.endpoint)
        new = {f'new{number}' for number in range(200)}
        for key in sorted(new):
            put(api, key)
        return api, new

    def expect_gone(self, server, api):
        while health(server.endpoint)['writes']['accepted']:
            pass
        self.assertIn('removed or replaced', health(server.endpoint)['writes']['reason'])
        with self.assertRaises(ApiError) as caught:
            put(api, 'refused')
        self.assertEqual(caught.exception.status, 500)

    def replace(self, wait):
        with Server(self.live, *BUFFERS) as server:
            api, new = self.write(server)
            os.rename(self.live, self.bad)
            shutil.copytree(self.copy, self.live)
            if wait:
                self.expect_gone(server, api)
        self.assertEqual(keys(self.live), self.old)
        self.assertEqual(keys(self.bad), self.old | new)

    def test_noticed(self):
        self.replace(True)

    def test_stopped_at_once(self):
        self.replace(False)

    def test_written_on(self):
        """What RocksDB writes and removes by itself, before it is noticed and after."""
        with Server(self.live, *BUFFERS) as server:
            api, new = self.write(server)
            os.rename(self.live, self.bad)
            shutil.copytree(self.copy, self.live)
            noise = random.Random(2)
            try:
                for number in range(BULK * 2):
                    key = f'more{number}'
                    put(api, key, base64.b64encode(noise.randbytes(200000)).decode())
                    new.add(key)
            except ApiError as error:
                self.assertIn('removed or replaced', error.message)
        self.assertEqual(keys(self.live), self.old)
        self.assertEqual(keys(self.bad), self.old | new)

    def replace_part(self, part):
        """One of the directories inside: the other one stays as it is, so that both can be put together again."""
        with Server(self.live, *BUFFERS) as server:
            api, new = self.write(server)
            os.rename(f'{self.live}/{part}', f'{self.live}/{part}.bad')
            shutil.copytree(f'{self.copy}/{part}', f'{self.live}/{part}')
            self.expect_gone(server, api)
        shutil.rmtree(f'{self.live}/{part}')
        os.rename(f'{self.live}/{part}.bad', f'{self.live}/{part}')
        self.assertEqual(keys(self.live), self.old | new)

    def test_tables_replaced(self):
        self.replace_part('db')

    def test_log_replaced(self):
        self.replace_part('log')

    def test_log_moved(self):
        with Server(self.live, *BUFFERS) as server:
            api, new = self.write(server)
            os.rename(f'{self.live}/log', f'{self.live}/log2')
            self.expect_gone(server, api)
            os.rename(f'{self.live}/log2', f'{self.live}/log')
            while not health(server.endpoint)['writes']['accepted']:
                pass
            put(api, 'back')
        self.assertEqual(keys(self.live), self.old | new | {'back'})


if __name__ == '__main__':
    unittest.main()
