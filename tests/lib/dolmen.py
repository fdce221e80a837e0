"""Shared by the Python suites: the server as a process, and the API as plain HTTP.

    with Server(directory) as server:
        api = Api(server.endpoint)
        api.call('PutItem', {...})      # the answer, or ApiError
"""
import hashlib
import hmac
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import urlsplit

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AUTHORIZATION = ('AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, '
                 'SignedHeaders=host;x-amz-date;x-amz-target, Signature=' + '0' * 64)


def use_master_key(directory):
    """From now on directories that are made are encrypted, under a key of a file there."""
    path = os.path.join(directory, 'master.key')
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
        file.write(os.urandom(32).hex() + '\n')
    os.environ['DOLMEN_MASTER_KEY'] = f'file:{path}'


class Server:
    """A server process on a data directory, or on the database of a URL, with more in its environment. It is stopped by its PID only."""

    def __init__(self, directory, *options, environment=None):
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([binary, 'serve', '--port', '0', '--store' if '://' in directory else '--data', directory, *options],
                                        stdout=subprocess.PIPE, stderr=self.errors, env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline().decode()
        if 'listening on ' not in line:
            self.process.wait()
            raise RuntimeError(f'the server did not start: {line!r}\n{self.error_text()}')
        self.endpoint = line.split('listening on ')[1].strip()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors='replace')[-4000:]

    def kill(self):
        """kill -9: nothing is finished, nothing is flushed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """A graceful stop; a status other than 0 is a failure."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        if status != 0:
            raise RuntimeError(f'the server ended with status {status}\n{self.error_text()}')

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            if kind is None:
                self.stop()
            else:
                self.kill()
        elif kind is None:
            raise RuntimeError(f'the server ended with status {self.process.returncode}\n{self.error_text()}')
        else:
            sys.stderr.write(self.error_text())


class ApiError(Exception):
    """An error of the service: its bare name, its text, and the whole document."""

    def __init__(self, status, document):
        self.status = status
        self.document = document
        self.name = document.get('__type', '').split('#')[-1]
        self.message = document.get('message', document.get('Message', ''))
        super().__init__(f'{self.name}: {self.message}')


def signature_headers(host, target, body):
    """What a server with --auth enforce wants of a request, signed with the key of the environment."""
    date = time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    scope = f'{date[:8]}/us-east-1/dynamodb/aws4_request'
    names = 'host;x-amz-date;x-amz-target'
    canonical = f'POST\n/\n\nhost:{host}\nx-amz-date:{date}\nx-amz-target:{target}\n\n{names}\n{hashlib.sha256(body).hexdigest()}'
    key = ('AWS4' + os.environ['AWS_SECRET_ACCESS_KEY']).encode()
    for part in scope.split('/') + [f'AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}']:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return {'X-Amz-Date': date, 'Authorization': f'AWS4-HMAC-SHA256 Credential={os.environ["AWS_ACCESS_KEY_ID"]}/{scope}, SignedHeaders={names}, Signature={key.hex()}'}


class Api:
    """One keep-alive connection; not for several threads. Over HTTPS, which is what secured servers speak (with-server), requests are signed."""

    def __init__(self, endpoint, timeout=60, service='DynamoDB_20120810.'):
        self.service = service
        parts = urlsplit(endpoint)
        self.secured, self.host = parts.scheme == 'https', parts.netloc
        if self.secured:
            trusted = ssl.create_default_context(cafile=os.environ['AWS_CA_BUNDLE'])
            self.connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=trusted)
        else:
            self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def call(self, operation, request):
        body, target = json.dumps(request).encode(), self.service + operation
        signature = {'X-Amz-Date': '20260101T000000Z', 'Authorization': AUTHORIZATION}
        if self.secured:
            signature = signature_headers(self.host, target, body)
        self.connection.request('POST', '/', body, {'X-Amz-Target': target, 'Content-Type': 'application/x-amz-json-1.0', **signature})
        response = self.connection.getresponse()
        document = json.loads(response.read())
        if response.status != 200:
            raise ApiError(response.status, document)
        return document

    def close(self):
        self.connection.close()

    def pages(self, operation, request):
        """All items of all pages, in their order."""
        items, start = [], None
        while True:
            page = self.call(operation, {**request, **({'ExclusiveStartKey': start} if start else {})})
            items += page.get('Items', [])
            start = page.get('LastEvaluatedKey')
            if start is None:
                return items


def verify_database(api, patience=120):
    """Has the server verify its database; the differences, or AssertionError."""
    run = api.call('VerifyDatabase', {})
    end = time.monotonic() + patience
    while run['Status'] == 'RUNNING' and time.monotonic() < end:
        time.sleep(0.01)
        run = api.call('VerifyDatabase', {'RunId': run['RunId']})
    if run['Status'] != 'COMPLETE' or run['DifferenceCount'] > 0:
        raise AssertionError(f'verification: {run["Status"]}, {run.get("Differences")}')
