"""A client of events as browsers have one, the board's client, and one server for the suite."""
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import quote, urlencode, urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'lib'))
from dolmen import ROOT, Api, Server  # noqa: E402

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 60  # seconds until something that has to come is given up; nothing takes that long


def apply(endpoint, model='board.dolmen'):
    subprocess.run([BINARY, 'apply', os.path.join(HERE, model), '--endpoint', endpoint], check=True, capture_output=True, timeout=120)


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as probe:
        return probe.getsockname()[1]


class Board:
    """Reads and writes on a connection of its own."""

    def __init__(self, endpoint, headers=None):
        address = urlsplit(endpoint)
        self.endpoint = endpoint
        self.headers = headers or {}
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=PATIENCE)

    def send(self, method, path, body=None, headers=None, **query):
        if query:
            path += '?' + urlencode(query, quote_via=quote)
        headers = {**self.headers, **(headers or {})}
        if body is not None:
            headers['content-type'] = 'application/json'
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        return response.status, json.loads(text) if text and 'json' in response.getheader('content-type', '') else text

    def note(self, number, **more):
        note = {'team': 'a', 'board': 'x', 'noteId': f'n{number}', 'rank': number, **more}
        status, answer = self.send('POST', '/v1/board/Note', note)
        assert status == 201, answer
        return note

    def key(self, number, **more):
        return {'team': 'a', 'board': 'x', 'noteId': f'n{number}', 'rank': number, **more}

    def patch(self, number, changes, **more):
        status, answer = self.send('PATCH', '/v1/board/Note', changes, **self.key(number, **more))
        assert status == 200, answer

    def delete(self, number, **more):
        status, answer = self.send('DELETE', '/v1/board/Note', **self.key(number, **more))
        assert status == 204, answer

    def ask(self, pattern, **arguments):
        """All pages of a pattern."""
        items, cursor = [], None
        while True:
            more = {'cursor': cursor} if cursor else {}
            status, answer = self.send('GET', f'/v1/board/{pattern}', **arguments, **more)
            assert status == 200, answer
            items += answer['items']
            cursor = answer['cursor']
            if not cursor:
                return items

    def metric(self, name):
        _, text = self.send('GET', '/metrics')
        return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + ' '))


class Events:
    """Listens to a pattern. Keeps what it would show, and every event that came, with its id."""

    def __init__(self, endpoint, pattern, last=None, headers=None, small=False, start=True, state=None, **arguments):
        address = urlsplit(endpoint)
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((address.hostname, address.port))
        lines = [f'GET /v1/board/{pattern}?{urlencode(arguments)} HTTP/1.1', 'Host: localhost', 'Accept: text/event-stream']
        lines += [f'Last-Event-ID: {last}'] if last is not None else []
        lines += [f'{name}: {value}' for name, value in (headers or {}).items()]
        self.socket.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1'))
        self.changed = threading.Condition()
        self.state, self.events, self.comments = dict(state or {}), [], 0
        self.last = last
        self.status = self.type = None
        self.ended = False
        self.thread = threading.Thread(target=self.read, daemon=True)
        if start:
            self.thread.start()

    def start(self):
        self.thread.start()

    def read(self):
        try:
            response = http.client.HTTPResponse(self.socket)
            response.begin()
            self.status, self.type = response.status, response.getheader('content-type')
            event = {}
            while True:
                line = response.readline()
                if not line:
                    break
                line = line.decode().rstrip('\n')
                if line == '':
                    if event:
                        self.take(event)
                    event = {}
                elif line.startswith(':'):
                    self.comments += 1
                else:
                    name, _, value = line.partition(': ')
                    event[name] = value
        except (OSError, http.client.HTTPException, ValueError):
            pass
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def take(self, event):
        with self.changed:
            kind, data = event.get('event'), json.loads(event['data'])
            if event.get('id'):
                self.last = event['id']
            if kind == 'reset':
                self.state.clear()
            elif kind in ('item', 'put'):
                self.state[data['key']] = data['item']
            elif kind == 'remove':
                del self.state[data['key']]
            self.events.append((kind, data, event.get('id')))
            self.changed.notify_all()

    def wait(self, what, describe=lambda: ''):
        """Until that is so."""
        end = time.monotonic() + PATIENCE
        with self.changed:
            while not what():
                left = end - time.monotonic()
                if left <= 0 or (self.ended and not what()):
                    raise AssertionError(f'it never came; {describe()} after {self.kinds()[-20:]}')
                self.changed.wait(left)

    def ready(self):
        self.wait(lambda: 'ready' in self.kinds())
        return self

    def kinds(self):
        return [kind for kind, _, _ in self.events]

    def shows(self, items, by=lambda item: json.dumps(item, sort_keys=True)):
        wanted = sorted(map(by, items))
        self.wait(lambda: sorted(map(by, self.state.values())) == wanted,
                  lambda: f'expected {wanted}, has {sorted(map(by, self.state.values()))}')

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if self.thread.ident:
            self.thread.join()
        self.socket.close()
