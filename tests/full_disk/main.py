"""A server whose disk becomes full: nothing that was acknowledged is lost, and there is a way out.

    main.py DIRECTORY [TEST…]    of a small file system; tests/full_disk/run makes one
"""
import errno
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 30  # seconds: whoever waits longer waits for ever
OPTIONS = ('--write-buffer', '4M')
PEBBLES = 20000  # small items: more than memory has tombstones for
RETURNED = 20  # writes that must be taken again, one behind the other


def pad():
    """What cannot be compressed."""
    return os.urandom(45000).hex()


class Disk:
    """A table on a small disk, what it must hold, and a file of somebody else's beside it."""

    def __init__(self, directory):
        self.data = os.path.join(directory, 'data')
        self.other = os.path.join(directory, 'other')
        self.temporary = tempfile.TemporaryDirectory()
        self.elsewhere = os.path.join(self.temporary.name, 'data')  # on another disk
        self.tried = 0
        self.items = {}  # acknowledged, by key: the value

    def serve(self):
        return Server(self.data, *OPTIONS)

    @staticmethod
    def api(server):
        return Api(server.endpoint, timeout=PATIENCE)

    @staticmethod
    def create(api, table='stones'):
        api.call('CreateTable', {'TableName': table, 'BillingMode': 'PAY_PER_REQUEST',
                                 'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                                 'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})

    def put(self, api):
        self.tried += 1
        key, value = f'{self.tried:06}', pad()
        api.call('PutItem', {'TableName': 'stones', 'Item': {'k': {'S': key}, 'v': {'S': value}}})
        self.items[key] = value

    def refused(self, api):
        """Puts until one is refused: it was not done, because the disk is full."""
        while self.tried < 5000:
            try:
                self.put(api)
            except ApiError as error:
                assert (error.status, error.name) == (500, 'InternalServerError'), error
                assert 'was not done' in error.message and f'the disk of {self.data} is full' in error.message, error
                return
        raise AssertionError('the disk does not become full')

    def delete(self, api, count):
        for key in sorted(self.items)[:count]:
            api.call('DeleteItem', {'TableName': 'stones', 'Key': {'k': {'S': key}}})
            del self.items[key]

    def check(self, api):
        """Everything that was acknowledged is there, and nothing else."""
        found = {item['k']['S']: item['v']['S'] for item in api.pages('Scan', {'TableName': 'stones'})}
        assert found.keys() == self.items.keys(), (sorted(self.items.keys() - found), sorted(found.keys() - self.items))
        assert found == self.items, 'a value is not the one that was acknowledged'

    def returns(self, api):
        """Puts are taken again, without a restart; the server needs a moment to see that there is room."""
        end = time.monotonic() + PATIENCE
        for _ in range(RETURNED):
            while True:
                try:
                    self.put(api)
                    break
                except ApiError as error:
                    assert 'was not done' in error.message and time.monotonic() < end, error
                    time.sleep(0.05)
        self.check(api)

    def take_rest(self):
        """Somebody else takes every byte that is left."""
        with open(self.other, 'ab', buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while file.write(b'x' * size) == size:
                        pass
                except OSError as error:
                    assert error.errno == errno.ENOSPC, error

    def spend_reserve(self, kept=('start',)):
        """What was kept back is used up, but for some of its files."""
        reserve = os.path.join(self.data, 'reserve')
        for name in os.listdir(reserve):
            if name not in kept:
                os.unlink(os.path.join(reserve, name))
        self.take_rest()

    def give_back(self):
        os.unlink(self.other)

    def verify(self):
        done = subprocess.run([BINARY, 'verify', self.data], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        with self.serve() as server:
            self.check(self.api(server))


def health(server):
    connection = http.client.HTTPConnection(server.endpoint.split('//')[1], timeout=PATIENCE)
    connection.request('GET', '/health')
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def says_so(server):
    status, document = health(server)
    assert status == 503 and 'is full' in document['writes']['reason'], document


def filled_by_itself(disk):
    """The database fills the disk: reads and deletes go on, also of a server that is started so."""
    with disk.serve() as server:
        api = disk.api(server)
        disk.create(api)
        disk.refused(api)
        assert len(disk.items) > 200, len(disk.items)
        says_so(server)
        disk.check(api)
        for _ in range(20):
            disk.delete(api, 1)
            disk.refused(api)
        disk.check(api)
    server = disk.serve()
    api = disk.api(server)
    disk.check(api)
    disk.delete(api, 20)
    disk.check(api)
    server.kill()
    with disk.serve() as server:
        api = disk.api(server)
        disk.check(api)
        disk.delete(api, len(disk.items) - 50)
        disk.returns(api)
    disk.verify()


def other_takes_rest(disk, puts=100):
    """Somebody else takes all room while the database is written to, and gives it back."""
    with disk.serve() as server:
        api = disk.api(server)
        disk.create(api)
        for _ in range(puts):
            disk.put(api)
        taker = threading.Thread(target=disk.take_rest)
        taker.start()
        disk.refused(api)
        taker.join()
        disk.take_rest()
        says_so(server)
        disk.check(api)
        try:
            disk.delete(api, 20)
        except ApiError as error:  # what was kept back was given to a table, and somebody else took it
            assert 'was not done' in error.message and 'kept back' in error.message, error
            assert os.listdir(os.path.join(disk.data, 'reserve')) == ['start'], error
        disk.refused(api)
        disk.check(api)
        disk.give_back()
        disk.returns(api)
    disk.verify()


def starts_without_room(disk, puts=100):
    """A start while somebody else has all room serves reads and deletes, after a kill and after a stop."""
    server = disk.serve()
    api = disk.api(server)
    disk.create(api)
    for _ in range(puts):
        disk.put(api)
    disk.take_rest()
    disk.refused(api)
    disk.take_rest()
    server.kill()
    for _ in range(3):
        disk.take_rest()
        server = disk.serve()
        api = disk.api(server)
        disk.check(api)
        disk.delete(api, 5)
        disk.refused(api)
        says_so(server)
        server.kill()
        disk.take_rest()
        with disk.serve() as server:
            api = disk.api(server)
            disk.check(api)
            disk.delete(api, 5)
    with disk.serve() as server:
        api = disk.api(server)
        disk.refused(api)
        disk.give_back()
        disk.returns(api)
    disk.verify()


def reserve_is_used_up(disk):
    """When nothing is left to take, everything is refused with a sentence, and a start serves reads."""
    server = disk.serve()
    api = disk.api(server)
    disk.create(api)
    for _ in range(200):
        disk.put(api)
    disk.take_rest()
    disk.refused(api)
    try:
        while len(disk.items) > 10:
            disk.spend_reserve()
            disk.delete(api, 1)
        raise AssertionError('the reserve has no end')
    except ApiError as error:
        assert 'was not done' in error.message and 'kept back' in error.message, error
    disk.check(api)
    server.kill()
    for _ in range(3):
        disk.spend_reserve()
        server = disk.serve()
        api = disk.api(server)
        disk.check(api)
        disk.spend_reserve()
        disk.refused(api)
        says_so(server)
        disk.check(api)
        server.kill()
    disk.spend_reserve(kept=())
    try:
        disk.serve().kill()
        raise AssertionError('a start that takes no room')
    except RuntimeError as error:
        assert 'the disk is full, and a start takes up to' in str(error) and 'repair' not in str(error), error
    disk.give_back()
    with disk.serve() as server:
        api = disk.api(server)
        disk.returns(api)
        disk.delete(api, 20)
    disk.verify()


def memory_is_used_up(disk):
    """Deletes that cannot be written to tables are refused when log or memory is full; they never wait."""
    keys = [f'{number:0400}' for number in range(PEBBLES)]

    def write(api, request, keys):
        requests = [{request: {'Item' if request == 'PutRequest' else 'Key': {'k': {'S': key}}}} for key in keys]
        api.call('BatchWriteItem', {'RequestItems': {'pebbles': requests}})

    with disk.serve() as server:
        api = disk.api(server)
        disk.create(api)
        disk.create(api, 'pebbles')
        for first in range(0, PEBBLES, 25):
            write(api, 'PutRequest', keys[first:first + 25])
        for _ in range(20):
            disk.put(api)
        disk.spend_reserve(kept='2345')
        disk.refused(api)
        deleted = 0
        try:
            while deleted < PEBBLES:
                write(api, 'DeleteRequest', keys[deleted:deleted + 25])
                deleted += 25
        except ApiError as error:
            assert 'was not done' in error.message and 'kept back' in error.message, error
        disk.check(api)
        disk.give_back()
        disk.returns(api)
        while deleted < PEBBLES:
            write(api, 'DeleteRequest', keys[deleted:deleted + 25])
            deleted += 25
        assert not api.pages('Scan', {'TableName': 'pebbles'})
    disk.verify()


def repair_without_room(disk):
    """A repair that finds no room says how much it takes, and leaves nothing; with room it is done."""
    server = Server(disk.data)
    api = disk.api(server)
    disk.create(api)
    for _ in range(200):
        disk.put(api)
    server.kill()
    shutil.rmtree(os.path.join(disk.data, 'reserve'))
    new, before = disk.data + '-new', sorted(os.listdir(os.path.dirname(disk.data)))
    for free in (0, 1 << 20, 8 << 20, 20 << 20, 30 << 20):
        disk.take_rest()
        os.truncate(disk.other, os.path.getsize(disk.other) - free)
        done = subprocess.run([BINARY, 'repair', disk.data, '--to', new], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 1 and done.stdout == '', (free, done)
        assert 'the disk is full: a repair of' in done.stderr and ' takes up to ' in done.stderr, (free, done.stderr)
        assert sorted(os.listdir(os.path.dirname(disk.data))) == [*before, 'other'], os.listdir(os.path.dirname(disk.data))
    disk.give_back()
    shutil.move(disk.data, disk.elsewhere)
    done = subprocess.run([BINARY, 'repair', disk.elsewhere, '--to', disk.data], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, (done.stdout, done.stderr)
    disk.verify()


TESTS = (filled_by_itself, other_takes_rest, starts_without_room, reserve_is_used_up, memory_is_used_up, repair_without_room)


def main():
    failed = 0
    tests = [test for test in TESTS if test.__name__ in sys.argv[2:]] or TESTS
    for test in tests:
        directory = os.path.join(sys.argv[1], test.__name__)
        os.mkdir(directory)
        try:
            test(Disk(directory))
        except Exception as error:
            print(f'{test.__name__}: {type(error).__name__}: {error}'[:2000])
            failed += 1
        shutil.rmtree(directory)
    print(f'{len(tests) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
