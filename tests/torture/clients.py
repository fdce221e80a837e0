"""The clients that load the server; each remembers what it was told.

Writer    puts, updates, deletes, conditions, transactions and batches on its own items of `load`
Keeper    makes and drops a table, and an index of `load` while it is written
Payer     the bank: transfers between accounts that all payers share, each with a receipt
Auditor   the bank's total, by TransactGetItems
Racer     reads and conditional writes on registers that all racers share, for the check of linearizability

While `world.fault` is set a write may fail with InternalServerError; it must then be invisible as a whole. Reads
never fail.
"""
import random

from wire import Problem, call

LOAD, BANK, REGISTERS, EXTRA = 'load', 'bank', 'registers', 'extra'
EXTRA_INDEX = 'byExtra'
ACCOUNTS, BALANCE = 12, 1000
ITEMS = 30
COLORS = ('red', 'green', 'blue', 'black')


def S(text):
    return {'S': text}


def N(number):
    return {'N': str(number)}


class World:
    """What the clients of one data directory share."""

    def __init__(self, seed, large):
        self.seed = seed
        self.large = large    # how many of a writer's items are large
        self.clock = 0        # events of the one thread
        self.fault = None     # None, or the fault that is on now, or was since the server started
        self.strict_from = None  # writes sent after this must not be acknowledged
        self.histories = {}   # register -> operations
        self.round = 0
        self.failures = 0     # writes that failed
        self.successes = 0    # writes acknowledged since it was last set to 0
        self.audits = 0

    def tick(self):
        self.clock += 1
        return self.clock


class Client:
    def __init__(self, world, name):
        self.world, self.name = world, name
        self.random = random.Random(f'{world.seed}/{name}')
        self.memory = None
        self.failing = 0  # writes that failed one after the other

    def run(self):
        while True:
            yield from self.step()

    def read(self, operation, request):
        answer = yield call(operation, request)
        if not answer.ok:
            raise Problem(f'{self.name}: {operation} failed: {answer}')
        return answer.document

    def write(self, operation, request, change, unit=True, refusals=()):
        """Writes; the answer, or None if it failed and is in doubt. A refusal that is expected is an answer."""
        memory, world = self.memory, self.world
        memory.ask(change, unit)
        sent = world.tick()
        answer = yield call(operation, request)
        if answer.ok:
            self.leave_out(answer, change)
            writes = any(memory.value(thing) != value for thing, value in change.items())
            if writes and world.strict_from is not None and sent > world.strict_from:
                raise Problem(f'{self.name}: {operation} was acknowledged although no write or sync can succeed: {answer}')
            memory.accept()
            world.successes += 1
            self.failing = 0
            return answer
        if answer.error in refusals:
            memory.refuse()
            return answer
        self.failed(operation, answer)
        memory.doubt()
        yield from self.check_unseen(change, unit or 'not known' not in str(answer))
        self.failing += 1
        yield self.random.uniform(0.002, 0.03) if self.failing < 5 else self.random.uniform(0.1, 0.3)
        return None

    def leave_out(self, answer, change):
        """A disk that fails between two parts of a batch leaves the rest of it undone."""
        entries = [(table, entry) for table, entries in (answer.document.get('UnprocessedItems') or {}).items() for entry in entries]
        if entries and self.world.fault is None:
            raise Problem(f'{self.name}: unprocessed items: {answer}')
        for table, entry in entries:
            thing = thing_of(table, (entry.get('PutRequest') or entry['DeleteRequest']).popitem()[1])
            change.pop(thing)
            self.memory.asked[0].pop(thing)

    def failed(self, operation, answer):
        if self.world.fault is None or answer.error != 'InternalServerError' or answer.status != 500:
            raise Problem(f'{self.name}: {operation} failed: {answer}')
        self.world.failures += 1

    def check_unseen(self, change, whole):
        """A write that failed changes nothing that a reader sees. If its end is not known, the first entries of a batch
        may have been done."""
        things = [thing for thing in change if len(thing) == 2]
        if not things:
            return
        found = yield from self.read('TransactGetItems', {'TransactItems': [
            {'Get': {'TableName': table, 'Key': key_of(table, key)}} for table, key in things]})
        done = not whole
        for thing, response in zip(things, found['Responses']):
            done = done and response.get('Item') == change[thing]
            if done:
                self.memory.known[thing] = change[thing]
            elif response.get('Item') != self.memory.value(thing):
                raise Problem(f'{self.name}: a write failed, but of {things} {thing} is now {response.get("Item")}', 'half')


def key_of(table, key):
    return {'pk': S(key[0]), 'sk': S(key[1])} if table == LOAD else {'pk': S(key)}


def thing_of(table, item):
    return (table, (item['pk']['S'], item['sk']['S'])) if table == LOAD else (table, item['pk']['S'])


class Writer(Client):
    def __init__(self, world, name, memory):
        super().__init__(world, name)
        self.memory = memory
        self.sequence = 0

    def item(self, key):
        self.sequence += 1
        note = self.random.randrange(300)
        if self.random.random() < self.world.large:
            note = self.random.randrange(350000)
        item = {'pk': S(key[0]), 'sk': S(key[1]), 'seq': N(self.sequence), 'owner': S(self.name), 'n': N(0),
                'note': S('x' * note)}
        if self.random.random() < 0.6:
            item['color'] = S(self.random.choice(COLORS))
        if self.random.random() < 0.5:
            item['extra'] = N(self.random.randrange(-5, 200))
        return item

    def keys(self, count):
        return [(self.name, f'i{number:02}') for number in self.random.sample(range(ITEMS), count)]

    def step(self):
        key = self.keys(1)[0]
        choice = self.random.randrange(100)
        if choice < 25:
            yield from self.put(key)
        elif choice < 45:
            yield from self.update(key)
        elif choice < 53:
            yield from self.write('DeleteItem', {'TableName': LOAD, 'Key': key_of(LOAD, key)}, {(LOAD, key): None})
        elif choice < 65:
            yield from self.put_if(key)
        elif choice < 90:
            yield from self.transact()
        else:
            yield from self.batch()

    def put(self, key):
        item = self.item(key)
        yield from self.write('PutItem', {'TableName': LOAD, 'Item': item}, {(LOAD, key): item})

    def updated(self, key):
        """(the request of an update, the item it leads to)"""
        self.sequence += 1
        values = {':seq': N(self.sequence), ':owner': S(self.name), ':one': N(1)}
        old = self.memory.value((LOAD, key)) or {'pk': S(key[0]), 'sk': S(key[1]), 'n': N(0)}
        new = {**old, 'seq': values[':seq'], 'owner': values[':owner'], 'n': N(int(old['n']['N']) + 1)}
        text = 'SET seq = :seq, #o = :owner'
        if self.random.random() < 0.5:
            values[':color'] = new['color'] = S(self.random.choice(COLORS))
            text += ', color = :color'
        else:
            new.pop('color', None)
            text += ' REMOVE color'
        return {'TableName': LOAD, 'Key': key_of(LOAD, key), 'UpdateExpression': text + ' ADD n :one',
                'ExpressionAttributeNames': {'#o': 'owner'}, 'ExpressionAttributeValues': values}, new

    def update(self, key):
        request, new = self.updated(key)
        answer = yield from self.write('UpdateItem', {**request, 'ReturnValues': 'ALL_NEW'}, {(LOAD, key): new})
        if answer and answer.document['Attributes'] != new:
            raise Problem(f'{self.name}: the update gave {answer}, not {new}')

    def put_if(self, key):
        """A condition that holds, or one that does not."""
        old, holds = self.memory.value((LOAD, key)), self.random.random() < 0.7
        item = self.item(key)
        request = {'TableName': LOAD, 'Item': item, 'ConditionExpression': 'attribute_not_exists(pk)'}
        if (old is not None) == holds:
            number = old['seq'] if holds else N(-1)
            request.update({'ConditionExpression': 'seq = :seq', 'ExpressionAttributeValues': {':seq': number}})
        answer = yield from self.write('PutItem', request, {(LOAD, key): item}, refusals=('ConditionalCheckFailedException',))
        if answer and answer.ok != holds:
            raise Problem(f'{self.name}: on {old} the condition of {request} gave {answer}')

    def transact(self):
        keys = self.keys(self.random.randint(2, 5))
        change, actions = {}, []
        for key in keys:
            choice = self.random.random()
            if choice < 0.5:
                change[LOAD, key] = self.item(key)
                actions.append({'Put': {'TableName': LOAD, 'Item': change[LOAD, key]}})
            elif choice < 0.85:
                request, change[LOAD, key] = self.updated(key)
                actions.append({'Update': request})
            else:
                change[LOAD, key] = None
                actions.append({'Delete': {'TableName': LOAD, 'Key': key_of(LOAD, key)}})
        holds = self.random.random() < 0.9
        actions.append({'ConditionCheck': {
            'TableName': LOAD, 'Key': key_of(LOAD, (self.name, 'never')),
            'ConditionExpression': 'attribute_not_exists(pk)' if holds else 'attribute_exists(pk)'}})
        request = {'TransactItems': actions}
        if self.random.random() < 0.3:
            request['ClientRequestToken'] = f'{self.name}-{self.random.getrandbits(60)}'
        answer = yield from self.write('TransactWriteItems', request, change, refusals=('TransactionCanceledException',))
        if answer and answer.ok != holds:
            raise Problem(f'{self.name}: a transaction gave {answer}')
        if answer and answer.ok and 'ClientRequestToken' in request and self.random.random() < 0.3:
            yield from self.write('TransactWriteItems', request, {})  # again: it must change nothing

    def batch(self):
        requests, change = [], {}
        for key in self.keys(self.random.randint(2, 12)):
            if self.random.random() < 0.8:
                change[LOAD, key] = self.item(key)
                requests.append({'PutRequest': {'Item': change[LOAD, key]}})
            else:
                change[LOAD, key] = None
                requests.append({'DeleteRequest': {'Key': key_of(LOAD, key)}})
        yield from self.write('BatchWriteItem', {'RequestItems': {LOAD: requests}}, change, unit=False)


class Keeper(Client):
    """Its things are (name,) for a table or an index: None or True."""

    def __init__(self, world, name, memory):
        super().__init__(world, name)
        self.memory = memory

    def step(self):
        yield self.random.uniform(0.005, 0.05)
        if self.random.random() < 0.4:
            yield from self.change_index()
        elif not self.memory.value((EXTRA,)):
            yield from self.create()
        elif self.random.random() < 0.3:
            yield from self.drop()
        else:
            yield from self.put()

    def create(self):
        request = {'TableName': EXTRA, 'BillingMode': 'PAY_PER_REQUEST',
                   'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                   'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]}
        if (yield from self.write('CreateTable', request, {(EXTRA,): True})):
            while (yield from self.describe(EXTRA))['TableStatus'] != 'ACTIVE':
                yield 0.005

    def drop(self):
        change = {thing: None for thing in self.memory.known if thing[0] == EXTRA}
        if (yield from self.write('DeleteTable', {'TableName': EXTRA}, change)):
            while (yield from self.describe(EXTRA)):
                yield 0.005

    def put(self):
        item = {'pk': S(f'e{self.random.randrange(50)}'), 'v': N(self.random.getrandbits(50))}
        yield from self.write('PutItem', {'TableName': EXTRA, 'Item': item}, {thing_of(EXTRA, item): item})

    def describe(self, table):
        answer = yield call('DescribeTable', {'TableName': table})
        if answer.ok:
            return answer.document['Table']
        if answer.error != 'ResourceNotFoundException':
            raise Problem(f'{self.name}: DescribeTable failed: {answer}')
        return None

    def index_status(self):
        table = yield from self.describe(LOAD)
        found = [index['IndexStatus'] for index in table['GlobalSecondaryIndexes'] if index['IndexName'] == EXTRA_INDEX]
        return found[0] if found else None

    def change_index(self):
        exists = self.memory.value((EXTRA_INDEX,))
        if exists:
            update = {'Delete': {'IndexName': EXTRA_INDEX}}
        else:
            update = {'Create': {'IndexName': EXTRA_INDEX, 'Projection': {'ProjectionType': 'ALL'},
                                 'KeySchema': [{'AttributeName': 'extra', 'KeyType': 'HASH'}]}}
        request = {'TableName': LOAD, 'GlobalSecondaryIndexUpdates': [update],
                   'AttributeDefinitions': [{'AttributeName': 'extra', 'AttributeType': 'N'}]}
        if (yield from self.write('UpdateTable', request, {(EXTRA_INDEX,): None if exists else True})):
            while (yield from self.index_status()) != (None if exists else 'ACTIVE'):
                yield 0.005


class Payer(Client):
    def __init__(self, world, name, memory):
        super().__init__(world, name)
        self.memory = memory
        self.count = 0

    def step(self):
        a, b = self.random.sample(range(ACCOUNTS), 2)
        amount = self.random.randint(1, 200)
        self.count += 1
        receipt = {'pk': S(f'{self.name}-{self.count}'), 'from': S(f'account-{a}'), 'to': S(f'account-{b}'), 'amount': N(amount)}

        def move(account, sign, condition):
            return {'Update': {'TableName': BANK, 'Key': {'pk': S(f'account-{account}')},
                               'UpdateExpression': f'SET balance = balance {sign} :a', 'ConditionExpression': condition,
                               'ExpressionAttributeValues': {':a': N(amount)}}}
        yield from self.write('TransactWriteItems', {'TransactItems': [
            move(a, '-', 'balance >= :a'), move(b, '+', 'attribute_exists(balance)'),
            {'Put': {'TableName': BANK, 'Item': receipt, 'ConditionExpression': 'attribute_not_exists(pk)'}},
        ]}, {thing_of(BANK, receipt): receipt}, refusals=('TransactionCanceledException',))


class Auditor(Client):
    def step(self):
        found = yield from self.read('TransactGetItems', {'TransactItems': [
            {'Get': {'TableName': BANK, 'Key': {'pk': S(f'account-{i}')}}} for i in range(ACCOUNTS)]})
        balances = [int(response['Item']['balance']['N']) for response in found['Responses']]
        if sum(balances) != ACCOUNTS * BALANCE or min(balances) < 0:
            raise Problem(f'the bank has {sum(balances)} instead of {ACCOUNTS * BALANCE}: {balances}', 'half')
        self.world.audits += 1
        yield 0.002


class Racer(Client):
    KEYS = 3
    LENGTH = 150  # operations on a register, then the next one is taken: the search must end
    FAILURES = 2  # then it only reads: the search grows with each operation in doubt

    def __init__(self, world, name):
        super().__init__(world, name)
        self.seen = {}
        self.count = 0
        self.round, self.left = -1, 0

    def step(self):
        world = self.world
        if self.round != world.round:
            self.round, self.left, self.seen = world.round, self.FAILURES, {}
        key = self.register()
        kind = self.random.choice(('read', 'write', 'swap', 'swap', 'swap', 'insert', 'add')) if self.left > 0 else 'read'
        self.count += 1
        # No ADD leads from one racer's value to another's: what is there already is no write.
        argument = (self.count * 10 + int(self.name[-1])) * 1000
        item = {'pk': S(key), 'v': N(argument)}
        request = {'TableName': REGISTERS, 'Item': item}
        operation = 'PutItem'
        if kind == 'read':
            operation, request = 'GetItem', {'TableName': REGISTERS, 'Key': {'pk': S(key)}, 'ConsistentRead': True}
        elif kind == 'add':
            argument = None
            operation, request = 'UpdateItem', {
                'TableName': REGISTERS, 'Key': {'pk': S(key)}, 'UpdateExpression': 'ADD v :one', 'ReturnValues': 'UPDATED_NEW',
                'ExpressionAttributeValues': {':one': N(1)}}
        elif kind == 'swap':
            old = self.seen.get(key, 0)
            argument = (old, argument)
            request.update({'ConditionExpression': 'v = :old', 'ExpressionAttributeValues': {':old': N(old)}})
        elif kind == 'insert':
            request['ConditionExpression'] = 'attribute_not_exists(pk)'
        # In doubt until it is answered.
        entry = [world.tick(), None, kind, argument, None]
        world.histories.setdefault(key, []).append(entry)
        answer = yield call(operation, request)
        if not answer.ok and answer.error != 'ConditionalCheckFailedException':
            if kind == 'read':
                raise Problem(f'{self.name}: GetItem failed: {answer}')
            self.failed(operation, answer)
            self.left -= 1
            yield 0.01
            return
        if self.left <= 0:
            yield 0.02
        if answer.ok and kind != 'read' and world.strict_from is not None and entry[0] > world.strict_from:
            raise Problem(f'{self.name}: {operation} was acknowledged although no write or sync can succeed')
        self.note(entry, key, answer)

    def register(self):
        name = f'{self.round}-{self.random.randrange(self.KEYS)}'
        number = 0
        while len(self.world.histories.get(f'{name}-{number}', ())) >= self.LENGTH:
            number += 1
        return f'{name}-{number}'

    def note(self, entry, key, answer):
        kind, argument = entry[2], entry[3]
        if kind == 'read':
            item = answer.document.get('Item')
            entry[4] = self.seen[key] = int(item['v']['N']) if item else None
        elif kind == 'add':
            entry[4] = self.seen[key] = int(answer.document['Attributes']['v']['N'])
        elif kind in ('swap', 'insert'):
            entry[4] = answer.ok
        if answer.ok and kind in ('write', 'insert', 'swap'):
            self.seen[key] = argument[1] if kind == 'swap' else argument
        if self.seen.get(key) is None:
            self.seen.pop(key, None)
        entry[1] = self.world.tick()
