"""A data directory as a server leaves it, and what must be in it.

    scene = Scene(name, directory, random, buffers='4M', durability='full', end='kill', bulk=40, noise=False)

makes tables with indexes, writes, deletes, updates and transacts until logs were rotated and tables flushed, and ends the
server. Every write was answered before the end, so there is no doubt about any. With noise, items do not compress, so
that a level has several files.

    scene.verify(endpoint)    compares everything through the API; raises Difference, or ReadError if the
                              server says that it cannot read
    scene.verify_repaired(endpoint, report)
                              whatever is missing or old is told in the report, and what is told is so
"""
import base64
import os
import struct

from dolmen import Api, ApiError, Server

PAD = 40000
PARTITIONS = 40
TABLES = {
    'alpha': {'keys': ('pk', 'sk'), 'global': {'by-group': ('grp', 'sk'), 'by-turn': ('turn', None)}, 'local': {}},
    'beta': {'keys': ('pk', None), 'global': {}, 'local': {}},
    'gamma': {'keys': ('pk', 'sk'), 'global': {'by-group': ('grp', None)}, 'local': {'by-turn': ('pk', 'turn')}},
}


class Difference(Exception):
    """The server answers with something else than was acknowledged."""


class ReadError(Exception):
    """The server says that it cannot read: not silent."""


def schema(keys):
    return [{'AttributeName': name, 'KeyType': kind} for name, kind in zip(keys, ('HASH', 'RANGE')) if name]


def create(api, name, table):
    names = {attribute for keys in (table['keys'], *table['global'].values(), *table['local'].values())
             for attribute in keys if attribute}
    request = {'TableName': name, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': schema(table['keys']),
               'AttributeDefinitions': [{'AttributeName': attribute, 'AttributeType': 'S'} for attribute in sorted(names)]}
    for field, kind in (('GlobalSecondaryIndexes', 'global'), ('LocalSecondaryIndexes', 'local')):
        if table[kind]:
            request[field] = [{'IndexName': index, 'KeySchema': schema(keys),
                               'Projection': {'ProjectionType': 'INCLUDE', 'NonKeyAttributes': ['version']}}
                              for index, keys in sorted(table[kind].items())]
    api.call('CreateTable', request)


def strings(item):
    return {name: {'S': value} for name, value in item.items()}


def plain(item):
    return {name: value['S'] for name, value in item.items() if name != 'pad'}


class Log:
    """The number of the last record of a log that is being written: only headers are read."""

    def __init__(self, directory):
        self.directory, self.segment, self.at, self.last = directory, '', 0, 0

    def read(self):
        names = sorted(name for name in os.listdir(self.directory) if name.endswith('.log') and name >= self.segment)
        for name in names:
            if name != self.segment:
                self.segment, self.at = name, 0
            with open(os.path.join(self.directory, name), 'rb') as file:
                self.read_segment(file)
        return self.last

    def read_segment(self, file):
        magic, salt = struct.unpack('<4s4xQ', file.read(16))
        self.at = self.at or (64 if magic == b'DLG4' else 32)  # the header is longer in an encrypted one
        while True:
            file.seek(self.at)
            header = file.read(20)
            if len(header) < 20:
                return
            length, sequence = struct.unpack('<4xIQ4x', header)
            if sequence ^ salt != self.last + 1:
                return
            self.last += 1
            self.at += 20 + length


class Scene:
    def __init__(self, name, directory, random, buffers, durability, end, bulk, noise):
        self.name, self.data, self.random, self.noise = name, directory, random, noise
        self.items = {table: {} for table in TABLES}  # by key: the item without its padding
        self.created = {}  # by table: the record of the log that has it
        self.records = {table: {} for table in TABLES}  # by key, of deleted items too: the last records about it, a set
        self.log = Log(os.path.join(directory, 'log'))
        self.options = ['--durability', durability] + (['--write-buffer', buffers] if buffers else [])
        self.version = 0
        self.make(end, bulk)

    # ---- Writing ----

    def make(self, end, bulk):
        server = Server(self.data, *self.options)
        try:
            api = Api(server.endpoint)
            for name, table in TABLES.items():
                create(api, name, table)
                self.created[name] = self.log.read()
            for _ in range(bulk):
                self.write_bulk(api)
                self.write_some(api, 12)
            # A log that is being rotated has more than one file for a moment.
            while end == 'kill' and bulk > 30 and len(self.segments()) < 2:
                self.write_bulk(api)
                self.write_some(api, 1)
            if end == 'clean':
                server.stop()
            api.close()
        finally:
            if server.process.poll() is None:
                server.kill()

    def segments(self):
        return [name for name in os.listdir(os.path.join(self.data, 'log')) if name.endswith('.log')]

    def new_item(self, table):
        self.version += 1
        item = {'pk': f'p{self.random.randrange(PARTITIONS)}', 'version': str(self.version)}
        if TABLES[table]['keys'][1]:
            item['sk'] = f's{self.random.randrange(60)}'
        if self.random.random() < 0.8:
            item['grp'] = f'g{self.random.randrange(9)}'
        if self.random.random() < 0.6:
            item['turn'] = f't{self.version % 17}'
        return item

    def key(self, table, item):
        return tuple(item[name] for name in TABLES[table]['keys'] if name)

    def key_item(self, table, item):
        return strings({name: item[name] for name in TABLES[table]['keys'] if name})

    def pad(self):
        return base64.b64encode(self.random.randbytes(PAD * 3 // 4)).decode() if self.noise else 'x' * PAD

    def write_bulk(self, api):
        """About a megabyte in one request."""
        requests, kept = [], {}
        while len(kept) < 24:
            item = self.new_item('alpha')
            kept[self.key('alpha', item)] = item
        for item in kept.values():
            requests.append({'PutRequest': {'Item': strings({**item, 'pad': self.pad()})}})
        answer = api.call('BatchWriteItem', {'RequestItems': {'alpha': requests}})
        if answer['UnprocessedItems']:
            raise RuntimeError('a batch was not done')
        self.acknowledge('alpha', *kept.values())

    def written(self):
        """The records of the last request: several, if a slow server has cut a large batch into parts."""
        before = self.log.last
        return set(range(before + 1, self.log.read() + 1))

    def acknowledge(self, table, *items, there=True, records=None):
        records = self.written() if records is None else records
        for item in items:
            key = self.key(table, item)
            self.records[table][key] = records
            if there:
                self.items[table][key] = item
            else:
                del self.items[table][key]

    def write_some(self, api, count):
        for _ in range(count):
            self.random.choice((self.put, self.put, self.delete, self.update, self.transact))(api)

    def put(self, api):
        table = self.random.choice(sorted(TABLES))
        item = self.new_item(table)
        api.call('PutItem', {'TableName': table, 'Item': strings(item)})
        self.acknowledge(table, item)

    def delete(self, api):
        table = self.random.choice(sorted(TABLES))
        if not self.items[table]:
            return
        key = self.random.choice(sorted(self.items[table]))
        item = self.items[table][key]
        api.call('DeleteItem', {'TableName': table, 'Key': self.key_item(table, item)})
        self.acknowledge(table, item, there=False)

    def update(self, api):
        table = self.random.choice(sorted(TABLES))
        item = self.new_item(table)
        changed = {**self.items[table].get(self.key(table, item), {}), **self.key_of(table, item),
                   'version': item['version'], 'grp': f'g{self.random.randrange(9)}'}
        api.call('UpdateItem', {'TableName': table, 'Key': self.key_item(table, item),
                                'UpdateExpression': 'SET version = :v, grp = :g',
                                'ExpressionAttributeValues': {':v': {'S': changed['version']}, ':g': {'S': changed['grp']}}})
        self.acknowledge(table, changed)

    def key_of(self, table, item):
        return {name: item[name] for name in TABLES[table]['keys'] if name}

    def transact(self, api):
        items = {table: self.new_item(table) for table in TABLES}
        api.call('TransactWriteItems', {'TransactItems': [
            {'Put': {'TableName': table, 'Item': strings(item)}} for table, item in items.items()]})
        records = self.written()
        for table, item in items.items():
            self.acknowledge(table, item, records=records)

    # ---- Comparing ----

    def verify(self, endpoint):
        """Compares all that can be read; then says what could not be."""
        api = Api(endpoint)
        unreadable = []
        for table in sorted(TABLES):
            try:
                self.verify_table(api, table)
            except ApiError as error:
                if error.status != 500:
                    raise Difference(f'{table}: {error}')
                unreadable.append(f'{table}: {error}')
        api.close()
        if unreadable:
            raise ReadError('; '.join(unreadable))

    def scan(self, api, table, index=None):
        request = {'TableName': table}
        if index:
            request['IndexName'] = index
        else:
            request['ProjectionExpression'] = 'pk, sk, version, grp, turn'
        return [plain(item) for item in api.pages('Scan', request)]

    def verify_table(self, api, table):
        expected = self.items[table]
        self.compare(table, self.scan(api, table), expected.values())
        spec = TABLES[table]
        counts = {table: len(expected)}
        for index, keys in {**spec['global'], **spec['local']}.items():
            needed = {name for name in (*keys, *spec['keys']) if name}
            entries = [{name: value for name, value in item.items() if name in needed | {'version'}}
                       for item in expected.values() if needed <= set(item)]
            counts[index] = len(entries)
            self.compare(f'{table}/{index}', self.scan(api, table, index), entries)
        self.verify_counts(api, table, counts)
        for key in self.random.sample(sorted(expected), min(5, len(expected))):
            found = api.call('GetItem', {'TableName': table, 'Key': self.key_item(table, expected[key])}).get('Item')
            if found is None or plain(found) != expected[key]:
                raise Difference(f'{table}: GetItem {key}: {found and plain(found)} instead of {expected[key]}')

    @staticmethod
    def compare(where, found, expected):
        def order(item):
            return sorted(item.items())
        found, expected = sorted(found, key=order), sorted(expected, key=order)
        if found != expected:
            lost = [item for item in expected if item not in found]
            more = [item for item in found if item not in expected]
            raise Difference(f'{where}: {len(found)} items instead of {len(expected)}; '
                             f'not there: {lost[:3]}, not written: {more[:3]}')

    @staticmethod
    def verify_counts(api, table, counts):
        description = api.call('DescribeTable', {'TableName': table})['Table']
        found = {table: description['ItemCount']}
        for field in ('GlobalSecondaryIndexes', 'LocalSecondaryIndexes'):
            found.update({index['IndexName']: index['ItemCount'] for index in description.get(field, [])})
        if found != counts:
            raise Difference(f'{table}: counts {found} instead of {counts}')

    # ---- Comparing what was repaired with what was told of it ----

    def learn_order(self, api):
        """The place of each partition, as the server orders them."""
        create(api, 'order', {'keys': ('pk', None), 'global': {}, 'local': {}})
        for number in range(PARTITIONS):
            api.call('PutItem', {'TableName': 'order', 'Item': strings({'pk': f'p{number}'})})
        self.order = {item['pk']['S']: place for place, item in enumerate(api.pages('Scan', {'TableName': 'order'}))}

    def place(self, table, key):
        return (self.order[key[0]], *key[1:])

    def between(self, table, place):
        """The test whether a key is in one of the report's places."""
        low, high = (end in place and self.place(table, self.key(table, plain(place[end]))) for end in ('After', 'Before'))
        return lambda key: (low is False or low < self.place(table, key)) and (high is False or self.place(table, key) < high)

    def verify_repaired(self, endpoint, report):
        """Tables may hold records that the log lacks, which nobody knows of: only without any is each such record a loss."""
        api = Api(endpoint)
        self.has_tables = any(name.endswith('.sst') for name in os.listdir(os.path.join(self.data, 'db')))
        missing = {record for gap in report['MissingRecords'] for record in range(gap['From'], gap['To'] + 1)}
        if len(missing) != report['MissingRecordCount']:
            raise Difference(f'{len(missing)} records are named, {report["MissingRecordCount"]} are counted')
        if missing and max(missing) > self.log.last:
            raise Difference(f'there is no record {max(missing)}, the last was {self.log.last}')
        there = set(api.call('ListTables', {})['TableNames'])
        found = {}
        for table in TABLES:
            if table in there:
                found[table] = {self.key(table, item): item for item in self.scan(api, table)}
            elif not self.created[table] in missing and not self.told_of(report, 'catalog'):
                raise Difference(f'table {table} is not there, and the report does not say so')
        api.close()
        differing = sum(self.compare_repaired(table, items, missing, report) for table, items in found.items())
        if differing + len(TABLES) - len(found) > 0 and not report['Lost']:
            raise Difference('something was lost, and the report says: nothing')

    @staticmethod
    def told_of(report, kind, table=None):
        return [{**place, 'others': lost['KeysFromOtherFiles'], 'alone': len(lost['Affects']) == 1}
                for lost in report['LostRanges'] for place in lost['Affects']
                if (place['Kind'], place.get('Table')) == (kind, table)]

    def compare_repaired(self, table, found, missing, report):
        """How many items of a table are not as they were acknowledged; each of them was told, and no others."""
        expected, records = self.items[table], self.records[table]
        places = [(self.between(table, place), place) for place in self.told_of(report, 'items', table)]
        differing = {key for key in {*expected, *found} if expected.get(key) != found.get(key)}
        for key in differing:
            if not records.get(key, set()) & missing and not any(inside(key) for inside, _ in places):
                raise Difference(f'{table}: {key} is {found.get(key)} instead of {expected.get(key)}, and the report does '
                                 f'not say so (record {records.get(key)})')
        for key, item in expected.items():
            if not self.has_tables and records[key] <= missing and key not in differing:
                raise Difference(f'{table}: {item} is there, but all of {records[key]} is told to be missing')
        for inside, place in places:
            inner = [key for key in found if inside(key)]
            if place['alone'] and 'After' in place and 'Before' in place and len(inner) != place['others']:
                raise Difference(f'{table}: {len(inner)} items are between {place["After"]} and {place["Before"]}, '
                                 f'{place["others"]} are told')
        return len(differing)
