"""What is compared after a restart: the clients' memories, indexes, counts and sizes, the bank, the registers."""
import time

from clients import (ACCOUNTS, BALANCE, BANK, EXTRA, EXTRA_INDEX, LOAD, REGISTERS, N, S, thing_of)
from dolmen import ApiError
from linear import linearizable
from wire import Problem

ALL = None
# index -> (its key, what it has)
INDEXES = {
    LOAD: {'byColor': ({'color', 'seq'}, {'pk', 'sk', 'color', 'seq'}),
           'byOwner': ({'owner'}, {'pk', 'sk', 'owner', 'seq', 'n'}),
           'bySeq': ({'seq'}, ALL),
           EXTRA_INDEX: ({'extra'}, ALL)},
    BANK: {'byPayer': ({'from'}, {'pk', 'from', 'amount'})},
    REGISTERS: {},
    EXTRA: {},
}


def create_tables(api):
    def key(*names):
        return [{'AttributeName': name, 'KeyType': role} for name, role in zip(names, ('HASH', 'RANGE'))]

    def index(name, schema, *attributes, kind='INCLUDE'):
        projection = {'ProjectionType': kind, **({'NonKeyAttributes': list(attributes)} if attributes else {})}
        return {'IndexName': name, 'KeySchema': schema, 'Projection': projection}

    def table(name, schema, attributes, **more):
        api.call('CreateTable', {
            'TableName': name, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': schema, **more,
            'AttributeDefinitions': [{'AttributeName': n, 'AttributeType': t} for n, t in attributes.items()]})
    table(LOAD, key('pk', 'sk'), {'pk': 'S', 'sk': 'S', 'color': 'S', 'seq': 'N', 'owner': 'S'},
          GlobalSecondaryIndexes=[index('byColor', key('color', 'seq'), kind='KEYS_ONLY'),
                                  index('byOwner', key('owner'), 'seq', 'n')],
          LocalSecondaryIndexes=[index('bySeq', key('pk', 'seq'), kind='ALL')])
    table(BANK, key('pk'), {'pk': 'S', 'from': 'S'}, GlobalSecondaryIndexes=[index('byPayer', key('from'), 'amount')])
    table(REGISTERS, key('pk'), {'pk': 'S'})
    api.call('BatchWriteItem', {'RequestItems': {BANK: [
        {'PutRequest': {'Item': {'pk': S(f'account-{i}'), 'balance': N(BALANCE)}}} for i in range(ACCOUNTS)]}})


def number_size(text):
    """Two decimal digits to a byte, aligned to even powers of ten, and one for the sign and exponent."""
    digits = text.lstrip('-')
    if digits == '0':
        return 1
    digits = digits.rjust(len(digits) + len(digits) % 2, '0')
    while digits.endswith('00'):
        digits = digits[:-2]
    return 1 + len(digits) // 2 + text.startswith('-')


def size(item):
    total = 0
    for name, value in item.items():
        (kind, content), = value.items()
        total += len(name) + (number_size(content) if kind == 'N' else len(content))
    return total


def order(item):
    return item['pk']['S'], item.get('sk', item['pk'])['S']


def compare(what, expected, actual):
    if sorted(expected, key=order) == sorted(actual, key=order):
        return
    expected, actual = ({order(item): item for item in items} for items in (expected, actual))
    wrong = [key for key in {**expected, **actual} if expected.get(key) != actual.get(key)][:3]
    raise Problem(f'{what} has {len(actual)} entries, the table gives {len(expected)}; for example '
                  + '; '.join(f'{key}: expected {expected.get(key)}, found {actual.get(key)}' for key in wrong), 'index')


def settled(api, name, seconds=10):
    """The table's description when nothing of it is in the making or going away any more; None if there is none."""
    end = time.monotonic() + seconds
    while True:
        try:
            table = api.call('DescribeTable', {'TableName': name})['Table']
        except ApiError as error:
            if error.name == 'ResourceNotFoundException':
                return None
            raise Problem(f'DescribeTable {name}: {error}')
        states = {table['TableStatus']} | {index['IndexStatus'] for index in table.get('GlobalSecondaryIndexes', [])}
        if states == {'ACTIVE'}:
            return table
        if time.monotonic() > end:
            raise Problem(f'{name} is still {states} after {seconds} s')
        time.sleep(0.005)


def check_table(api, name, observed):
    """Its items into `observed`; its indexes, counts and sizes against them."""
    table = settled(api, name)
    if table is None:
        if name != EXTRA:
            raise Problem(f'the table {name} is gone')
        return []
    observed[(name,)] = True
    items = api.pages('Scan', {'TableName': name})
    for item in items:
        if thing_of(name, item) in observed:
            raise Problem(f'the scan of {name} gave an item twice: {item}', 'index')
        observed[thing_of(name, item)] = item
    check_counts(name, items, table['ItemCount'], table['TableSizeBytes'])
    for index in table.get('GlobalSecondaryIndexes', []) + table.get('LocalSecondaryIndexes', []):
        title = index['IndexName']
        observed[(title,)] = True
        key, names = INDEXES[name][title]
        expected = [{n: v for n, v in item.items() if names is ALL or n in names} for item in items if key <= item.keys()]
        compare(f'{name}.{title}', expected, api.pages('Scan', {'TableName': name, 'IndexName': title}))
        check_counts(f'{name}.{title}', expected, index['ItemCount'], index['IndexSizeBytes'])
    return items


def check_counts(what, items, count, bytes_):
    if count != len(items) or bytes_ != sum(map(size, items)):
        raise Problem(f'{what} says {count} items of {bytes_} bytes, but has {len(items)} of {sum(map(size, items))}', 'index')


def check_bank(items):
    balances = {item['pk']['S']: int(item['balance']['N']) for item in items if 'balance' in item}
    expected = {f'account-{i}': BALANCE for i in range(ACCOUNTS)}
    for item in items:
        if 'amount' in item:
            expected[item['from']['S']] -= int(item['amount']['N'])
            expected[item['to']['S']] += int(item['amount']['N'])
    if balances != expected:
        raise Problem(f'the accounts are {balances}, by the receipts they must be {expected}', 'half')


def check_registers(world, items):
    """(registers, how many of them were too hard to decide)"""
    values = {item['pk']['S']: int(item['v']['N']) for item in items}
    undecided = 0
    for key, history in world.histories.items():
        history = [tuple(entry) for entry in history] + [(world.tick(), world.tick(), 'read', None, values.get(key))]
        verdict = linearizable(history)
        if verdict is False:
            raise Problem(f'the history of register {key} is not linearizable: {sorted(history)}')
        undecided += verdict is None
    count = len(world.histories)
    world.histories = {}
    return count, undecided


def verify(api, world, memories, registers=True):
    observed = {}
    items = {name: check_table(api, name, observed) for name in INDEXES}
    check_bank(items[BANK])
    for memory in memories:
        memory.check(observed)
    for thing in observed:
        if thing[0] in (LOAD, EXTRA) and len(thing) == 2 and not any(thing in memory.known for memory in memories):
            raise Problem(f'{thing} is there, but nobody wrote it')
    if not registers:
        world.histories = {}
        return 0, 0
    return check_registers(world, items[REGISTERS])
