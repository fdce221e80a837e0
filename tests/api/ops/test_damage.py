"""A damaged block of a table: who reads there is told so, work that needs it fails with a reason and
is not begun again, and everything else goes on.

Run it with tests/api/ops/run. DOLMEN_BIN names the binary (default build/dolmen).
"""

import glob
import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
from dolmen import Api, ApiError, Server  # noqa: E402

ITEMS = 3000
BIN = os.environ.get('DOLMEN_BIN', 'build/dolmen')


def item(number):
    return {'k': {'S': f'{number:06}'}, 'v': {'S': 'stone ' * 60}}


def create(api, name):
    api.call('CreateTable', {'TableName': name, 'BillingMode': 'PAY_PER_REQUEST',
                             'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                             'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})


def load(api, name, count=ITEMS):
    for first in range(0, count, 25):
        puts = [{'PutRequest': {'Item': item(i)}} for i in range(first, min(first + 25, count))]
        api.call('BatchWriteItem', {'RequestItems': {name: puts}})


def health(endpoint):
    connection = http.client.HTTPConnection(endpoint.split('//')[1], timeout=30)
    connection.request('GET', '/health')
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def damage(directory):
    """Flips a byte in every tenth of the largest table's second third, which is items and nothing else."""
    path = max(glob.glob(directory + '/db/*.sst'), key=os.path.getsize)
    size = os.path.getsize(path)
    with open(path, 'r+b') as file:
        for place in range(size // 3, 2 * size // 3, size // 10):
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 64]))
    return os.path.basename(path)


class Damage(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.directory = place.name
        with Server(self.directory) as server:
            api = Api(server.endpoint)
            create(api, 'good')
            load(api, 'good', 100)
            create(api, 'stone')
            load(api, 'stone')
        self.file = damage(self.directory)

    def wait(self, api, arn):
        while True:
            found = api.call('DescribeBackup', {'BackupArn': arn})['BackupDescription']['BackupDetails']
            if found['BackupStatus'] != 'CREATING':
                return found

    def find_damage(self, api):
        for number in range(ITEMS):
            try:
                api.call('GetItem', {'TableName': 'stone', 'Key': {'k': {'S': f'{number:06}'}}})
            except ApiError as error:
                self.assertEqual((error.status, error.name), (500, 'InternalServerError'))
                self.assertIn('data on disk is damaged', error.message)
                # The file is named as the data directory has it, and not where that is.
                self.assertIn(f' db/{self.file} ', error.message)
                self.assertNotIn(self.directory, error.message)
                return number
        self.fail('nothing is damaged')

    def test_reads_and_health(self):
        with Server(self.directory) as server:
            api = Api(server.endpoint)
            self.assertEqual(health(server.endpoint)[1]['status'], 'ok')
            number = self.find_damage(api)
            status, document = health(server.endpoint)
            self.assertEqual((status, document['status'], document['writes']),
                             (503, 'damaged', {'accepted': True}))
            self.assertIn(f'{self.directory}/db/{self.file}', document['damage']['reason'])
            self.assertRegex(document['damage']['since'], '^20')
            self.assertEqual(document['damage']['met'], 1)
            # Found again, it is counted and not logged again; the rest goes on.
            for _ in range(5):
                with self.assertRaises(ApiError):
                    api.call('GetItem', {'TableName': 'stone', 'Key': {'k': {'S': f'{number:06}'}}})
            self.assertEqual(health(server.endpoint)[1]['damage']['met'], 6)
            self.assertEqual(server.error_text().count('damage on disk'), 1)
            api.call('PutItem', {'TableName': 'stone', 'Item': item(ITEMS + 1)})
            self.assertIn('Item', api.call('GetItem', {'TableName': 'good', 'Key': {'k': {'S': '000001'}}}))
            metrics = http.client.HTTPConnection(server.endpoint.split('//')[1], timeout=30)
            metrics.request('GET', '/metrics')
            self.assertIn('dolmen_store_damage_total 6\n', metrics.getresponse().read().decode())
            metrics.close()

    def test_work_fails_with_a_reason(self):
        os.makedirs(self.directory + '/buckets/in')
        with open(self.directory + '/buckets/in/items.json', 'w') as file:
            for number in range(ITEMS):
                file.write(json.dumps({'Item': item(number)}) + '\n')
        with Server(self.directory) as server:
            api = Api(server.endpoint)
            bulk = api.call('StartBulkPutItems', {
                'TableName': 'stone',
                'InputS3Configuration': {'S3Bucket': 'in', 'InputFormat': 'DYNAMODB_JSON'},
                'OutputS3Configuration': {'S3Bucket': 'out', 'OutputType': ['ERROR']},
            })['BulkOperationDescription']['BulkOperationArn']
            bad = api.call('CreateBackup', {'TableName': 'stone', 'BackupName': 'one'})['BackupDetails']['BackupArn']
            good = api.call('CreateBackup', {'TableName': 'good', 'BackupName': 'one'})['BackupDetails']['BackupArn']
            self.assertEqual(self.wait(api, good)['BackupStatus'], 'AVAILABLE')
            found = self.wait(api, bad)
            self.assertEqual(found['BackupStatus'], 'DELETED')
            self.assertIn(f' db/{self.file} ', found['FailureMessage'])
            while True:
                state = api.call('DescribeBulkOperation', {'BulkOperationArn': bulk})['BulkOperationDescription']
                if state['BulkOperationStatus'] != 'IN_PROGRESS':
                    break
            self.assertEqual(state['BulkOperationStatus'], 'FAILED')
            self.assertIn('data on disk is damaged', state['FailureMessage'])
            api.call('RestoreTableFromBackup', {'TargetTableName': 'again', 'BackupArn': good})
        # None of it is begun again.
        with Server(self.directory) as server:
            api = Api(server.endpoint)
            self.assertEqual(self.wait(api, bad)['BackupStatus'], 'DELETED')
            api.call('DeleteBackup', {'BackupArn': bad})
            # Nobody reads there any more. Merging tables does, whenever RocksDB thinks fit: it alone may have met it.
            status, document = health(server.endpoint)
            if document['status'] == 'damaged':
                self.assertEqual(status, 503)
                self.assertRegex(document['damage']['reason'], '^compacting failed: ')
            else:
                self.assertEqual((status, document['status']), (200, 'ok'))
                self.assertNotIn('damage', document)
            found = [line for line in server.error_text().splitlines() if 'damage' in line]
            self.assertEqual([line for line in found if 'compacting failed: ' not in line], [])

    def test_compaction_leaves_writes_alone(self):
        with Server(self.directory, '--write-buffer', '4M') as server:
            api = Api(server.endpoint)
            create(api, 'more')
            # Enough tables around the damaged one to have them merged with it.
            while health(server.endpoint)[1]['status'] == 'ok':
                load(api, 'good')
                load(api, 'more', 9000)
            self.assertIn('compacting failed', health(server.endpoint)[1]['damage']['reason'])
            load(api, 'more', 9000)
            document = health(server.endpoint)[1]
            self.assertEqual((document['status'], document['writes']), ('damaged', {'accepted': True}))
            api.call('PutItem', {'TableName': 'more', 'Item': item(1)})

    def test_export_does_not_wait(self):
        with Server(self.directory) as server:
            run = subprocess.run([BIN, 'export', 'stone', self.directory + '/out.json', '--endpoint', server.endpoint],
                                 capture_output=True, text=True, timeout=20)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn('data on disk is damaged', run.stderr)


class Unreadable(unittest.TestCase):
    """A disk that refuses to be read: health says so, and nothing else is held up by it."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.directory = place.name + '/data'
        self.mark = place.name + '/mark'
        layer = place.name + '/unreadable.so'
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'unreadable.c')
        subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-o', layer, source, '-ldl'], check=True)
        # The layer comes before a sanitizer's library, which is fine with it.
        asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        self.environment = {'LD_PRELOAD': layer, 'UNREADABLE': self.mark, 'ASAN_OPTIONS': asan}
        with Server(self.directory) as server:
            api = Api(server.endpoint)
            create(api, 'stone')
            load(api, 'stone', 300)

    def test_health(self):
        with Server(self.directory, environment=self.environment) as server:
            api = Api(server.endpoint)
            self.assertEqual(health(server.endpoint)[0], 200)
            open(self.mark, 'w').close()
            for _ in range(3):
                with self.assertRaises(ApiError) as caught:
                    api.call('Scan', {'TableName': 'stone'})
                self.assertEqual(caught.exception.status, 500)
            status, document = health(server.endpoint)
            self.assertEqual((status, document['status'], document['writes']), (503, 'degraded', {'accepted': True}))
            self.assertEqual(document['reads']['failed'], 3)
            self.assertIn('Input/output error', document['reads']['reason'])
            self.assertRegex(document['reads']['since'], '^20')
            self.assertEqual(server.error_text().count('reads fail'), 1)
            api.call('PutItem', {'TableName': 'stone', 'Item': {'k': {'S': 'new'}}})
            os.unlink(self.mark)
            self.assertEqual(api.call('Scan', {'TableName': 'stone'})['Count'], 301)


if __name__ == '__main__':
    unittest.main()
