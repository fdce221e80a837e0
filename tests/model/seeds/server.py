"""A server in memory for one model, and the probes sent to it."""
import json
import os
import re
import signal
import socket
import subprocess

from probes import LATER, START, Unkept, http

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))
BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
AT_ONCE = 64  # requests that are sent before their answers are read


class NoServer(Exception):
    """The server does not start with this model."""


class Server:
    """`dolmen serve --memory` with a model. It is killed: nothing of it is kept."""

    def __init__(self, model, *options):
        self.process = subprocess.Popen([BINARY, 'serve', '--memory', '--port', '0', '--admin', '--threads', '1', '--model', model, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        match = re.search(r'listening on http://(\S+):(\d+)', line)
        if not match:
            said = self.process.stderr.read().decode()
            self.process.wait()
            raise NoServer(said)
        self.socket = socket.create_connection((match[1], int(match[2])), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b''
        self.clock = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def answer(self):
        while b'\r\n\r\n' not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b'\r\n\r\n', 1)
        lines = head.decode('latin-1').split('\r\n')
        headers = dict(line.lower().split(': ', 1) for line in lines[1:])
        length = int(headers.get('content-length', 0))
        while len(self.buffer) < length:
            self.more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(lines[0].split(' ')[1]), headers, json.loads(body) if body else None

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError('the server hung up')
        self.buffer += data

    def ask(self, requests):
        answers = []
        for at in range(0, len(requests), AT_ONCE):
            some = requests[at:at + AT_ONCE]
            self.socket.sendall(b''.join(some))
            answers += [self.answer() for _ in some]
        return answers

    def set_clock(self, moment):
        self.ask([http('POST', '/admin/clock', {'now': moment.strftime('%Y-%m-%dT%H:%M:%SZ')})])

    def failures(self, probes, before=()):
        """The probes whose promise is not kept, each with the reason, in their order."""
        self.set_clock(START)
        self.ask(before)
        early = self.ask([request for probe in probes for request in probe.early])
        self.set_clock(LATER)
        late = self.ask([request for probe in probes for request in probe.late])
        first, second = iter(early), iter(late)
        for probe in probes:
            answers = [next(first) for _ in probe.early], [next(second) for _ in probe.late]
            try:
                probe.judge(*answers)
            except Unkept as reason:
                yield probe, str(reason)
            except (KeyError, TypeError, ValueError) as reason:  # an answer of another shape
                yield probe, repr(reason)
