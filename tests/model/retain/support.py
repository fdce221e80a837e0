"""What the tests of sweeps share: a server, the clock, the archives as items."""
import gzip
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from urllib.parse import urlsplit

from dolmen import ROOT, Api, ApiError, Server  # noqa: F401

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
DAY = 86400


def typed(value):
    if value is None:
        return {'NULL': True}
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, (int, float)):
        return {'N': str(value)}
    return {'S': value}


def item(kind, **attributes):
    return {'kind': {'S': kind}, **{name: typed(value) for name, value in attributes.items()}}


def stamp(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(seconds))


def key_of(stored):
    return stored['PK']['S'], stored['SK']['S']


class Case(unittest.TestCase):
    """A directory for each test, servers in it, files with models."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix='dolmen-retain-')
        self.data = os.path.join(self.directory, 'data')
        self.archive = os.path.join(self.data, 'buckets', 'archives')
        self.server = None
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.addCleanup(self.end)

    def end(self):
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()

    def serve(self, *options):
        self.server = Server(self.data, '--admin', *options)
        self.api = Api(self.server.endpoint)
        return self.api

    def file(self, text, name='jobs.dolmen'):
        path = os.path.join(self.directory, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def cli(self, *arguments, **options):
        return subprocess.run([BINARY, *arguments, '--endpoint', self.server.endpoint], capture_output=True, text=True,
                              timeout=60, check=False, **options)

    def apply(self, text, *options):
        done = self.cli('apply', self.file(text), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def sweep(self, table='jobs', code=0):
        done = self.cli('sweep', table, '--json')
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return {one['RuleName']: one for one in json.loads(done.stdout).get('Sweeps', [])}

    def load(self, items, table='jobs'):
        items = list(items)
        for at in range(0, len(items), 25):
            self.api.call('BatchWriteItem', {'RequestItems': {
                table: [{'PutRequest': {'Item': one}} for one in items[at:at + 25]]}})

    def scan(self, table='jobs'):
        return {key_of(one): one for one in self.api.pages('Scan', {'TableName': table})}

    def admin(self, path, body=None):
        parts = urlsplit(self.server.endpoint)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.request('GET' if body is None else 'POST', path, None if body is None else json.dumps(body))
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def advance(self, seconds):
        self.admin('/admin/clock', {'advance_seconds': seconds})

    def metric(self, name):
        for line in self.admin('/metrics').splitlines():
            if line.startswith(f'dolmen_retain_{name} '):
                return int(line.split()[1])
        raise AssertionError(name)

    def archives(self, root=None):
        """All archived items, by key: a list of images each. Every archive is whole."""
        found = {}
        for directory, _, files in os.walk(root or self.archive):
            if '/.part-' in directory:
                continue
            if 'manifest-summary.json' not in files:
                self.assertFalse(any(name.endswith('.gz') for name in files) and
                                 not os.path.exists(os.path.join(directory, '..', 'manifest-summary.json')), directory)
                continue
            with open(os.path.join(directory, 'manifest-summary.json'), encoding='utf-8') as file:
                count = json.load(file)['itemCount']
            for name in os.listdir(os.path.join(directory, 'data')):
                with gzip.open(os.path.join(directory, 'data', name), 'rt', encoding='utf-8') as lines:
                    for line in lines:
                        one = json.loads(line)['Item']
                        found.setdefault(key_of(one), []).append(one)
                        count -= 1
            self.assertEqual(count, 0, directory)
        return found

    def wait(self, condition, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.02)
        self.fail(f'{what} did not come')
