"""Streams over a server's life: a consumer that walks shards, over splits, kill -9, and moves of the clock.

What is checked does not depend on chance: of each item the records form one chain, the old image of each being the
new image of the one before, from nothing to what the table has in the end. A record that is missing, comes twice, or
comes out of order breaks the chain. DOLMEN_STREAMS_SEED replays a run (the threads' interleaving aside).
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'lib'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from consumer import DONE, Consumer  # noqa: E402
from dolmen import Server  # noqa: E402

SEED = int(os.environ.get('DOLMEN_STREAMS_SEED', '1'))
ITEMS = 30
WRITERS = 3
TABLE = 'songs'


def client(service, endpoint):
    return boto3.client(service, endpoint_url=endpoint, region_name='us-east-1', aws_access_key_id='test',
                        aws_secret_access_key='test',
                        config=Config(retries={'max_attempts': 1}, connect_timeout=5, read_timeout=30))


def admin(server, path, body=None):
    request = urllib.request.Request(server.endpoint + path, data=json.dumps(body or {}).encode(), method='POST')
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('it did not happen in time')
        time.sleep(0.02)


def make_table(dynamodb, name, view='NEW_AND_OLD_IMAGES'):
    """Creates a table with a stream; the stream's ARN."""
    table = dynamodb.create_table(
        TableName=name, BillingMode='PAY_PER_REQUEST',
        AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}],
        KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
        StreamSpecification={'StreamEnabled': True, 'StreamViewType': view})
    return table['TableDescription']['LatestStreamArn']


class Writer(threading.Thread):
    """Writes its own items until it is told to stop or the server dies; notes what was acknowledged."""

    def __init__(self, endpoint, number, seed):
        super().__init__()
        self.dynamodb = client('dynamodb', endpoint)
        self.random = random.Random(seed)
        self.keys = [f'{number}-{i}' for i in range(ITEMS)]
        self.stopping = threading.Event()
        self.acknowledged = set()
        self.version = seed * 1_000_000

    def item(self):
        self.version += 1
        return {'pk': {'S': self.random.choice(self.keys)}, 'v': {'N': str(self.version)}}

    def write(self):
        item = self.item()
        key = {'pk': item['pk']}
        kind = self.random.randrange(7)
        if kind == 0:
            self.dynamodb.delete_item(TableName=TABLE, Key=key)
            return
        if kind == 1:
            self.dynamodb.update_item(TableName=TABLE, Key=key, UpdateExpression='SET v = :v',
                                      ExpressionAttributeValues={':v': item['v']})
        elif kind == 2:
            self.dynamodb.batch_write_item(RequestItems={TABLE: [{'PutRequest': {'Item': item}}]})
        elif kind == 3:
            self.dynamodb.transact_write_items(TransactItems=[{'Put': {'TableName': TABLE, 'Item': item}}])
        else:
            self.dynamodb.put_item(TableName=TABLE, Item=item)
        self.acknowledged.add(item['v']['N'])
        if kind == 4:  # once more: no record may come of it
            self.dynamodb.put_item(TableName=TABLE, Item=item)

    def run(self):
        while not self.stopping.is_set():
            try:
                self.write()
            except (BotoCoreError, ClientError):
                return  # the server is gone; whether the last write happened is not known


class Chains:
    """Checks the records of each item as they come."""

    def __init__(self):
        self.items = {}
        self.versions = set()
        self.ids = set()
        self.shards = set()
        self.records = 0

    def take(self, shard, record):
        change = record['dynamodb']
        key = change['Keys']['pk']['S']
        before = self.items.get(key)
        assert change.get('OldImage') == before, (key, before, record)
        after = change.get('NewImage')
        assert record['eventName'] == ('REMOVE' if after is None else 'MODIFY' if before else 'INSERT'), record
        assert before != after, record
        assert record['eventID'] not in self.ids, record
        self.ids.add(record['eventID'])
        self.items[key] = after
        if after:
            self.versions.add(after['v']['N'])
        self.shards.add(shard)
        self.records += 1


class Walking(unittest.TestCase):
    """Splits and kill -9 while there are writes."""

    def one_life(self, server, consumer, life, kill):
        """Writes while shards are rolled, until the server is killed or stopped; what was acknowledged."""
        writers = [Writer(server.endpoint, n, SEED * 100 + life * 10 + n) for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        for i in range(4):
            time.sleep(0.15)
            admin(server, '/admin/streams/roll', {'TableName': TABLE, 'Split': (i + life) % 3 == 0})
            for shard in (consumer.discover(), consumer.ready())[1]:
                consumer.step(shard)
        if kill:
            server.kill()
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
        return set().union(*(writer.acknowledged for writer in writers))

    def test_splits_and_kills(self):
        chains = Chains()
        acknowledged = set()
        consumer = None
        with tempfile.TemporaryDirectory() as directory:
            for life in range(5):
                server = Server(directory, '--admin')
                try:
                    dynamodb = client('dynamodb', server.endpoint)
                    if consumer is None:
                        arn = make_table(dynamodb, TABLE)
                        consumer = Consumer(client('dynamodbstreams', server.endpoint), arn, chains.take)
                    else:
                        consumer.restart(client('dynamodbstreams', server.endpoint))
                    acknowledged |= self.one_life(server, consumer, life, kill=life < 4)
                    if life == 4:
                        consumer.catch_up()
                        self.check_end(dynamodb, consumer, chains, acknowledged)
                finally:
                    if server.process.poll() is None:
                        server.stop()
        print(f'{chains.records} records in {len(chains.shards)} shards, {len(acknowledged)} writes acknowledged')

    def check_end(self, dynamodb, consumer, chains, acknowledged):
        self.assertEqual(acknowledged - chains.versions, set())
        table = {item['pk']['S']: item for item in dynamodb.scan(TableName=TABLE)['Items']}
        self.assertEqual({key: item for key, item in chains.items.items() if item}, table)
        self.assertGreater(len(chains.shards), 5)
        # All shards but the open ones have been read to their end.
        stream = consumer.client.describe_stream(StreamArn=consumer.arn)['StreamDescription']
        for shard in stream['Shards']:
            closed = 'EndingSequenceNumber' in shard['SequenceNumberRange']
            self.assertEqual(consumer.checkpoints[shard['ShardId']] == DONE, closed)
        # A second consumer, from the start, sees the same.
        again = Chains()
        Consumer(consumer.client, consumer.arn, again.take).catch_up()
        self.assertEqual(again.ids, chains.ids)
        self.assertEqual(again.items, chains.items)


class Clock(unittest.TestCase):
    """What only happens after hours; on a server whose clock is moved."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.server = Server(self.directory.name, '--admin')
        self.dynamodb = client('dynamodb', self.server.endpoint)
        self.streams = client('dynamodbstreams', self.server.endpoint)
        self.arn = make_table(self.dynamodb, TABLE)

    def tearDown(self):
        if self.server.process.poll() is None:
            self.server.stop()
        self.directory.cleanup()

    def advance(self, hours):
        admin(self.server, '/admin/clock', {'advance_seconds': int(hours * 3600)})

    def put(self, version, key='a'):
        self.dynamodb.put_item(TableName=TABLE, Item={'pk': {'S': key}, 'v': {'N': str(version)}})

    def shards(self):
        return self.streams.describe_stream(StreamArn=self.arn)['StreamDescription']['Shards']

    def iterator(self, shard, kind='TRIM_HORIZON', **more):
        return self.streams.get_shard_iterator(StreamArn=self.arn, ShardId=shard, ShardIteratorType=kind,
                                               **more)['ShardIterator']

    def test_shards_by_age(self):
        chains = Chains()
        consumer = Consumer(self.streams, self.arn, chains.take)
        for i in range(4):
            self.put(i)
            consumer.catch_up()
            self.advance(4.01)
            wait_until(lambda: len(self.shards()) == i + 2)
        consumer.catch_up()
        self.assertEqual(chains.records, 4)
        self.assertEqual(len(chains.shards), 4)

    def test_a_day(self):
        self.put(1)
        shard = self.shards()[0]['ShardId']
        first = self.streams.get_records(ShardIterator=self.iterator(shard))
        sequence = first['Records'][0]['dynamodb']['SequenceNumber']
        self.advance(23.9)
        wait_until(lambda: len(self.shards()) == 2)  # the first one is old
        self.put(2)
        self.assertEqual(len(self.streams.get_records(ShardIterator=self.iterator(shard))['Records']), 1)
        self.advance(0.2)

        def trimmed():
            try:
                self.iterator(shard, 'AT_SEQUENCE_NUMBER', SequenceNumber=sequence)
            except ClientError as error:
                return error.response['Error']['Code'] == 'TrimmedDataAccessException'
            return False
        wait_until(trimmed)
        chains = Chains()
        chains.items['a'] = {'pk': {'S': 'a'}, 'v': {'N': '1'}}
        Consumer(self.streams, self.arn, chains.take).catch_up()
        self.assertEqual(chains.versions, {'2'})
        self.advance(24)
        wait_until(lambda: shard not in [s['ShardId'] for s in self.shards()])

    def test_iterators_expire(self):
        shard = self.shards()[0]['ShardId']
        iterator = self.iterator(shard)
        self.advance(0.24)
        self.streams.get_records(ShardIterator=iterator)
        self.advance(0.02)
        with self.assertRaises(ClientError) as caught:
            self.streams.get_records(ShardIterator=iterator)
        self.assertEqual(caught.exception.response['Error']['Code'], 'ExpiredIteratorException')

    def test_stream_of_a_deleted_table(self):
        self.put(1)
        self.dynamodb.delete_table(TableName=TABLE)
        self.server.kill()
        self.server = Server(self.directory.name, '--admin')
        self.streams = client('dynamodbstreams', self.server.endpoint)
        chains = Chains()
        Consumer(self.streams, self.arn, chains.take).catch_up()
        self.assertEqual(chains.records, 1)
        self.advance(24.1)
        with self.assertRaises(ClientError) as caught:
            self.shards()
        self.assertEqual(caught.exception.response['Error']['Code'], 'ResourceNotFoundException')
        self.assertEqual(self.streams.list_streams()['Streams'], [])

    def test_expired_items(self):
        self.dynamodb.update_time_to_live(TableName=TABLE, TimeToLiveSpecification={'Enabled': True, 'AttributeName': 'v'})
        self.put(int(time.time()) - 100)
        self.put(int(time.time()) + 1000, 'b')
        self.dynamodb.delete_item(TableName=TABLE, Key={'pk': {'S': 'b'}})
        records = []

        def removed():
            admin(self.server, '/admin/ttl')
            records.clear()
            Consumer(self.streams, self.arn, lambda shard, record: records.append(record)).catch_up()
            return len(records) == 4
        wait_until(removed)
        by_service = {r['dynamodb']['Keys']['pk']['S']: r.get('userIdentity') for r in records
                      if r['eventName'] == 'REMOVE'}
        identity = {'PrincipalId': 'dynamodb.amazonaws.com', 'Type': 'Service'}
        self.assertEqual(by_service, {'a': identity, 'b': None})

    def test_partiql(self):
        self.dynamodb.execute_statement(Statement="INSERT INTO songs VALUE {'pk':'p','v':1}")
        self.dynamodb.execute_statement(Statement="UPDATE songs SET v=2 WHERE pk='p'")
        self.dynamodb.batch_execute_statement(Statements=[{'Statement': "UPDATE songs SET v=3 WHERE pk='p'"}])
        self.dynamodb.execute_transaction(TransactStatements=[{'Statement': "DELETE FROM songs WHERE pk='p'"}])
        chains = Chains()
        Consumer(self.streams, self.arn, chains.take).catch_up()
        self.assertEqual((chains.records, chains.versions, chains.items), (4, {'1', '2', '3'}, {'p': None}))

    def test_rolling_by_hand(self):
        admin(self.server, '/admin/streams/roll', {'TableName': TABLE, 'Split': True})
        self.assertEqual(len(self.shards()), 3)
        for body, status in (({'TableName': 'none'}, 404), ({'Split': True}, 400), ({'TableName': TABLE, 'X': 1}, 400)):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                admin(self.server, '/admin/streams/roll', body)
            self.assertEqual(caught.exception.code, status)
            caught.exception.close()

    def test_command_line(self):
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        answer = subprocess.run([binary, 'call', 'ListStreams', '--endpoint', self.server.endpoint],
                                capture_output=True, check=True)
        self.assertEqual(json.loads(answer.stdout)['Streams'][0]['StreamArn'], self.arn)


if __name__ == '__main__':
    unittest.main()
