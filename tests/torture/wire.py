"""Many connections in one thread: each client is a generator that yields requests and gets answers.

    answer = yield call('PutItem', {...})
    yield 0.02                              sleeps

One thread is fast enough to keep the server busy, and its order of events is a clock: what was answered before
something else was sent is known, which is what the check of linearizability builds on.
"""
import heapq
import json
import select
import socket
import time

from dolmen import AUTHORIZATION


class Problem(AssertionError):
    """The server did something wrong. The kind is what it counts as in the summary."""

    def __init__(self, message, kind='lost'):
        super().__init__(message)
        self.kind = kind


class Answer:
    def __init__(self, status, document):
        self.status, self.document = status, document
        self.ok = status == 200
        self.error = '' if self.ok else document.get('__type', '').split('#')[-1]

    def __repr__(self):
        return f'{self.status} {json.dumps(self.document)[:400]}'


def call(operation, request):
    body = json.dumps(request).encode()
    return (f'POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n'
            f'Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: {AUTHORIZATION}\r\n'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body


class Connection:
    def __init__(self, loop, address, client):
        self.loop, self.client = loop, client
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received = b''
        self.unsent = b''
        self.work = client.run()

    def step(self, answer):
        """Gives the client its answer and takes its next wish."""
        try:
            wish = self.work.send(answer)
        except StopIteration:
            self.loop.drop(self)
            return
        if isinstance(wish, bytes):
            self.unsent = wish
            self.send()
        else:
            heapq.heappush(self.loop.sleepers, (time.monotonic() + wish, id(self), self))

    def send(self):
        """Most requests go out at once; the rest of a large one when there is room."""
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b''
        self.loop.poll.modify(self.socket, select.EPOLLIN | (select.EPOLLOUT if self.unsent else 0))

    def read(self):
        """The answer, None if it is not all there yet, False at the end of the connection."""
        try:
            piece = self.socket.recv(1 << 18)
        except BlockingIOError:
            return None
        except OSError:
            return False
        if not piece:
            return False
        self.received += piece
        head, found, rest = self.received.partition(b'\r\n\r\n')
        if not found:
            return None
        lower = head.lower()
        at = lower.index(b'content-length:') + 15
        length = int(lower[at:].split(b'\r\n', 1)[0])
        if len(rest) < length:
            return None
        self.received = rest[length:]
        return Answer(int(head[9:12]), json.loads(rest[:length]))


class Loop:
    def __init__(self, endpoint, clients):
        host, _, port = endpoint.rpartition('/')[2].partition(':')
        self.poll = select.epoll()
        self.connections, self.sleepers = {}, []
        self.stopping = False  # the server has been told to stop, and says so: as good as no answer
        for client in clients:
            connection = Connection(self, (host, int(port)), client)
            self.connections[connection.socket.fileno()] = connection
            self.poll.register(connection.socket, select.EPOLLIN)
        for connection in list(self.connections.values()):
            connection.step(None)

    def drop(self, connection):
        if self.connections.pop(connection.socket.fileno(), None):
            connection.socket.close()  # which takes it out of the poll, too

    def run(self, seconds):
        """Until the time is over, or no connection is left because the server is gone."""
        end = time.monotonic() + seconds
        while self.connections and (now := time.monotonic()) < end:
            while self.sleepers and self.sleepers[0][0] <= now:
                connection = heapq.heappop(self.sleepers)[2]
                if connection.socket.fileno() >= 0:
                    connection.step(None)
            wake = min(end, self.sleepers[0][0]) if self.sleepers else end
            for descriptor, event in self.poll.poll(max(0, wake - time.monotonic())):
                connection = self.connections.get(descriptor)
                if connection is None:
                    continue
                if event & select.EPOLLOUT:
                    connection.send()
                if event & ~select.EPOLLOUT:
                    answer = connection.read()
                    if answer is False or answer and answer.status == 503 and self.stopping:
                        self.drop(connection)
                    elif answer is not None:
                        connection.step(answer)

    def close(self):
        """After the server was killed: takes the answers that are still on the way, then ends the clients."""
        self.run(10)
        if self.connections:
            raise Problem(f'{len(self.connections)} connections got neither an answer nor an end')
        self.poll.close()
