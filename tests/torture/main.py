"""Kills, power losses and faults under load: nothing acknowledged is lost, nothing is half done.

    main.py [--short] [--rounds KILLS] [--power N] [--faults N] [--seed S] [--require-recovery[=all]]
            [--unordered] [--verbose]

A segment is a fresh data directory and a dozen rounds on it. A round loads the server from some 20
connections for a few tenths of a second, ends it, starts it again and compares everything (check.py). Segments
of mere kills run the server as it is; in the others faults.c stands between it and the disk.
"""
import argparse
import collections
import http.client
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from check import create_tables, verify
from clients import Auditor, Keeper, Payer, Racer, World, Writer
from disk import Disk
from dolmen import Api, ApiError, ROOT, Server, use_master_key, verify_database
from linear import self_test
from memory import Memory, WINDOW
from wire import Loop, Problem

HERE = os.path.dirname(os.path.abspath(__file__))
SEGMENT = 12
RECOVERY_SECONDS = 10
FAULTS = ('full', 'sync', 'write-once', 'full-slowly', 'sync-once', 'write')


class Tally:
    def __init__(self):
        self.kills = self.losses = self.faults = self.writes = self.failed_writes = self.audits = 0
        self.registers = self.undecided = self.passed = 0
        self.problems = collections.Counter()
        self.recovered, self.stuck = [], 0
        self.stuck_on = collections.Counter()
        self.dropped = self.undone = 0
        self.slowest = 0

    def summary(self):
        return (f'torture: {self.kills} kills, {self.losses} power losses, {self.faults} faults, '
                f'{self.writes} acknowledged writes checked, {self.problems["lost"]} lost, '
                f'{self.problems["half"]} half transactions, {self.problems["index"]} index differences')

    def details(self):
        lines = [f'{self.audits} audits of the bank, {self.registers} registers linearizable ({self.undecided} undecided), '
                 f'{self.failed_writes} writes failed as they should, slowest start {self.slowest:.2f} s',
                 f'power losses dropped {self.dropped} bytes and {self.undone} changes of directories']
        if self.faults:
            lines.append(f'after faults the server recovered by itself {len(self.recovered)} times'
                         + (f' (at most {max(self.recovered):.1f} s)' if self.recovered else '')
                         + f', {self.stuck} times only by a restart'
                         + (f' ({dict(self.stuck_on)})' if self.stuck else ''))
        return '\n'.join(lines)


class Segment:
    """One data directory with its clients."""

    def __init__(self, options, tally, number, layer, durability):
        self.options, self.tally = options, tally
        self.relaxed = durability == 'relaxed'
        # Every other segment has buffers so small that tables are flushed and merged all the time.
        self.flags = ['--durability', durability] + (['--write-buffer', '4M'] if number % 2 else [])
        self.killed = self.lost_since = None  # when the loaded server died; whether the power went since
        self.random = random.Random(f'{options.seed}/{number}')
        self.work = tempfile.mkdtemp(prefix='dolmen-torture.')
        self.data = os.path.join(self.work, 'data')
        self.disk = Disk(self.work, self.data, layer, options.unordered) if layer else None
        # Every fourth segment writes so much that logs are rotated, memtables flushed and tables merged.
        self.heavy = number % 4 == 1
        self.world = World(f'{options.seed}/{number}', 0.25 if self.heavy else 0.005)
        self.memories, self.clients = [], []
        for kind, count in ((Writer, 6), (Payer, 4), (Keeper, 1)):
            for i in range(count):
                self.memories.append(Memory())
                self.clients.append(kind(self.world, f'{kind.__name__.lower()}{i}', self.memories[-1]))
        self.clients += [Racer(self.world, f'racer{i}') for i in range(5)]
        self.clients.append(Auditor(self.world, 'auditor'))
        self.server = None
        self.counted = 0

    # ---- The server ----

    def environment(self):
        if not self.disk:
            return {}
        # The layer comes before a sanitizer's library, which is fine with it.
        asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        return {**self.disk.environment(), 'ASAN_OPTIONS': asan}

    def start(self):
        while self.random.random() < 0.15:
            self.start_and_kill()
        begun = time.monotonic()
        try:
            self.server = Server(self.data, *self.flags, environment=self.environment())
        except RuntimeError as error:
            raise Problem(str(error))
        self.tally.slowest = max(self.tally.slowest, time.monotonic() - begun)

    def start_and_kill(self):
        """A kill while the server starts, and perhaps no power either."""
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        process = subprocess.Popen([binary, 'serve', '--port', '0', '--data', self.data, *self.flags], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, **self.environment()})
        time.sleep(self.random.uniform(0.005, 0.06))
        process.kill()
        process.wait()
        self.tally.kills += 1
        if self.disk and os.path.isdir(self.data):
            self.disk.notice()
        if self.disk and self.random.random() < 0.5 and os.path.isdir(self.data):
            self.lose_power()

    def lose_power(self):
        before = self.disk.dropped, self.disk.undone
        self.disk.lose_power(self.random)
        self.tally.dropped += self.disk.dropped - before[0]
        self.tally.undone += self.disk.undone - before[1]
        self.tally.losses += 1
        self.lost_since = self.relaxed

    # ---- Rounds ----

    def run(self, kinds):
        self.start()
        create_tables(Api(self.server.endpoint))
        if self.relaxed:  # a stop is what makes them sure
            self.server.stop()
            self.start()
        for number, kind in enumerate(kinds):
            self.world.round = number
            self.round(kind)
            self.start()
            self.check()
            self.tally.passed += 1
        self.server.stop()

    def round(self, kind):
        loop = Loop(self.server.endpoint, self.clients)
        power = kind == 'power'
        if kind in ('kill', 'power'):
            self.kill(loop, self.random.uniform(0.3, 1.2) if self.heavy else self.random.uniform(0.1, 0.4))
        elif not self.fault(loop, kind):
            self.stop(loop)
        else:
            power = self.random.random() < 0.5
            self.kill(loop, self.random.uniform(0, 0.1))
        if self.disk:
            self.disk.lift()
        if power:
            self.lose_power()

    def kill(self, loop, seconds):
        """kill -9 at a moment that the clients do not choose."""
        process = self.server.process
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            loop.run(seconds + 10)
        finally:
            timer.join()
            process.wait()
            self.killed = time.monotonic()
            if self.disk:
                self.disk.notice()
        if process.returncode != -signal.SIGKILL:
            raise Problem(f'the server ended by itself with status {process.returncode}\n{self.server.error_text()}')
        loop.close()
        self.tally.kills += 1

    def stop(self, loop):
        """A graceful end, which must come whatever the disk did."""
        loop.stopping = True
        self.server.process.terminate()
        loop.run(10)
        try:
            status = self.server.process.wait(30)
        except subprocess.TimeoutExpired:
            raise Problem('the server does not stop after a fault')
        if status < 0:
            raise Problem(f'the server ended with status {status}\n{self.server.error_text()}')
        loop.close()

    def fault(self, loop, kind):
        """The disk fails while the load goes on, then works again. Whether to end by a kill."""
        world, disk = self.world, self.disk
        loop.run(self.random.uniform(0.05, 0.2))
        world.fault = kind
        failures = world.failures
        self.arm(kind)
        if kind in ('full', 'sync'):
            world.strict_from = world.tick()
        loop.run(self.random.uniform(0.2, 0.4))
        patience = time.monotonic() + 5  # a sanitizer makes it slow
        while world.failures == failures and not kind.endswith('once') and time.monotonic() < patience:
            loop.run(0.1)
        self.look(kind)
        world.strict_from = None
        disk.lift()
        # What fails once may be a write in the background that no client waits for.
        if world.failures == failures and not kind.endswith('once'):
            raise Problem(f'{kind}: no write failed ({disk.get("failed_writes")} writes and '
                          f'{disk.get("failed_syncs")} syncs of the server did)')
        self.tally.failed_writes += world.failures - failures
        self.tally.faults += 1
        self.recover(loop, kind)
        return self.random.random() < 0.8

    def arm(self, kind):
        disk = self.disk
        if kind == 'full':
            disk.fill(0)
        elif kind == 'full-slowly':
            disk.fill(self.random.randrange(60000))
        elif kind.startswith('write'):
            disk.break_writes(self.random.randrange(40), 1 if kind == 'write-once' else -1)
        else:
            disk.break_syncs(1 if kind == 'sync-once' else -1)

    def look(self, kind):
        """Reads and the process go on; what GET /health says is shown."""
        if self.server.process.poll() is not None:
            raise Problem(f'{kind}: the server ended with status {self.server.process.returncode}\n{self.server.error_text()}')
        if self.options.verbose:
            connection = http.client.HTTPConnection(self.server.endpoint.rpartition('/')[2], timeout=5)
            connection.request('GET', '/health')
            answer = connection.getresponse()
            print(f'    {kind}: GET /health: {answer.status} {answer.read()[:200]}')

    def recover(self, loop, kind):
        """Whether all writes succeed again within 10 s. Once they did not, the next faults wait less."""
        world, tally = self.world, self.tally
        required = self.options.require_recovery == 'all' or self.options.require_recovery and kind.startswith('full')
        patience = RECOVERY_SECONDS if required or not tally.stuck and not self.options.short else 1
        begun = healthy = time.monotonic()
        while healthy < begun + patience:
            world.successes, failures = 0, world.failures
            loop.run(0.4)  # Whoever was refused before tries again in this time.
            if world.successes >= 3 and world.failures == failures:
                tally.recovered.append(healthy - begun)
                world.fault = None
                return
            healthy = time.monotonic()
        tally.stuck += 1
        tally.stuck_on[kind] += 1
        if required:
            raise Problem(f'{kind}: writes still fail {patience:.0f} s after the fault was lifted\n{self.server.error_text()}')

    def check(self):
        world = self.world
        if self.lost_since:
            # A disk that does not keep up makes writes wait, so it is the last answer that counts.
            last = max([memory.recent[-1][0] for memory in self.memories if memory.recent], default=self.killed)
            for memory in self.memories:
                memory.unsure_since(last - WINDOW)
        registers, undecided = verify(Api(self.server.endpoint), world, self.memories, not self.lost_since)
        verify_database(Api(self.server.endpoint))
        self.lost_since = None
        world.fault = None
        self.tally.registers += registers
        self.tally.undecided += undecided
        self.tally.audits += world.audits
        world.audits = 0
        acknowledged = sum(memory.acknowledged for memory in self.memories)
        self.tally.writes += acknowledged - self.counted
        self.counted = acknowledged

    def end(self, failed):
        if self.server and self.server.process.poll() is None:
            self.server.kill()
        if not failed:
            shutil.rmtree(self.work)


def plan(options):
    """Lists of rounds, one for each segment, whether the layer is there, and the durability."""
    choice = random.Random(options.seed)
    plain = ['kill'] * (options.rounds // 2)
    relaxed = ['power'] * (options.power // 2) + ['kill'] * (options.power // 8)
    mixed = ['kill'] * (options.rounds - len(plain)) + ['power'] * (options.power - options.power // 2)
    mixed += [FAULTS[i % len(FAULTS)] for i in range(options.faults)]
    segments = []
    for kinds, layered, durability in ((plain, False, 'full'), (mixed, True, 'full'), (relaxed, True, 'relaxed')):
        choice.shuffle(kinds)
        segments += [(kinds[i:i + SEGMENT], layered, durability) for i in range(0, len(kinds), SEGMENT)]
    choice.shuffle(segments)
    return segments


def build_layer(directory):
    layer = os.path.join(directory, 'faults.so')
    subprocess.run(['cc', '-shared', '-fPIC', '-O2', '-o', layer, os.path.join(HERE, 'faults.c'), '-ldl'], check=True)
    return layer


def brief(message):
    """Long notes of items are only counted."""
    return re.sub('x{20,}', lambda match: f'<{len(match[0])} x>', message)[:6000]


def run_segment(options, tally, number, kinds, layer, durability):
    """Whether all went well."""
    segment = Segment(options, tally, number, layer, durability)
    failed = True
    try:
        segment.run(kinds)
        failed = False
    except (Problem, ApiError, RuntimeError, OSError) as problem:
        kind = problem.kind if isinstance(problem, Problem) else 'lost'
        tally.problems[kind] += 1
        print(f'FAILED ({kind}) in segment {number}, round {segment.world.round} of {kinds}; the data is in {segment.work}')
        print('    ' + brief(str(problem)).replace('\n', '\n    '))
        if not isinstance(problem, Problem):
            traceback.print_exc(file=sys.stdout)
    finally:
        segment.end(failed)
    return not failed


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    environment = os.environ.get
    parser.add_argument('--short', action='store_true', help='what make test runs')
    parser.add_argument('--encrypted', action='store_true', help='directories that are encrypted')
    parser.add_argument('--rounds', type=int, default=int(environment('ROUNDS') or 0), help='kills')
    parser.add_argument('--power', type=int, default=-1, help='power losses')
    parser.add_argument('--faults', type=int, default=-1)
    parser.add_argument('--seed', default=environment('SEED') or str(random.SystemRandom().randrange(10**9)))
    parser.add_argument('--require-recovery', choices=('full', 'all'), nargs='?', const='full',
                        help='fail unless the server works again within 10 s after a full disk, or after each fault')
    parser.add_argument('--unordered', action='store_true',
                        help='a power loss may keep a later change of a directory without an earlier one')
    parser.add_argument('--verbose', action='store_true', default=bool(environment('VERBOSE')))
    options = parser.parse_args()
    options.rounds = options.rounds or (20 if options.short else 300)
    if options.power < 0:
        options.power = 4 if options.short else max(4, options.rounds * 5 // 3)
    if options.faults < 0:
        options.faults = 3 if options.short else max(3, options.rounds // 10)
    return options


def main():
    options = arguments()
    print(f'SEED={options.seed}', flush=True)
    self_test()
    tally = Tally()
    begun = time.monotonic()
    failed = 0
    tools = tempfile.mkdtemp(prefix='dolmen-torture-layer.')
    if options.encrypted:
        use_master_key(tools)
    try:
        layer = build_layer(tools)
        segments = plan(options)
        for number, (kinds, layered, durability) in enumerate(segments):
            failed += not run_segment(options, tally, number, kinds, layer if layered else None, durability)
            print(f'{number + 1}/{len(segments)} {time.monotonic() - begun:4.0f} s  {tally.summary()}', flush=True)
    finally:
        shutil.rmtree(tools)
    print(tally.details())
    print(tally.summary())
    print(f'{tally.passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
