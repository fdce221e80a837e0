"""What the tests of changing models share: the command line, small models, loading items."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'lib'))
from dolmen import Api, ApiError, Server  # noqa: E402,F401

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
KEYS = [{'AttributeName': 'PK', 'KeyType': 'HASH'}, {'AttributeName': 'SK', 'KeyType': 'RANGE'}]


class Outcome:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def json(self):
        return json.loads(self.out)


def cli(*arguments, timeout=120):
    return Outcome(subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=timeout))


def typed(value):
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, (int, float)):
        return {'N': str(value)}
    if isinstance(value, dict):
        return {'M': {name: typed(member) for name, member in value.items()}}
    return {'S': value}


def item(**attributes):
    return {name: typed(value) for name, value in attributes.items()}


def plain(stored):
    return {name: next(iter(value.values())) for name, value in stored.items()}


class Case(unittest.TestCase):
    """A directory for each test; servers in it; files with models."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix='dolmen-change-')
        self.data = os.path.join(self.directory, 'data')
        self.server = None
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.addCleanup(self.end)

    def end(self):
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()

    def serve(self, *options):
        self.server = Server(self.data, *options)
        self.api = Api(self.server.endpoint)
        return self.api

    def file(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def cli(self, command, *arguments):
        return cli(command, *arguments, '--endpoint', self.server.endpoint)

    def create(self, table='shop'):
        self.api.call('CreateTable', {
            'TableName': table, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': KEYS,
            'AttributeDefinitions': [{'AttributeName': key['AttributeName'], 'AttributeType': 'S'} for key in KEYS]})

    def load(self, items, table='shop'):
        batch = []
        for one in [*items, None]:
            if one is not None:
                batch.append({'PutRequest': {'Item': one}})
            if batch and (one is None or len(batch) == 25):
                self.api.call('BatchWriteItem', {'RequestItems': {table: batch}})
                batch = []

    def scan(self, table='shop'):
        return [plain(one) for one in self.api.pages('Scan', {'TableName': table})]

    def describe(self, table='shop'):
        return self.api.call('DescribeModel', {'TableName': table})

    def settle(self, table='shop', seconds=60):
        """Waits for the end of a backfill."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.describe(table)
            if found['Status'] != 'APPLYING':
                return found
            time.sleep(0.05)
        self.fail(f'the backfill did not end: {found["Progress"]}')
