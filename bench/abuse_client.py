"""What the rows of abuse.py send with: raw requests over plain sockets, cheap for the sender.

An attack runs in a process of its own. Its Attack object counts what came back, by status or by the
name of the error, and how long each request took.
"""
import collections
import json
import select
import socket
import threading
import time

MOST_SECONDS = 100  # after which an attack gives up on answers


def head(method="POST", path="/", operation=None, api="DynamoDB_20120810", headers=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "X-Amz-Date: 20260101T000000Z",
             "Authorization: AWS4-HMAC-SHA256 Credential=BENCH/20260101/us-east-1/dynamodb/aws4_request, "
             "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64]
    if operation:
        lines += [f"X-Amz-Target: {api}.{operation}", "Content-Type: application/x-amz-json-1.0"]
    return "\r\n".join([*lines, *headers]) + "\r\n"


def request(operation, body, headers=(), api="DynamoDB_20120810"):
    """The bytes of one request of the DynamoDB API; `body` is JSON text, bytes, or what makes it."""
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body, separators=(",", ":"))
    if isinstance(body, str):
        body = body.encode()
    return head(operation=operation, headers=headers, api=api).encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def get(path, headers=()):
    return head("GET", path, headers=headers).encode() + b"\r\n"


def post(path, body, headers=("Content-Type: application/json",)):
    body = json.dumps(body).encode()
    return head("POST", path, headers=headers).encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def label(self):
        """"200", or the name of the error."""
        if self.status == 200:
            return "200"
        name = self.body.partition(b'"__type":"')[2].partition(b'"')[0].rpartition(b"#")[2]
        return name.decode(errors="replace") or str(self.status)

    def json(self):
        return json.loads(self.body)


class Connection:
    def __init__(self, port, buffer=None):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(MOST_SECONDS)
        self.socket.connect(("127.0.0.1", port))
        self.rest = b""

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        got = self.socket.recv(1 << 20)
        if not got:
            raise ConnectionError("closed by the server")
        return got

    def until(self, mark):
        while mark not in self.rest:
            self.rest += self.more()
        found, _, self.rest = self.rest.partition(mark)
        return found

    def exactly(self, size):
        """The first of `size` bytes: errors are short, and large answers are not kept."""
        kept, left = [], size
        while left > len(self.rest):
            left -= len(self.rest)
            kept.append(self.rest)
            self.rest = self.more()
        kept.append(self.rest[:left])
        self.rest = self.rest[left:]
        return b"".join(kept) if size < 1 << 16 or self.keep else kept[0]

    keep = False

    def answer(self):
        text = self.until(b"\r\n\r\n").decode("latin-1")
        first, *lines = text.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = b""
        if "chunked" in headers.get("transfer-encoding", ""):
            while size := int(self.until(b"\r\n"), 16):
                body += self.exactly(size)
                self.exactly(2)
            self.exactly(2)
        else:
            body = self.exactly(int(headers.get("content-length", "0")))
        return Answer(int(first.split()[1]), headers, body)

    def ask(self, data):
        self.send(data)
        return self.answer()

    def call(self, operation, body, **settings):
        """An answer that must be 200, as JSON: for what prepares an attack."""
        self.keep = True
        answer = self.ask(request(operation, body, **settings))
        if answer.status != 200:
            raise RuntimeError(f"{operation}: {answer.status} {answer.body[:500]}")
        return answer.json() if answer.body else {}


class Attack:
    """What an attack's process does and finds. `seconds` is how long it should go on."""

    def __init__(self, server, seconds, prepared=None):
        self.port, self.pid, self.seconds = server.port, server.pid, seconds
        self.prepared = prepared
        self.ends = time.monotonic() + seconds
        self.labels = collections.Counter()
        self.slowest = 0.0
        self.sample = ""  # of an answer that is not 200
        self.lock = threading.Lock()

    @property
    def over(self):
        return time.monotonic() > self.ends

    def wait(self):
        time.sleep(max(0, self.ends - time.monotonic()))

    def connect(self, **settings):
        return Connection(self.port, **settings)

    def note(self, label, seconds=0.0, sample=""):
        with self.lock:
            self.labels[label] += 1
            self.slowest = max(self.slowest, seconds)
            self.sample = self.sample or sample

    def ask(self, connection, data):
        started = time.monotonic()
        answer = connection.ask(data)
        self.noted(answer, started)
        return answer

    def noted(self, answer, started):
        sample = "" if answer.status == 200 else answer.body[:300].decode(errors="replace")
        self.note(answer.label, time.monotonic() - started, sample)

    def on_threads(self, count, work):
        """Runs work(number) on so many threads; what ends a connection is noted, and that is all."""
        def guarded(number):
            try:
                work(number)
            except OSError as error:
                self.note("timeout" if isinstance(error, TimeoutError) else "closed")
        threads = [threading.Thread(target=guarded, args=(number,), daemon=True) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.seconds + MOST_SECONDS)

    def repeat(self, *requests, connections=2, least=2):
        """Each connection sends the requests in turn until the time is over, each `least` times at least."""
        def work(number):
            connection = self.connect()
            count = 0
            while count < least * len(requests) or not self.over:
                self.ask(connection, requests[(count + number) % len(requests)])
                count += 1
                if time.monotonic() > self.ends + 20:
                    break
        self.on_threads(connections, work)

    def pipeline(self, data, count, connections=1):
        """Sends the same request `count` times before it reads any answer, again and again."""
        def work(_):
            connection = self.connect()
            while not self.over:
                sender = threading.Thread(target=connection.send, args=(data * count,), daemon=True)
                started = time.monotonic()
                sender.start()
                for _ in range(count):
                    self.noted(connection.answer(), started)
                sender.join()
        self.on_threads(connections, work)

    def found(self):
        return {"answers": dict(self.labels), "slowest": self.slowest, "sample": self.sample}


def readable(sockets, seconds):
    poll = select.poll()
    for one in sockets:
        poll.register(one, select.POLLIN)
    return len(poll.poll(seconds * 1000))
