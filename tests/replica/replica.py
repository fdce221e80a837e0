"""Replicas: `dolmen replica --from URL`, byte by byte what its source is.

A source with tables of every kind (indexes, expiry, streams, tags, a model with counts, unique values and derived keys) is copied and followed while clients
write to it and source and replica are killed in turns. In the end both answer alike: every table, index, stream record, model and setting, and the
replica's store is verified. Beside that: writes are refused by their source's name, lag is told, expired items are deleted once, a replica that falls off the log copies
anew and says so, a promoted one is a server and never follows again.

    tests/replica/run [--rounds N] [--seed N]
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from dolmen import ROOT, Api, ApiError, Server, verify_database  # noqa: E402

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 60
MODEL = '''
table shop {
  key     pk, sk
  type    kind
  guard   enforce
}

entity Customer {
  pk = "CUSTOMER#{id}"  sk = "PROFILE"

  id      string
  email   string   unique
  orders  integer  = count of Order
}

entity Order {
  pk = "CUSTOMER#{customer}"  sk = "ORDER#{number}"

  customer  string  references Customer
  number    string
}
'''


class Replica(Server):
    """`dolmen replica` on a directory, and the server that it becomes."""

    def __init__(self, directory, source, *options, port='0'):
        self.errors = open(directory + '.log', 'ab+')
        self.process = subprocess.Popen([BINARY, 'replica', '--from', source, '--port', port, '--data', directory, *options], stdout=subprocess.PIPE, stderr=self.errors)
        self.wait_ready()

    def wait_ready(self):
        line = self.process.stdout.readline().decode()
        if 'listening on ' not in line:
            self.process.wait()
            raise RuntimeError(f'the replica did not start: {line!r}\n{self.error_text()}')
        self.endpoint = line.split('listening on ')[1].strip()

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors='replace')[-20000:]


def page(server, path):
    with urllib.request.urlopen(server.endpoint + path) as answer:
        return answer.read().decode()


def health(server):
    return json.loads(page(server, '/health'))


def metric(server, name):
    for line in page(server, '/metrics').splitlines():
        if line.startswith(f'dolmen_{name} '):
            return float(line.split()[1])
    return None


def command(*words, code=0):
    run = subprocess.run([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert run.returncode == code, (words, run.returncode, run.stdout.decode())
    return run.stdout.decode()


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f'waited in vain: {what}'
        time.sleep(0.02)


def catch_up(source, replica):
    """Until the replica has what the source has now."""
    number = metric(source, 'replica_log_entries_total')
    until('the replica to catch up', lambda: metric(replica, 'replica_applied_entries_total') >= number)


def everything(endpoint):
    """All that a server answers of its tables."""
    api, streams = Api(endpoint), Api(endpoint, service='DynamoDBStreams_20120810.')
    out = {}
    for table in api.call('ListTables', {})['TableNames']:
        described = api.call('DescribeTable', {'TableName': table})['Table']
        seen = {'description': described, 'ttl': api.call('DescribeTimeToLive', {'TableName': table}),
                'tags': api.call('ListTagsOfResource', {'ResourceArn': described['TableArn']}), 'items': api.pages('Scan', {'TableName': table})}
        for index in described.get('GlobalSecondaryIndexes', []):
            seen[index['IndexName']] = api.pages('Scan', {'TableName': table, 'IndexName': index['IndexName']})
        arn = described.get('LatestStreamArn')
        if arn:
            shards = streams.call('DescribeStream', {'StreamArn': arn})['StreamDescription']['Shards']
            seen['shards'] = shards
            for shard in shards:
                at = streams.call('GetShardIterator', {'StreamArn': arn, 'ShardId': shard['ShardId'], 'ShardIteratorType': 'TRIM_HORIZON'})['ShardIterator']
                records = []
                while at:
                    got = streams.call('GetRecords', {'ShardIterator': at})
                    records += got['Records']
                    at = got.get('NextShardIterator') if got['Records'] else None
                seen[shard['ShardId']] = records
        out[table] = seen
    out['models'] = api.call('ListModels', {})
    return out


def same(source, replica):
    catch_up(source, replica)
    one, other = everything(source.endpoint), everything(replica.endpoint)
    assert sorted(one) == sorted(other), (sorted(one), sorted(other))
    for table in one:
        for part in one[table]:
            assert one[table][part] == other[table].get(part), (table, part, str(one[table][part])[:2000], str(other[table].get(part))[:2000])


def make_table(api, name, **more):
    api.call('CreateTable', {'TableName': name, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                             'AttributeDefinitions': [{'AttributeName': a, 'AttributeType': 'S'} for a in ('pk', 'g')],
                             'GlobalSecondaryIndexes': [{'IndexName': 'byG', 'KeySchema': [{'AttributeName': 'g', 'KeyType': 'HASH'}], 'Projection': {'ProjectionType': 'ALL'}}],
                             **more})


def put(api, table, number, **more):
    api.call('PutItem', {'TableName': table, 'Item': {'pk': {'S': f'item {number}'}, 'g': {'S': f'group {number % 5}'}, 'v': {'S': 'x' * 200}, **more}})


def fill(api, model):
    make_table(api, 'plain', StreamSpecification={'StreamEnabled': True, 'StreamViewType': 'NEW_AND_OLD_IMAGES'}, Tags=[{'Key': 'team', 'Value': 'a'}])
    make_table(api, 'passing')
    api.call('UpdateTimeToLive', {'TableName': 'plain', 'TimeToLiveSpecification': {'Enabled': True, 'AttributeName': 'until'}})
    for number in range(300):
        put(api, 'plain', number)
    api.call('ApplyModel', {'Model': model})
    until('the model', lambda: api.call('DescribeTable', {'TableName': 'shop'})['Table']['TableStatus'] == 'ACTIVE')
    for number in range(20):
        api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Customer'}, 'id': {'S': f'c{number}'}, 'email': {'S': f'c{number}@example.com'}}})


class Writer(threading.Thread):
    """Writes of every kind, until it is told to stop; a source that is gone is waited for."""

    def __init__(self, place, seed):
        super().__init__(daemon=True)
        self.place, self.random, self.stopping, self.count, self.wrong = place, random.Random(seed), threading.Event(), 0, None

    def step(self, api):
        r = self.random
        number = r.randrange(600)
        kind = r.random()
        if kind < 0.4:
            put(api, 'plain', number, n={'N': str(r.randrange(10**6))})
        elif kind < 0.55:
            api.call('DeleteItem', {'TableName': 'plain', 'Key': {'pk': {'S': f'item {number}'}}})
        elif kind < 0.7:
            api.call('TransactWriteItems', {'TransactItems': [{'Put': {'TableName': 'plain', 'Item': {'pk': {'S': f'pair {side} {number}'}, 'n': {'N': str(self.count)}}}} for side in 'ab']})
        elif kind < 0.9:
            api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Order'}, 'customer': {'S': f'c{r.randrange(20)}'}, 'number': {'S': str(number)}}})
        elif kind < 0.96:
            api.call('DeleteItem', {'TableName': 'shop', 'Key': {'pk': {'S': f'CUSTOMER#c{r.randrange(20)}'}, 'sk': {'S': f'ORDER#{number}'}}})
        elif kind < 0.98:
            api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Customer'}, 'id': {'S': f'c{r.randrange(20)}'}, 'email': {'S': f'{number}@example.com'}}})
        else:
            try:
                api.call('DeleteTable', {'TableName': 'passing'})
            finally:
                make_table(api, 'passing')
                put(api, 'passing', number)

    def run(self):
        while not self.stopping.is_set():
            try:
                self.step(Api(self.place['endpoint'], timeout=10))
                self.count += 1
            except ApiError as error:
                if error.status >= 500 or error.name not in ('ResourceNotFoundException', 'ResourceInUseException', 'ConditionalCheckFailedException',
                                                             'TransactionConflictException', 'ValidationException', 'UniqueConstraintException', 'TransactionCanceledException'):
                    self.wrong = error
            except Exception:
                time.sleep(0.02)


def refused(call):
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError('it was not refused')


# ---- Tests -------------------------------------------------------------------------------------

def test_kills(work, options):
    """Everything is equal after load with kills of both sides."""
    r = random.Random(options.seed)
    source_dir, replica_dir = os.path.join(work, 'source'), os.path.join(work, 'copy')
    source = Server(source_dir)
    port = source.endpoint.rsplit(':', 1)[1]
    place = {'endpoint': source.endpoint}
    fill(Api(source.endpoint), MODEL)
    writers = [Writer(place, options.seed * 100 + n) for n in range(3)]
    for writer in writers:
        writer.start()
    replica = Replica(replica_dir, source.endpoint)
    for turn in range(options.rounds):
        time.sleep(r.random() * 0.4)
        if turn % 2 == 0:
            replica.kill()
            replica = Replica(replica_dir, source.endpoint)
        else:
            source.kill()
            source = Server(source_dir, '--port', port)
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join()
        assert writer.wrong is None, writer.wrong
        assert writer.count > 20, writer.count
    same(source, replica)
    verify_database(Api(replica.endpoint))
    orders = {}
    for item in Api(replica.endpoint).pages('Scan', {'TableName': 'shop'}):
        if item['sk']['S'].startswith('ORDER'):
            orders[item['pk']['S']] = orders.get(item['pk']['S'], 0) + 1
    for item in Api(replica.endpoint).pages('Scan', {'TableName': 'shop'}):
        if item['sk']['S'] == 'PROFILE':
            assert int(item.get('orders', {'N': '0'})['N']) == orders.get(item['pk']['S'], 0), item
    assert 'copied anew' not in replica.error_text()
    return source, replica


def test_refusals(source, replica):
    """Writes are refused with the source's name, reads are served."""
    api = Api(replica.endpoint)
    key = {'pk': {'S': 'item 1'}}
    writes = [('PutItem', {'TableName': 'plain', 'Item': key}), ('DeleteItem', {'TableName': 'plain', 'Key': key}), ('UpdateItem', {'TableName': 'plain', 'Key': key}),
              ('BatchWriteItem', {'RequestItems': {'plain': [{'PutRequest': {'Item': key}}]}}), ('DeleteTable', {'TableName': 'plain'}),
              ('TransactWriteItems', {'TransactItems': [{'Put': {'TableName': 'plain', 'Item': key}}]}), ('ExecuteStatement', {'Statement': "DELETE FROM plain WHERE pk = 'item 1'"}),
              ('CreateTable', {'TableName': 'fresh', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}], 'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]}),
              ('UpdateTimeToLive', {'TableName': 'shop', 'TimeToLiveSpecification': {'Enabled': True, 'AttributeName': 'x'}}), ('CreateBackup', {'TableName': 'plain', 'BackupName': 'backup'}),
              ('ApplyModel', {'Model': MODEL.replace('  orders ', '  nick    string?\n  orders ')})]
    for operation, request in writes:
        error = refused(lambda: api.call(operation, request))
        assert error.status == 400 and source.endpoint in error.message and 'replica' in error.message, (operation, error)
    assert api.call('ExecuteStatement', {'Statement': "SELECT * FROM plain WHERE pk = 'pair a 1'"}) == Api(source.endpoint).call('ExecuteStatement', {'Statement': "SELECT * FROM plain WHERE pk = 'pair a 1'"})
    told = health(replica)
    assert told['status'] == 'ok' and told['writes']['accepted'] is False and told['replica']['source'] == source.endpoint, told
    same(source, replica)


def test_changes(source, replica):
    """Tables, indexes and models that change on the source; a table deleted and made anew under its name; unique values that move."""
    api = Api(source.endpoint)
    if 'passing' in api.call('ListTables', {})['TableNames']:  # a writer may have been stopped before it made it again
        api.call('DeleteTable', {'TableName': 'passing'})
    make_table(api, 'passing')
    put(api, 'passing', 7)
    api.call('UpdateTable', {'TableName': 'plain', 'AttributeDefinitions': [{'AttributeName': 'v', 'AttributeType': 'S'}], 'GlobalSecondaryIndexUpdates': [
        {'Create': {'IndexName': 'byV', 'KeySchema': [{'AttributeName': 'v', 'KeyType': 'HASH'}], 'Projection': {'ProjectionType': 'KEYS_ONLY'}}}]})
    api.call('ApplyModel', {'Model': MODEL.replace('  orders ', '  nick    string?\n  orders ')})
    until('the index', lambda: all(i['IndexStatus'] == 'ACTIVE' for i in api.call('DescribeTable', {'TableName': 'plain'})['Table']['GlobalSecondaryIndexes']))
    for customer, email in (('a', 'one@example.com'), ('a', 'two@example.com'), ('b', 'one@example.com')):
        api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Customer'}, 'id': {'S': customer}, 'email': {'S': email}}})
    same(source, replica)
    verify_database(Api(replica.endpoint))


def test_lag(source, replica, source_dir):
    """Lag is seen while the source does not answer, and ends when it does."""
    until('no lag', lambda: health(replica)['replica']['lag_ms'] < 2000)
    port = source.endpoint.rsplit(':', 1)[1]
    source.kill()
    until('the problem', lambda: 'problem' in health(replica)['replica'])
    until('the lag', lambda: health(replica)['replica']['lag_ms'] > 500 and metric(replica, 'replica_lag_milliseconds') > 500)
    assert metric(replica, 'replica_connected') == 0
    assert Api(replica.endpoint).call('GetItem', {'TableName': 'passing', 'Key': {'pk': {'S': 'item 7'}}})['Item']
    assert 'problem: ' in command('replica', '--status', '--endpoint', replica.endpoint)
    source = Server(source_dir, '--port', port)
    put(Api(source.endpoint), 'plain', 1)
    same(source, replica)
    until('no lag', lambda: 'problem' not in health(replica)['replica'])
    assert f'source: {source.endpoint}' in command('replica', '--status', '--endpoint', replica.endpoint)
    return source


def test_expiry(source, replica):
    """What expires on the source is deleted once: the replica does nothing by itself."""
    api = Api(source.endpoint)
    for number in range(50):
        put(api, 'plain', 1000 + number, until={'N': str(int(time.time()) - 100)})
    until('the sweep', lambda: not [i for i in api.pages('Scan', {'TableName': 'plain'}) if 'until' in i])
    same(source, replica)  # with the records of the stream: one REMOVE each
    assert metric(replica, 'ttl_deleted_items_total') == 0


def test_lost(work):
    """A replica that falls off the log says so and copies anew, also if it was away meanwhile."""
    source = Server(os.path.join(work, 'short'), '--replica-log', '1M')
    api = Api(source.endpoint)
    make_table(api, 'plain')
    for number in range(20):
        put(api, 'plain', number)
    replica_dir = os.path.join(work, 'short-copy')
    replica = Replica(replica_dir, source.endpoint)
    catch_up(source, replica)
    applied = metric(replica, 'replica_applied_entries_total') + 1
    replica.kill()
    for number in range(40):
        put(api, 'plain', number % 25, pad={'S': 'y' * 100000})
    api.call('DeleteItem', {'TableName': 'plain', 'Key': {'pk': {'S': 'item 3'}}})
    until('the log to be trimmed', lambda: metric(source, 'replica_log_oldest_entry') > applied)
    replica = Replica(replica_dir, source.endpoint)
    replica.wait_ready()  # it is started again
    same(source, replica)
    assert 'everything is copied anew' in replica.error_text(), replica.error_text()
    verify_database(Api(replica.endpoint))
    # A log that was off does not have what was written meanwhile.
    port = source.endpoint.rsplit(':', 1)[1]
    replica.kill()
    source.stop()
    source = Server(os.path.join(work, 'short'), '--port', port, '--replica-log', 'off')
    put(Api(source.endpoint), 'plain', 99)
    source.stop()
    source = Server(os.path.join(work, 'short'), '--port', port, '--replica-log', '1M')
    replica = Replica(replica_dir, source.endpoint)
    replica.wait_ready()
    same(source, replica)
    replica.stop()
    source.stop()


def test_promotion(work, source, replica):
    """A promoted replica is a server that takes writes, at the same place, and follows nothing any more."""
    directory = os.path.join(work, 'copy')
    before = replica.endpoint
    catch_up(source, replica)
    assert 'promoted at entry' in command('promote', '--endpoint', replica.endpoint)
    replica.wait_ready()
    assert replica.endpoint == before
    api = Api(replica.endpoint)
    put(api, 'plain', 5000)
    put(Api(source.endpoint), 'plain', 6000)
    api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Order'}, 'customer': {'S': 'a'}, 'number': {'S': '1'}}})
    assert api.call('GetItem', {'TableName': 'shop', 'Key': {'pk': {'S': 'CUSTOMER#a'}, 'sk': {'S': 'PROFILE'}}})['Item']['orders']['N'] == '1'
    taken = refused(lambda: api.call('PutItem', {'TableName': 'shop', 'Item': {'kind': {'S': 'Customer'}, 'id': {'S': 'z'}, 'email': {'S': 'one@example.com'}}}))
    assert taken.status == 400, taken
    assert 'Item' not in api.call('GetItem', {'TableName': 'plain', 'Key': {'pk': {'S': 'item 6000'}}})
    assert 'replica' not in health(replica)
    assert 'not a replica' in command('promote', '--endpoint', replica.endpoint, code=1)
    verify_database(api)
    replica.stop()
    assert 'has been promoted' in command('replica', '--from', source.endpoint, '--port', '0', '--data', directory, code=1)
    with Server(directory) as server:
        put(Api(server.endpoint), 'plain', 5001)


def test_directories(work, source):
    """A directory that is a replica is not served by `serve`, nor written by commands; one with other data is not made a replica; a stopped one can be promoted."""
    directory = os.path.join(work, 'third')
    replica = Replica(directory, source.endpoint)
    replica.stop()
    assert 'is a replica of' in command('serve', '--port', '0', '--data', directory, code=1)
    assert 'takes no writes' in command('call', 'DeleteTable', '{"TableName":"passing"}', '--data', directory, code=1)
    assert 'passing' in command('call', 'ListTables', '{}', '--data', directory)
    assert 'data of its own' in command('replica', '--from', source.endpoint, '--port', '0', '--data', os.path.join(work, 'short'), code=1)
    assert 'promoted at entry' in command('promote', '--data', directory)
    with Server(directory) as server:
        put(Api(server.endpoint), 'plain', 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=6)
    parser.add_argument('--seed', type=int, default=int(os.environ.get('SEED', '1')))
    options = parser.parse_args()
    passed = failed = 0
    state = {}
    with tempfile.TemporaryDirectory() as work:
        def kills():
            state['source'], state['replica'] = test_kills(work, options)

        def lag():
            state['source'] = test_lag(state['source'], state['replica'], os.path.join(work, 'source'))
        for name, test in (('kills', kills), ('refusals', lambda: test_refusals(state['source'], state['replica'])), ('changes', lambda: test_changes(state['source'], state['replica'])),
                           ('lag', lag), ('expiry', lambda: test_expiry(state['source'], state['replica'])), ('lost', lambda: test_lost(work)),
                           ('promotion', lambda: test_promotion(work, state['source'], state['replica'])), ('directories', lambda: test_directories(work, state['source']))):
            begun = time.monotonic()
            try:
                test()
                passed += 1
                print(f'ok {name} {time.monotonic() - begun:.1f} s')
            except Exception as error:
                failed += 1
                print(f'FAILED {name}: {type(error).__name__}: {error}'[:6000])
                if os.environ.get('VERBOSE'):
                    import traceback
                    traceback.print_exc()
                break  # the tests behind it begin where this one ends
        for server in state.values():
            if server.process.poll() is None:
                server.kill()
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


main()
