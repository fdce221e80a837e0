"""A database that has some of everything, and clients that keep changing it."""
import random
import threading

from dolmen import Api, ApiError

MODEL = '''
table people { key PK  type kind }
entity Person {
  PK = "P#{id}"
  id string
  email email unique, lower
}
'''


def text(value):
    return {'S': value}


def number(value):
    return {'N': str(value)}


def orders_table(name):
    key = lambda *names: [{'AttributeName': n, 'KeyType': k} for n, k in zip(names, ('HASH', 'RANGE'))]
    return {
        'TableName': name,
        'BillingMode': 'PAY_PER_REQUEST',
        'AttributeDefinitions': [{'AttributeName': n, 'AttributeType': t}
                                 for n, t in (('pk', 'S'), ('sk', 'N'), ('g', 'S'), ('h', 'N'), ('l', 'S'))],
        'KeySchema': key('pk', 'sk'),
        'GlobalSecondaryIndexes': [
            {'IndexName': 'all', 'KeySchema': key('g', 'h'), 'Projection': {'ProjectionType': 'ALL'}},
            {'IndexName': 'some', 'KeySchema': key('h'),
             'Projection': {'ProjectionType': 'INCLUDE', 'NonKeyAttributes': ['text']}}],
        'LocalSecondaryIndexes': [
            {'IndexName': 'local', 'KeySchema': key('pk', 'l'), 'Projection': {'ProjectionType': 'KEYS_ONLY'}}],
        'StreamSpecification': {'StreamEnabled': True, 'StreamViewType': 'NEW_AND_OLD_IMAGES'},
    }


def order(random_source, partitions=20, sorts=200):
    item = {'pk': text(f'p{random_source.randrange(partitions)}'), 'sk': number(random_source.randrange(sorts) - sorts // 2)}
    for name, make in (('g', lambda: text(f'g{random_source.randrange(5)}')),
                       ('h', lambda: number(random_source.randrange(100) / 4)),
                       ('l', lambda: text(random_source.choice('abc'))),
                       ('ttl', lambda: number(4000000000 + random_source.randrange(1000))),
                       ('text', lambda: text('x' * random_source.randrange(2000))),
                       ('vector', lambda: {'L': [number(random_source.randrange(9)) for _ in range(3)]})):
        if random_source.random() < 0.8:
            item[name] = make()
    return item


def settle(api, table):
    """Waits until the table takes another change of its indexes."""
    while any(index['IndexStatus'] != 'ACTIVE'
              for index in api.call('DescribeTable', {'TableName': table})['Table']['GlobalSecondaryIndexes']):
        pass


def make(api):
    """Tables with indexes of all kinds, time to live, streams, a model, a backup, and things that are gone."""
    api.call('CreateTable', orders_table('orders'))
    api.call('CreateTable', orders_table('gone'))
    api.call('UpdateTimeToLive', {'TableName': 'orders',
                                  'TimeToLiveSpecification': {'Enabled': True, 'AttributeName': 'ttl'}})
    api.call('ApplyModel', {'Model': MODEL, 'FileName': 'people.dolmen'})
    source = random.Random(1)
    for table in ('orders', 'gone'):
        for _ in range(20):
            items = {(i['pk']['S'], i['sk']['N']): i for i in (order(source) for _ in range(25))}
            api.call('BatchWriteItem', {'RequestItems': {
                table: [{'PutRequest': {'Item': item}} for item in items.values()]}})
    for i in range(50):
        api.call('PutItem', {'TableName': 'people', 'Item': {'kind': text('Person'), 'id': text(str(i)),
                                                             'email': text(f'{i}@example.org')}})
    api.call('CreateBackup', {'TableName': 'orders', 'BackupName': 'before'})
    api.call('UpdateTable', {
        'TableName': 'orders', 'AttributeDefinitions': [{'AttributeName': 'text', 'AttributeType': 'S'}],
        'GlobalSecondaryIndexUpdates': [{'Create': {
            'IndexName': 'later', 'KeySchema': [{'AttributeName': 'text', 'KeyType': 'HASH'}],
            'Projection': {'ProjectionType': 'KEYS_ONLY'}}}]})
    settle(api, 'orders')
    api.call('UpdateTable', {'TableName': 'orders', 'VectorIndexUpdates': [{'Create': {
        'IndexName': 'near', 'VectorAttribute': {'AttributeName': 'vector'}, 'Dimensions': 3,
        'DistanceFunction': 'EUCLIDEAN', 'Projection': {'ProjectionType': 'KEYS_ONLY'}}}]})
    api.call('DeleteTable', {'TableName': 'gone'})


class Writers:
    """Clients that put, update and delete until they are stopped."""

    def __init__(self, endpoint, count=3):
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(endpoint, i)) for i in range(count)]
        self.written = [0] * count
        for thread in self.threads:
            thread.start()

    def write(self, endpoint, me):
        source, api = random.Random(me), Api(endpoint)
        while not self.ending.is_set():
            item = order(source)
            key = {'pk': item['pk'], 'sk': item['sk']}
            try:
                if source.random() < 0.3:
                    api.call('DeleteItem', {'TableName': 'orders', 'Key': key})
                elif source.random() < 0.5:
                    other = order(source)
                    api.call('TransactWriteItems', {'TransactItems': [
                        {'Put': {'TableName': 'orders', 'Item': item}},
                        {'Put': {'TableName': 'people', 'Item': {
                            'kind': text('Person'), 'id': text(f'w{me}-{self.written[me] % 40}'),
                            'email': text(f'w{me}-{source.randrange(60)}@example.org')}}}]})
                else:
                    api.call('PutItem', {'TableName': 'orders', 'Item': item})
            except ApiError as error:
                if error.name not in ('TransactionCanceledException', 'TransactionConflictException'):
                    raise
            self.written[me] += 1
        api.close()

    def stop(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()
        return sum(self.written)
