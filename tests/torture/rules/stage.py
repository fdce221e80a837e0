"""The server and its neighbours as processes: webhook receiver, NATS, the network between them, a disk that can be full."""
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

from brokers import Nats
from disk import Disk
from dolmen import ROOT, Api, Server

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
SECRET = 'the secret of the hook'


def free_ports(count):
    """Below those that the system gives to connections: they have to be free again after a kill."""
    ports = []
    for port in random.sample(range(15000, 32000), 1000):
        try:
            socket.create_server(('127.0.0.1', port)).close()
            ports.append(port)
        except OSError:
            pass
        if len(ports) == count:
            return ports
    raise RuntimeError('there are no free ports')


def build_layer(directory):
    layer = os.path.join(directory, 'faults.so')
    subprocess.run(['cc', '-shared', '-fPIC', '-O2', '-o', layer, os.path.join(HERE, '..', 'faults.c'), '-ldl'], check=True)
    return layer


class Neighbour:
    """One of our own programs, told what to do by its standard input."""

    def __init__(self, *arguments):
        self.arguments = [sys.executable, *(str(one) for one in arguments)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE)
        if self.process.stdout.readline() != b'ready\n':
            raise RuntimeError(f'{self.arguments} did not start')

    def tell(self, *words):
        if self.process.poll() is None:
            self.process.stdin.write((' '.join(str(word) for word in words) + '\n').encode())
            self.process.stdin.flush()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Stage:
    def __init__(self, work, chance):
        self.work, self.chance = work, chance
        self.root = os.path.join(work, 'disk')
        self.data, self.files, self.archive = (os.path.join(self.root, name) for name in ('d', 'f', 'a'))
        os.makedirs(self.files)
        self.disk = Disk(work, self.root, build_layer(work))
        self.log = os.path.join(work, 'hook.log')
        hook_port, nats_port, hook_door, nats_door = free_ports(4)
        self.hook = Neighbour('hook.py', hook_port, self.log, SECRET)
        self.proxy = Neighbour('proxy.py', hook_door, hook_port, nats_door, nats_port)
        self.nats_port, self.nats = nats_port, Nats(work, nats_port)
        self.nats.ask('$JS.API.STREAM.CREATE.events', {'name': 'events', 'subjects': ['work.>'], 'storage': 'file'})
        self.server = None
        self.offset = 0        # of the server's clock, in seconds
        self.shown = time.time()  # what it had shown at most when it was moved last
        self.layered = False
        self.early_kills = 0
        self.start()
        with open(os.path.join(HERE, 'work.dolmen'), encoding='utf-8') as file:
            model = file.read().replace('{HOOK}', f'http://127.0.0.1:{hook_door}/in') \
                .replace('{NATS}', f'nats://127.0.0.1:{nats_door}/work.outbox')
        self.api().call('ApplyModel', {'Model': model, 'FileName': 'work.dolmen'})

    # ---- The server ----

    def start(self, layered=False):
        options = ['--admin', '--publish-files', self.files, '--archive', self.archive, '--retain-every', '1s',
                   '--retain-rate', '20000', '--durability', self.chance.choice(('full', 'relaxed'))]
        options += self.chance.choice(((), ('--write-buffer', '4M')))
        if self.layered:  # the last one ran on the layer: what it left counts as synced
            self.disk.begin()
        self.layered = layered
        environment = {'DOLMEN_HOOK': SECRET}
        if layered:
            asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
            environment.update(self.disk.environment(), ASAN_OPTIONS=asan)
        while self.chance.random() < 0.1:
            self.start_and_kill(options, environment)
        self.shown = self.latest()
        self.server = Server(self.data, *options, environment=environment)
        self.offset = 0

    def start_and_kill(self, options, environment):
        """A kill while the server starts."""
        process = subprocess.Popen([BINARY, 'serve', '--port', '0', '--data', self.data, *options], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        time.sleep(self.chance.uniform(0.005, 0.1))
        process.kill()
        process.wait()
        self.early_kills += 1

    def note(self):
        """What the last server said, for whoever has to find out."""
        with open(os.path.join(self.work, 'servers.log'), 'a', encoding='utf-8') as file:
            file.write(f'{self.server.error_text()}---- killed; the file has {self.file_size()} bytes\n')

    def file_size(self):
        path = os.path.join(self.files, 'events.jsonl')
        return os.path.getsize(path) if os.path.exists(path) else 0

    def api(self):
        return Api(self.server.endpoint, timeout=120)

    def clock(self):
        return time.time() + self.offset

    def latest(self):
        """What the server's clock has shown at most; it goes on between moves."""
        return max(self.shown, self.clock())

    def move_clock(self, offset):
        parts = urlsplit(self.server.endpoint)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.request('POST', '/admin/clock', json.dumps({'advance_seconds': offset - self.offset}))
        answer = connection.getresponse()
        if answer.status != 200:
            raise AssertionError(f'the clock: {answer.status} {answer.read()}')
        connection.close()
        self.shown = self.latest()
        self.offset = offset

    # ---- The others ----

    def nats_kill(self):
        self.nats.close()

    def nats_start(self):
        if self.nats.process.poll() is not None:
            self.nats = Nats(self.work, self.nats_port)
            if self.nats.process.poll() is not None:
                raise RuntimeError('nats-server does not start')

    def hook_start(self):
        if self.hook.process.poll() is not None:
            self.hook.start()

    def close(self):
        if self.server and self.server.process.poll() is None:
            self.server.kill()
        for one in (self.hook, self.proxy):
            one.kill()
        self.nats.close()
