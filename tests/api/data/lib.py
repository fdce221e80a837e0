"""One server for all tests of the data API, with the models of this directory; and a small client."""
import atexit
import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest
import uuid
from decimal import Decimal
from urllib.parse import quote, urlencode, urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'lib'))
from dolmen import ROOT, Api, Server  # noqa: E402

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
_started = {}


def cli(*arguments, code=0):
    """Runs the command line tool; its standard output."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError(f'dolmen {arguments} exited with {done.returncode}: {done.stdout}{done.stderr}')
    return done.stdout if code == 0 else done.stdout + done.stderr


def server():
    if 'server' not in _started:
        directory = tempfile.TemporaryDirectory()
        started = Server(directory.name, '--durability', 'relaxed')
        _started.update(server=started, directory=directory)
        atexit.register(stop)
        for model in ('shop', 'plain', 'lax'):
            cli('apply', os.path.join(HERE, model + '.dolmen'), '--endpoint', started.endpoint)
    return _started['server']


def stop():
    _started['server'].stop()
    _started['directory'].cleanup()


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()
        self.json = json.loads(self.text, parse_float=Decimal) if self.text else None
        self.etag = self.headers.get('etag')


class Client:
    """One keep-alive connection."""

    def __init__(self, endpoint):
        address = urlsplit(endpoint)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)

    def send(self, method, path, body=None, headers=None, query=None):
        if query:
            path += '?' + urlencode(query, quote_via=quote)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault('content-type', 'application/json')
        self.connection.request(method, '/v1' + path, body, headers)
        return Answer(self.connection.getresponse())

    def get(self, path, **query):
        return self.send('GET', path, query=query)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.endpoint = server().endpoint
        self.client = Client(self.endpoint)
        self.api = Api(self.endpoint)

    def tearDown(self):
        self.client.connection.close()

    def send(self, status, method, path, body=None, headers=None, query=None):
        answer = self.client.send(method, path, body, headers, query)
        self.assertEqual(answer.status, status, answer.text)
        if status >= 400:
            self.check_problem(answer)
        return answer

    def get(self, expected, path, **query):
        return self.send(expected, 'GET', path, query=query)

    def check_problem(self, answer):
        self.assertEqual(answer.headers['content-type'], 'application/problem+json')
        self.assertEqual(answer.json['status'], answer.status)
        self.assertTrue(answer.json['type'].startswith('urn:dolmen:problem:'), answer.text)
        self.assertTrue(answer.json['title'])

    def user(self, **more):
        """A new user."""
        body = {'email': f'{uuid.uuid4()}@example.com', 'name': 'Ada', 'nick': None, **more}
        return self.send(201, 'POST', '/shop/User', body)
