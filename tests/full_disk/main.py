"""A server whose disk becomes full: nothing that was acknowledged is lost, and there is a way out.

    main.py DIRECTORY    of a small file system; tests/full_disk/run makes one
"""
import http.client
import json
import os
import subprocess
import sys
import time

from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 60  # seconds: whoever waits longer waits for ever
OPTIONS = ('--write-buffer', '4M')
RETURNED = 5  # writes that must be taken again, one behind the other


def pad():
    """What cannot be compressed."""
    return os.urandom(45000).hex()


def patiently(call):
    """After a table that did not fit, the store needs a moment to find room and recover."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except ApiError as error:
            assert error.status == 500 and time.monotonic() < end, error
            time.sleep(0.05)


class Disk:
    def __init__(self, directory):
        self.data = os.path.join(directory, 'data')
        self.tried = 0
        self.items = {}  # acknowledged, by key: the value
        self.unknown = {}  # likewise, of writes that ended so: they may be there

    def put(self, api, key):
        value = pad()
        try:
            api.call('PutItem', {'TableName': 'stones', 'Item': {'k': {'S': key}, 'v': {'S': value}}})
            self.items[key] = value
        except ApiError as error:
            if 'not known whether' in error.message:
                self.unknown[key] = value
            raise

    def delete(self, api, count):
        for key in sorted(self.items)[:count]:
            patiently(lambda: self.free(api, key))
            del self.items[key]

    @staticmethod
    def free(api, key):
        """What frees room is not refused for want of it."""
        try:
            api.call('DeleteItem', {'TableName': 'stones', 'Key': {'k': {'S': key}}})
        except ApiError as error:
            assert 'is full' not in error.message, error
            raise

    def check(self, api):
        """Everything that was acknowledged is there, and nothing else."""
        found = {item['k']['S']: item['v']['S'] for item in api.pages('Scan', {'TableName': 'stones'})}
        found = {key: value for key, value in found.items() if key in self.items or self.unknown.get(key) != value}
        assert found.keys() == self.items.keys(), (sorted(self.items.keys() - found), sorted(found.keys() - self.items))
        assert found == self.items, 'a value is not the one that was acknowledged'

    def fill(self, api):
        """Until a write is refused; the error."""
        while self.tried < 5000:
            self.tried += 1
            try:
                self.put(api, f'{self.tried:06}')
            except ApiError as error:
                return error
        raise AssertionError('the disk does not become full')


def health(server):
    connection = http.client.HTTPConnection(server.endpoint.split('//')[1], timeout=30)
    connection.request('GET', '/health')
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def becomes_full(disk):
    """The refusal is clean; reads and deletes go on."""
    with Server(disk.data, *OPTIONS) as server:
        api = Api(server.endpoint)
        api.call('CreateTable', {'TableName': 'stones', 'BillingMode': 'PAY_PER_REQUEST',
                                 'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                                 'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})
        error = disk.fill(api)
        assert (error.status, error.name) == (500, 'InternalServerError'), error
        # It was refused because the disk is full, or a table did not fit any more; both are said.
        assert 'is full' in error.message or 'No space left' in error.message, error
        assert 'was not done' in error.message or disk.unknown, error
        assert disk.data not in error.message.replace(f'the disk of {disk.data} is full', ''), error
        assert len(disk.items) > 200, len(disk.items)
        status, document = health(server)
        assert status == 503 and 'is full' in document['writes']['reason'], document
        disk.check(api)
        for _ in range(20):
            disk.fill(api)
            disk.delete(api, 1)
        disk.check(api)


def starts_full(disk):
    """A start on the full disk serves reads and deletes."""
    server = Server(disk.data, *OPTIONS)
    api = Api(server.endpoint)
    disk.check(api)
    disk.delete(api, 20)
    disk.check(api)
    server.kill()


def has_room_again(disk):
    """Once there is room, writes are taken again, without a restart."""
    with Server(disk.data, *OPTIONS) as server:
        api = Api(server.endpoint)
        disk.check(api)
        disk.delete(api, len(disk.items) - 50)
        for number in range(RETURNED):
            patiently(lambda: disk.put(api, f'again{number}'))
        disk.check(api)


def is_sound(disk):
    done = subprocess.run([BINARY, 'verify', disk.data], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    with Server(disk.data, *OPTIONS) as server:
        disk.check(Api(server.endpoint))


def main():
    disk = Disk(sys.argv[1])
    tests = (becomes_full, starts_full, has_room_again, is_sound)  # each goes on where the one before has ended
    for passed, test in enumerate(tests):
        try:
            test(disk)
        except Exception as error:
            print(f'{test.__name__}: {type(error).__name__}: {error}'[:2000])
            print(f'{passed} passed, 1 failed')
            return 1
    print(f'{len(tests)} passed, 0 failed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
