"""Many lanes on a few connections, in one thread. A lane is a generator that yields a request and gets its answer: (status,
bytes), or None if nobody knows how it ended (the connection is gone, or the server said that it failed). Such a lane is
resumed once the server was started again: until then nothing is sure. Each connection carries the requests of its lanes
one behind the other, without waiting.
"""
import collections
import json
import select
import socket
import time

from dolmen import AUTHORIZATION

HEAD = ('POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.%s\r\nContent-Type: application/x-amz-json-1.0\r\n'
        f'X-Amz-Date: 20260101T000000Z\r\nAuthorization: {AUTHORIZATION}\r\nContent-Length: %d\r\n\r\n')


def request(operation, document):
    body = json.dumps(document)
    return (HEAD % (operation, len(body)) + body).encode()


class Lane:
    """A generator, and what it waits for."""

    def __init__(self, work):
        self.work = work
        self.unsure = False  # what it asked for last has no sure end
        self.wish = work.send(None)
        self.done = False

    def step(self, answer):
        try:
            self.wish = self.work.send(answer)
        except StopIteration:
            self.wish, self.done = None, True


class Connection:
    def __init__(self, loop, address, lanes):
        self.loop, self.lanes = loop, lanes
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.waiting = collections.deque()
        self.received, self.unsent = bytearray(), bytearray()
        for lane in lanes:
            if lane.unsure:
                lane.unsure = False
                lane.step(None)
            self.ask(lane)

    def ask(self, lane):
        if lane.wish is not None:
            self.unsent += lane.wish
            self.waiting.append(lane)

    def send(self):
        try:
            del self.unsent[:self.socket.send(self.unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent.clear()
        self.loop.poll.modify(self.socket, select.EPOLLIN | (select.EPOLLOUT if self.unsent else 0))

    def read(self):
        """False at the end of the connection."""
        try:
            piece = self.socket.recv(1 << 18)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not piece:
            return False
        self.received += piece
        while (end := self.received.find(b'\r\n\r\n')) >= 0:
            head = bytes(self.received[:end]).lower()
            length = int(head[head.index(b'content-length:') + 15:].split(b'\r\n', 1)[0])
            if len(self.received) < end + 4 + length:
                break
            body = bytes(self.received[end + 4:end + 4 + length])
            del self.received[:end + 4 + length]
            self.answer(int(head[9:12]), body)
        if self.unsent:
            self.send()
        return True

    def answer(self, status, body):
        lane = self.waiting.popleft()
        if status >= 500:
            self.loop.failures[status] += 1
            self.loop.last_failure = body[:300]
            lane.unsure = True
            return
        lane.step((status, body))
        self.ask(lane)


class Loop:
    """All connections to one server, until it is gone."""

    def __init__(self, endpoint, lanes, depth):
        host, _, port = endpoint.rpartition('/')[2].partition(':')
        self.poll = select.epoll()
        self.failures, self.last_failure = collections.Counter(), b''
        self.connections = {}
        open_lanes = [lane for lane in lanes if not lane.done]
        for at in range(0, len(open_lanes), depth):
            connection = Connection(self, (host, int(port)), open_lanes[at:at + depth])
            self.connections[connection.socket.fileno()] = connection
            self.poll.register(connection.socket, select.EPOLLIN)
            connection.send()

    def run(self, until, enough=lambda: False):
        while self.connections and not enough() and (now := time.monotonic()) < until:
            for descriptor, event in self.poll.poll(min(0.5, until - now)):
                connection = self.connections[descriptor]
                if event & select.EPOLLOUT:
                    connection.send()
                if event & ~select.EPOLLOUT and not connection.read():
                    self.drop(connection)

    def drop(self, connection):
        del self.connections[connection.socket.fileno()]
        connection.socket.close()
        for lane in connection.waiting:
            lane.unsure = True

    def close(self):
        """The server is dead: takes what it had answered."""
        self.run(time.monotonic() + 10)
        if self.connections:
            raise AssertionError('connections to a dead server got no end')
        self.poll.close()
