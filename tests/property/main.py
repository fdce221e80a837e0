"""Random operations on the server and on a naive reference: the answers must be the same.

A round makes a table with its own types of keys and works on it: puts, updates, deletes,
batches, transactions, queries and scans by pages of random size, the same by PartiQL, an index made and one deleted
in the middle. At the end every index is compared with what the table's items give, and the
counts of DescribeTable with the sums. SEED replays.
"""
import os
import random
import sys
import time
import traceback
import uuid

from dolmen import Api, ApiError, verify_database
from generate import Generator, NAMES, Places
from model import CONDITION, Failed, Index, Table, VALIDATION, clone, sorted_by
from partiql import Statements
from values import equal, freeze, item_size, order

FOREIGN = os.environ.get('DOLMEN_FOREIGN') == '1'
OPERATIONS = int(os.environ.get('OPERATIONS', '4000'))
CANCELED = 'TransactionCanceledException'
ROUNDS = [('S', 'N'), ('N', 'S'), ('B', 'B'), ('S', None)]


class Mismatch(AssertionError):
    pass


def require(condition, text, *details):
    if not condition:
        raise Mismatch('\n    '.join([text, *map(str, details)]))


def same_items(actual, expected, text):
    a = sorted(map(repr, map(sorted_item, actual)))
    b = sorted(map(repr, map(sorted_item, expected)))
    if a != b:
        raise Mismatch(f'{text}\n    only answered: {[x for x in a if x not in b][:3]}\n    only expected: {[x for x in b if x not in a][:3]}'
                       f'\n    {len(a)} answered, {len(b)} expected')


def sorted_item(item):
    return sorted((name, repr(sorted_value(value))) for name, value in item.items())


def sorted_value(value):
    (tag, body), = value.items()
    if tag in ('SS', 'NS', 'BS'):
        return tag, sorted(body)
    if tag == 'M':
        return tag, sorted((k, sorted_value(v)) for k, v in body.items())
    if tag == 'L':
        return tag, [sorted_value(v) for v in body]
    return tag, body


class Round(Statements):
    require = staticmethod(require)
    same_items = staticmethod(same_items)
    clone = staticmethod(clone)

    def __init__(self, api, seed, number):
        self.api = api
        self.random = random.Random(f'{seed}/{number}')
        hash_type, sort_type = ROUNDS[number]
        key = [('pk', hash_type)] + ([('sk', sort_type)] if sort_type else [])
        indexes = [
            Index('byColor', [('color', 'S'), ('weight', 'N')], ['note', 'free', 'marks']),
            Index('byLabel', [('label', 'B')], 'KEYS_ONLY'),
            Index('byClan', [('clan', 'N')] + ([('sk', sort_type)] if sort_type else []), 'ALL'),
        ]
        if sort_type:
            indexes.append(Index('local', [('pk', hash_type), ('score', 'S')], 'ALL', local=True))
            indexes.append(Index('localKeys', [('pk', hash_type), ('score2', 'N')], 'KEYS_ONLY', local=True))
        self.table = Table(f'property-{os.getpid()}-{number}', key, indexes)
        self.make = Generator(self.random, self.table)
        self.building = None
        self.counts = {}

    # ---- The table ------------------------------------------------------------------------

    def create(self):
        types = dict(self.table.key)
        for index in self.table.indexes.values():
            types.update(index.key)
        request = {
            'TableName': self.table.name, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': self.schema(self.table.key),
            'AttributeDefinitions': [{'AttributeName': n, 'AttributeType': t} for n, t in types.items()],
            'GlobalSecondaryIndexes': [self.index_request(i) for i in self.table.indexes.values() if not i.local],
        }
        local = [self.index_request(i) for i in self.table.indexes.values() if i.local]
        if local:
            request['LocalSecondaryIndexes'] = local
        self.api.call('CreateTable', request)

    @staticmethod
    def schema(key):
        return [{'AttributeName': name, 'KeyType': role} for (name, _), role in zip(key, ('HASH', 'RANGE'))]

    def index_request(self, index):
        projection = {'ProjectionType': index.projection} if isinstance(index.projection, str) else {
            'ProjectionType': 'INCLUDE', 'NonKeyAttributes': index.projection}
        return {'IndexName': index.name, 'KeySchema': self.schema(index.key), 'Projection': projection}

    def begin_index(self):
        index = Index('late', [('serial', 'N')], ['num', 'note'])
        self.table.indexes['late'] = index
        self.api.call('UpdateTable', {
            'TableName': self.table.name, 'AttributeDefinitions': [{'AttributeName': 'serial', 'AttributeType': 'N'}],
            'GlobalSecondaryIndexUpdates': [{'Create': self.index_request(index)}]})
        self.building = 'late'

    def drop_index(self):
        del self.table.indexes['byLabel']
        self.api.call('UpdateTable', {'TableName': self.table.name, 'GlobalSecondaryIndexUpdates': [{'Delete': {'IndexName': 'byLabel'}}]})
        self.building = 'byLabel'

    def look_at_index(self):
        """Whether the index under way is finished."""
        answer = self.api.call('DescribeTable', {'TableName': self.table.name})['Table']
        states = {i['IndexName']: i['IndexStatus'] for i in answer['GlobalSecondaryIndexes']}
        if self.building == 'byLabel' and self.building not in states or states.get(self.building) == 'ACTIVE' and self.building == 'late':
            self.building = None

    # ---- Writes ---------------------------------------------------------------------------

    def some_key(self):
        if self.table.items and self.random.random() < 0.5:
            return self.table.key_of(self.random.choice(list(self.table.items.values())))
        return self.make.key()

    def single_write(self):
        """A put, update or delete: (operation, its part of the request, key, change(old) -> new)."""
        places = Places()
        key = self.some_key()
        operation = self.random.choice(['Put', 'Put', 'Put', 'Update', 'Update', 'Update', 'Delete'])
        if operation == 'Put':
            item = self.make.item(dict(key))
            request, change = {'Item': item}, lambda old: item
        elif operation == 'Update':
            text, apply = self.make.update(places)
            request, change = {'Key': key, 'UpdateExpression': text}, lambda old: apply(old, key)
        else:
            request, change = {'Key': key}, lambda old: None
        condition = None
        if self.random.random() < 0.3:
            request['ConditionExpression'], condition = self.make.condition(places)
            if self.random.random() < 0.5:
                request['ReturnValuesOnConditionCheckFailure'] = 'ALL_OLD'
        request.update(places.request())
        request['TableName'] = self.table.name

        def run():
            old = self.table.get(key)
            refused = condition is not None and not condition(old or {})
            with_item = old if 'ReturnValuesOnConditionCheckFailure' in request else None
            try:
                new = change(old)
                if new is not None:
                    self.table.check(new)
            except Failed:
                # Which of two errors is found first is for other tests to say.
                raise Failed(VALIDATION, with_item, also=CONDITION if refused else None) from None
            if refused:
                raise Failed(CONDITION, with_item)
            return old, new
        return operation, request, key, run

    def expect(self, operation, request, run):
        """Calls the server and the reference; answers (server's answer, reference's), or None if both fail alike."""
        try:
            expected = run()
            failure = None
        except Failed as error:
            failure = error
        try:
            answer = self.api.call(operation, request)
        except ApiError as error:
            require(failure is not None, f'{operation} failed: {error}', request)
            require(error.name in (failure.name, failure.also), f'{operation}: expected {failure.name}, got {error}', request)
            if error.name == CONDITION:
                item = error.document.get('Item')
                require((item is None) == (failure.item is None), f'{operation}: the item with the error', request, item, failure.item)
                if item is not None:
                    same_items([item], [failure.item], f'{operation}: the item with the error')
            return None
        require(failure is None, f'{operation} should fail with {failure.name if failure else ""}', request)
        return answer, expected

    def write(self):
        operation, request, key, run = self.single_write()
        options = ['NONE', 'ALL_OLD'] + (['ALL_NEW', 'UPDATED_NEW'] if operation == 'Update' else [])
        request['ReturnValues'] = self.random.choice(options)
        request['ReturnConsumedCapacity'] = 'INDEXES'
        result = self.expect(operation + 'Item', request, run)
        if result is None:
            return
        answer, (old, new) = result
        returned = {'ALL_OLD': old, 'ALL_NEW': new}.get(request['ReturnValues'])
        if request['ReturnValues'] != 'UPDATED_NEW':
            require(('Attributes' in answer) == (returned is not None), f'{operation}: Attributes', request, answer, returned)
            if returned is not None:
                same_items([answer['Attributes']], [returned], f'{operation}: Attributes')
        if not FOREIGN and self.building is None:
            units = self.table.write_units(old, new)
            require(answer['ConsumedCapacity'] == units, f'{operation}: capacity', request, answer['ConsumedCapacity'], units)
        self.table.store(key, clone(new))

    def batch_write(self):
        writes, effects, seen = [], [], set()
        for _ in range(self.random.randrange(1, 26)):
            key = self.some_key()
            identity = self.table.identity(key)
            if identity in seen:
                continue
            seen.add(identity)
            if self.random.random() < 0.8:
                item = self.make.item(dict(key))
                writes.append({'PutRequest': {'Item': item}})
                effects.append((key, item))
            else:
                writes.append({'DeleteRequest': {'Key': key}})
                effects.append((key, None))

        def run():
            for _, item in effects:
                if item is not None:
                    self.table.check(item)
        result = self.expect('BatchWriteItem', {'RequestItems': {self.table.name: writes}}, run)
        if result is not None:
            require(result[0]['UnprocessedItems'] == {}, 'BatchWriteItem left items')
            for key, item in effects:
                self.table.store(key, clone(item))

    def transact_write(self):
        actions, runs, seen = [], [], set()
        for _ in range(self.random.randrange(1, 6)):
            operation, request, key, run = self.single_write()
            identity = self.table.identity(key)
            if identity in seen:
                continue
            seen.add(identity)
            actions.append({operation: request})
            runs.append((key, run))
        request = {'TransactItems': actions, 'ClientRequestToken': str(uuid.uuid4())}
        effects, codes, empty = [], [], False
        for key, run in runs:
            try:
                effects.append((key, run()[1]))
                codes.append('None')
            except Failed as failure:
                codes.append('ConditionalCheckFailed' if failure.name == CONDITION else 'either' if failure.also else 'ValidationError')
                # An empty index key is refused before the transaction begins.
                empty = empty or failure.name == VALIDATION
        try:
            self.api.call('TransactWriteItems', request)
        except ApiError as error:
            if empty and error.name == VALIDATION:
                return
            require(error.name == CANCELED, f'TransactWriteItems failed: {error}', request)
            actual = [reason['Code'] for reason in error.document['CancellationReasons']]
            # What is wrong with a request may be found before any condition is looked at.
            early = 'ValidationError' in actual
            matches = [a == b or b == 'either' and a in ('ConditionalCheckFailed', 'ValidationError') or early and a == 'None'
                       for a, b in zip(actual, codes)]
            require(len(actual) == len(codes) and all(matches), 'TransactWriteItems: reasons', request, actual, codes)
            return
        require(all(code == 'None' for code in codes), f'TransactWriteItems should fail: {codes}', request)
        for key, new in effects:
            self.table.store(key, clone(new))
        if self.random.random() < 0.2:
            # The same token again changes nothing.
            self.api.call('TransactWriteItems', request)

    # ---- Reads ----------------------------------------------------------------------------

    def get(self):
        key = self.some_key()
        answer = self.api.call('GetItem', {'TableName': self.table.name, 'Key': key, 'ConsistentRead': True})
        expected = self.table.get(key)
        same_items([answer['Item']] if 'Item' in answer else [], [expected] if expected else [], 'GetItem')

    def batch_get(self):
        keys = {self.table.identity(key): key for key in (self.some_key() for _ in range(20))}
        expected = [item for key in keys.values() if (item := self.table.get(key)) is not None]
        if self.random.random() < 0.5:
            answer = self.api.call('BatchGetItem', {'RequestItems': {self.table.name: {'Keys': list(keys.values())}}})
            same_items(answer['Responses'][self.table.name], expected, 'BatchGetItem')
        else:
            answer = self.api.call('TransactGetItems', {
                'TransactItems': [{'Get': {'TableName': self.table.name, 'Key': key}} for key in keys.values()]})
            require(len(answer['Responses']) == len(keys), 'TransactGetItems: responses')
            same_items([r['Item'] for r in answer['Responses'] if 'Item' in r], expected, 'TransactGetItems')

    def some_index(self):
        names = [name for name in self.table.indexes if name != self.building]
        return self.random.choice([None, None] + names)

    def filter_for(self, places, index_name, keys):
        """A filter over what the index has, or None."""
        index = self.table.indexes.get(index_name)
        names = [n for n in NAMES if n not in keys]
        if index is not None and index.projection != 'ALL':
            names = [n for n in names if not isinstance(index.projection, str) and n in index.projection]
        if not names or self.random.random() < 0.5:
            return None, None
        return self.make.condition(places, names, 1)

    def page_through(self, operation, request, keys):
        """All pages with a random Limit: (items, number scanned)."""
        limit = self.random.choice([None, 1, 2, 3, 5, 8, 13, 50])
        if limit:
            request['Limit'] = limit
        items, scanned, start, pages = [], 0, None, 0
        while True:
            page = self.api.call(operation, {**request, **({'ExclusiveStartKey': start} if start else {})})
            require(page['Count'] == len(page['Items']), f'{operation}: Count', request)
            require(not limit or page['ScannedCount'] <= limit, f'{operation}: more than Limit', request)
            items += page['Items']
            scanned += page['ScannedCount']
            start = page.get('LastEvaluatedKey')
            pages += 1
            require(pages < 3000, f'{operation}: paging does not end', request, start)
            if start is None:
                return items, scanned
            require(set(start) == set(keys), f'{operation}: names of LastEvaluatedKey', request, start)

    def query(self):
        index_name = self.some_index()
        index = self.table.indexes.get(index_name)
        key = self.table.key if index is None else index.key
        rows = self.table.view(index_name)
        hash_name, hash_type = key[0]
        value = self.random.choice(rows)[0][hash_name] if rows and self.random.random() < 0.9 else self.make.scalar(hash_type)
        places = Places()
        text = f'{places.name(hash_name)} = {places.value(value)}'
        rows = [row for row in rows if equal(row[0][hash_name], value)]
        sort_name = key[1][0] if len(key) > 1 else None
        if sort_name and self.random.random() < 0.6:
            condition, keep = self.sort_condition(places, *key[1])
            text += ' AND ' + condition
            rows = [row for row in rows if keep(row[0][sort_name])]
        scanned = len(rows)
        filter_text, predicate = self.filter_for(places, index_name, [name for name, _ in key])
        forward = self.random.random() < 0.6
        request = {'TableName': self.table.name, 'KeyConditionExpression': text, 'ScanIndexForward': forward}
        if index_name:
            request['IndexName'] = index_name
        if index is None or index.local:
            request['ConsistentRead'] = self.random.random() < 0.5
        if filter_text:
            request['FilterExpression'] = filter_text
            rows = [row for row in rows if predicate(row[1])]
        full = index is not None and index.local and index.projection != 'ALL' and self.random.random() < 0.5
        if full:
            request['Select'] = 'ALL_ATTRIBUTES'
        request.update(places.request())
        names = {name for name, _ in self.table.key} | {name for name, _ in key}
        items, count = self.page_through('Query', request, names)
        require(count == scanned, 'Query: ScannedCount', request, count, scanned)
        expected = sorted_by(sort_name, rows, not forward)
        same_items(items, [row[0 if full else 1] for row in expected], f'Query {request}')
        if sort_name:
            actual = [order(item[sort_name]) for item in items]
            require(actual == [order(row[0][sort_name]) for row in expected], 'Query: order', request, actual)

    def sort_condition(self, places, name, wanted):
        path = places.name(name)
        choice = self.random.randrange(7 if wanted != 'N' else 6)
        value = self.make.scalar(wanted)
        if choice == 5:
            low, high = sorted([value, self.make.scalar(wanted)], key=order)
            text = f'{path} BETWEEN {places.value(low)} AND {places.value(high)}'
            return text, lambda v: order(low) <= order(v) <= order(high)
        if choice == 6:
            return f'begins_with({path}, {places.value(value)})', lambda v: order(v).startswith(order(value))
        sign = ['=', '<', '<=', '>', '>='][choice]
        place = places.value(value)
        if self.random.random() < 0.2:
            turned = {'=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<='}[sign]
            text = f'{place} {turned} {path}'
        else:
            text = f'{path} {sign} {place}'
        return text, lambda v: {'=': order(v) == order(value), '<': order(v) < order(value), '<=': order(v) <= order(value),
                                '>': order(v) > order(value), '>=': order(v) >= order(value)}[sign]

    def scan(self, index_name='any'):
        if index_name == 'any':
            index_name = self.some_index()
        index = self.table.indexes.get(index_name)
        places = Places()
        rows = self.table.view(index_name)
        filter_text, predicate = self.filter_for(places, index_name, [])
        request = {'TableName': self.table.name}
        if index_name:
            request['IndexName'] = index_name
        if filter_text:
            request['FilterExpression'] = filter_text
        request.update(places.request())
        names = {name for name, _ in self.table.key} | {name for name, _ in (index.key if index else [])}
        total = self.random.choice([1, 1, 2, 5])
        items, scanned = [], 0
        for segment in range(total):
            part = {**request, **({'Segment': segment, 'TotalSegments': total} if total > 1 else {})}
            found, count = self.page_through('Scan', part, names)
            items += found
            scanned += count
        require(scanned == len(rows), 'Scan: ScannedCount', request, scanned, len(rows))
        same_items(items, [view for _, view in rows if not filter_text or predicate(view)], f'Scan {request}')
        if index is None:
            self.check_order(items)

    def check_order(self, items):
        """Items of one partition come together, in the order of the sort key."""
        seen, last = set(), None
        for item in items:
            partition = freeze(item['pk'])
            if last is None or partition != freeze(last['pk']):
                require(partition not in seen, 'Scan: a partition came twice', item['pk'])
                seen.add(partition)
            elif 'sk' in item:
                require(order(last['sk']) < order(item['sk']), 'Scan: order within a partition', last, item)
            last = item

    # ---- The round ------------------------------------------------------------------------

    def step(self):
        operation = self.random.choices(
            [self.write, self.batch_write, self.transact_write, self.get, self.batch_get, self.query, self.scan,
             self.partiql_write, self.partiql_batch, self.partiql_transact, self.partiql_get, self.partiql_select],
            [40, 4, 8, 8, 4, 24, 2] + ([0] * 5 if FOREIGN else [20, 2, 4, 4, 16]))[0]
        self.counts[operation.__name__] = self.counts.get(operation.__name__, 0) + 1
        operation()

    def run(self):
        self.create()
        for step in range(OPERATIONS):
            if step == OPERATIONS // 3 and not FOREIGN:
                self.begin_index()
            if step == OPERATIONS * 2 // 3 and not FOREIGN:
                while self.building:
                    self.look_at_index()
                    time.sleep(0.01)
                self.drop_index()
            if self.building and step % 10 == 0:
                self.look_at_index()
            try:
                self.step()
            except Mismatch as error:
                raise Mismatch(f'step {step}: {error}') from None
        deadline = time.time() + 30
        while self.building and time.time() < deadline:
            self.look_at_index()
            time.sleep(0.01)
        require(self.building is None, f'{self.building} is still under way')
        self.finish()

    def finish(self):
        """Every index equals its table, and the counts are exact."""
        for name in [None, *self.table.indexes]:
            keys = {n for n, _ in self.table.key} | {n for n, _ in (self.table.indexes[name].key if name else [])}
            request = {'TableName': self.table.name, **({'IndexName': name} if name else {})}
            items, _ = self.page_through('Scan', request, keys)
            same_items(items, [view for _, view in self.table.view(name)], f'the end: {name or "the table"}')
        if FOREIGN:
            return
        answer = self.api.call('DescribeTable', {'TableName': self.table.name})['Table']
        described = {None: (answer['ItemCount'], answer['TableSizeBytes'])}
        for group in ('GlobalSecondaryIndexes', 'LocalSecondaryIndexes'):
            for index in answer.get(group, []):
                described[index['IndexName']] = (index['ItemCount'], index['IndexSizeBytes'])
        for name in [None, *self.table.indexes]:
            views = [view for _, view in self.table.view(name)]
            expected = (len(views), sum(map(item_size, views)))
            require(described[name] == expected, f'the end: counts of {name or "the table"}', described[name], expected)
        verify_database(self.api)
        self.api.call('DeleteTable', {'TableName': self.table.name})


def main():
    seed = os.environ.get('SEED') or str(random.SystemRandom().randrange(10**9))
    print(f'SEED={seed}', flush=True)
    api = Api(os.environ['DOLMEN_ENDPOINT'])
    passed = failed = 0
    rounds = [int(os.environ['ROUND'])] if os.environ.get('ROUND') else range(len(ROUNDS))
    for number in rounds:
        start = time.time()
        one = Round(api, seed, number)
        try:
            one.run()
            passed += 1
            if os.environ.get('VERBOSE'):
                print(f'round {number}: {len(one.table.items)} items, {one.counts}, {time.time() - start:.1f} s', flush=True)
        except Exception as error:
            failed += 1
            print(f'FAIL round {number} (SEED={seed} ROUND={number} OPERATIONS={OPERATIONS})')
            print(f'    {error}' if isinstance(error, Mismatch) else traceback.format_exc(), flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
