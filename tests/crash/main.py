"""Crashes: the server is loaded from several connections and killed by kill -9 at a random moment.

After each restart on the same directory
  - every acknowledged write is there; of each connection the one write that had no answer yet may be there or not;
  - what a reader saw is still there (nothing is visible before it is durable);
  - transactions over two items are whole: both items are equal;
  - each index has exactly the entries that the items of the table give, and the counts are exact.

Every writer owns its keys, so that it knows what they must be; all of them share one counter.
"""
import http.client
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback

from dolmen import Api, ApiError, Server

TABLE = 'crash'
WRITERS = 6
ROUNDS = int(os.environ.get('ROUNDS', '20'))
INDEXES = {
    'byColor': ({'color', 'seq'}, {'pk', 'color', 'seq'}),             # its key, what it has (KEYS_ONLY)
    'byOwner': ({'owner'}, {'pk', 'owner', 'seq', 'note'}),            # INCLUDE
}


class Lost(AssertionError):
    pass


def create(api):
    def attribute(name, kind):
        return {'AttributeName': name, 'AttributeType': kind}

    def key(*names):
        return [{'AttributeName': n, 'KeyType': r} for n, r in zip(names, ('HASH', 'RANGE'))]
    api.call('CreateTable', {
        'TableName': TABLE, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': key('pk'),
        'AttributeDefinitions': [attribute('pk', 'S'), attribute('color', 'S'), attribute('seq', 'N'), attribute('owner', 'S')],
        'GlobalSecondaryIndexes': [
            {'IndexName': 'byColor', 'KeySchema': key('color', 'seq'), 'Projection': {'ProjectionType': 'KEYS_ONLY'}},
            {'IndexName': 'byOwner', 'KeySchema': key('owner'),
             'Projection': {'ProjectionType': 'INCLUDE', 'NonKeyAttributes': ['seq', 'note']}},
        ],
    })


class Writer:
    """One connection. `known` is what was acknowledged, `pending` what was asked last: key -> item or None."""

    def __init__(self, number, seed):
        self.number = number
        self.random = random.Random(f'{seed}/{number}')
        self.known = {}
        self.pending = {}
        self.counted = 0
        self.seq = 0
        self.writes = 0
        self.problem = None

    def run(self, endpoint, stop):
        api = Api(endpoint, timeout=10)
        try:
            while not stop.is_set():
                self.step(api)
        except (OSError, http.client.HTTPException):
            pass  # The server was killed.
        except ApiError as error:
            self.problem = f'writer {self.number}: {error}'
        except Exception:
            self.problem = traceback.format_exc()

    def item(self, name):
        self.seq += 1
        item = {'pk': {'S': name}, 'seq': {'N': str(self.seq)}, 'owner': {'S': f'w{self.number}'},
                'note': {'S': 'x' * self.random.randrange(200)}}
        if self.random.random() < 0.7:
            item['color'] = {'S': self.random.choice(['red', 'green', 'blue'])}
        return item

    def attempt(self, changes, call):
        """Calls; while it lasts the changes are pending, then they are known."""
        self.pending = changes
        call()
        self.known.update(changes)
        self.pending = {}
        self.writes += 1

    def step(self, api):
        name = f'item-{self.number}-{self.random.randrange(40)}'
        choice = self.random.randrange(10)
        if choice < 3:
            item = self.item(name)
            self.attempt({name: item}, lambda: api.call('PutItem', {'TableName': TABLE, 'Item': item}))
        elif choice == 3:
            self.attempt({name: None}, lambda: api.call('DeleteItem', {'TableName': TABLE, 'Key': {'pk': {'S': name}}}))
        elif choice == 4:
            items = {f'item-{self.number}-{i}': self.item(f'item-{self.number}-{i}') for i in self.random.sample(range(40), 5)}
            self.attempt(items, lambda: api.call('BatchWriteItem', {
                'RequestItems': {TABLE: [{'PutRequest': {'Item': item}} for item in items.values()]}}))
        elif choice < 7:
            self.transact(api)
        else:
            self.count(api)

    def transact(self, api):
        """Two items that are always equal, and the shared counter with them now and then."""
        pair = self.random.randrange(5)
        names = [f'pair-{self.number}-{pair}-{side}' for side in 'ab']
        first = self.item(names[0])
        items = {names[0]: first, names[1]: {**first, 'pk': {'S': names[1]}}}
        self.attempt(items, lambda: api.call('TransactWriteItems', {
            'TransactItems': [{'Put': {'TableName': TABLE, 'Item': item}} for item in items.values()]}))

    def count(self, api):
        """One more on the writer's own counter and on the shared one, in one transaction."""
        def add(name):
            return {'Update': {'TableName': TABLE, 'Key': {'pk': {'S': name}}, 'UpdateExpression': 'ADD n :one',
                               'ExpressionAttributeValues': {':one': {'N': '1'}}}}
        name = f'counter-{self.number}'
        new = {'pk': {'S': name}, 'n': {'N': str(self.counted + 1)}}
        self.attempt({name: new}, lambda: api.call('TransactWriteItems', {'TransactItems': [add(name), add('shared')]}))
        self.counted += 1

    def check(self, stored):
        """Compares with what is stored, and takes over what turned out to be there."""
        for name, expected in self.known.items():
            actual = stored.get(name)
            if actual == expected or (name in self.pending and actual == self.pending[name]):
                continue
            raise Lost(f'{name}: expected {expected}, pending {self.pending.get(name)}, found {actual}')
        there = [name for name, item in self.pending.items() if stored.get(name) == item]
        batch = len(self.pending) == 5
        if self.pending and not batch and len(there) not in (0, len(self.pending)) and not self.unchanged():
            raise Lost(f'half a transaction: {self.pending} but only {there}')
        for name in self.pending:
            self.known[name] = stored.get(name)
        self.pending = {}
        counter = stored.get(f'counter-{self.number}')
        self.counted = int(counter['n']['N']) if counter else 0

    def unchanged(self):
        return all(self.known.get(name) == item for name, item in self.pending.items())


class Reader:
    """Reads the shared counter; what was seen once may not go away."""

    def __init__(self):
        self.seen = 0

    def run(self, endpoint, stop):
        api = Api(endpoint, timeout=10)
        try:
            while not stop.is_set():
                answer = api.call('GetItem', {'TableName': TABLE, 'Key': {'pk': {'S': 'shared'}}, 'ConsistentRead': True})
                self.seen = max(self.seen, int(answer.get('Item', {'n': {'N': '0'}})['n']['N']))
        except (OSError, http.client.HTTPException):
            pass


def verify(api, writers, reader):
    items = api.pages('Scan', {'TableName': TABLE})
    stored = {item['pk']['S']: item for item in items}
    if len(stored) != len(items):
        raise Lost('the scan gave an item twice')
    for writer in writers:
        writer.check(stored)
        for pair in range(5):
            a, b = (stored.get(f'pair-{writer.number}-{pair}-{side}') for side in 'ab')
            if (a is None) != (b is None) or (a and {**a, 'pk': None} != {**b, 'pk': None}):
                raise Lost(f'half a transaction: {a} and {b}')
    shared = int(stored.get('shared', {'n': {'N': '0'}})['n']['N'])
    total = sum(writer.counted for writer in writers)
    if shared != total:
        raise Lost(f'the shared counter is {shared}, the others add up to {total}')
    if shared < reader.seen:
        raise Lost(f'a reader saw {reader.seen}, but the counter is {shared}')
    table = api.call('DescribeTable', {'TableName': TABLE})['Table']
    if table['ItemCount'] != len(items):
        raise Lost(f'ItemCount is {table["ItemCount"]}, there are {len(items)} items')
    for index in table['GlobalSecondaryIndexes']:
        key, names = INDEXES[index['IndexName']]
        expected = [{n: v for n, v in item.items() if n in names} for item in items if key <= item.keys()]
        actual = api.pages('Scan', {'TableName': TABLE, 'IndexName': index['IndexName'], 'Limit': 50})

        def by_key(item):
            return item['pk']['S']
        if sorted(actual, key=by_key) != sorted(expected, key=by_key):
            raise Lost(f'{index["IndexName"]} has {len(actual)} entries, the table gives {len(expected)}')
        if index['ItemCount'] != len(expected):
            raise Lost(f'{index["IndexName"]}: ItemCount is {index["ItemCount"]}, not {len(expected)}')
    return shared


def crash(server, writers, reader, seconds):
    stop = threading.Event()
    threads = [threading.Thread(target=one.run, args=(server.endpoint, stop)) for one in [*writers, reader]]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join(20)
    for writer in writers:
        if writer.problem:
            raise Lost(writer.problem)


def main():
    if os.environ.get('DOLMEN_ENDPOINT'):
        print('this suite needs a server of its own\n0 passed, 0 failed')
        return 0
    seed = os.environ.get('SEED') or str(random.SystemRandom().randrange(10**9))
    print(f'SEED={seed}', flush=True)
    moments = random.Random(seed)
    directory = tempfile.mkdtemp(prefix='dolmen-crash.')
    writers = [Writer(number, seed) for number in range(WRITERS)]
    reader = Reader()
    passed = 0
    server = None
    try:
        server = Server(directory)
        create(Api(server.endpoint))
        for number in range(ROUNDS):
            crash(server, writers, reader, moments.uniform(0.3, 2.0))
            start = time.time()
            server = Server(directory)
            opened = time.time() - start
            verify(Api(server.endpoint), writers, reader)
            passed += 1
            if os.environ.get('VERBOSE'):
                print(f'crash {number}: {sum(w.writes for w in writers)} writes so far, open in {opened:.2f} s, checked in '
                      f'{time.time() - start - opened:.2f} s', flush=True)
        server.stop()
        shutil.rmtree(directory)
    except (Lost, RuntimeError) as error:
        print(f'FAIL crash {passed} (the data is in {directory})\n    {error}')
        print(f'{passed} passed, 1 failed')
        return 1
    finally:
        if server is not None and server.process.poll() is None:
            server.kill()
    print(f'{passed} passed, 0 failed')
    return 0


sys.exit(main())
