// Streams with their own SDK client: what a record says, all view types, all kinds of writes, all
// four kinds of iterators, and every error.
import { after, test } from 'node:test';
import {
    DynamoDBStreamsClient,
    DescribeStreamCommand,
    GetRecordsCommand,
    GetShardIteratorCommand,
    ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { assert, call, credentials, endpoint, fails, makeTable, N, NOT_FOUND, put, raw, REAL, S, same, uniqueName, VALIDATION } from './lib.mjs';

const client = new DynamoDBStreamsClient({
    endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
});
after(() => client.destroy());

const listStreams = (input = {}) => client.send(new ListStreamsCommand(input));
const describe = async (StreamArn, rest = {}) =>
    (await client.send(new DescribeStreamCommand({ StreamArn, ...rest }))).StreamDescription;
const iterator = async (StreamArn, ShardId, ShardIteratorType, SequenceNumber) =>
    (await client.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType, SequenceNumber })))
        .ShardIterator;
const records = (ShardIterator, Limit) => client.send(new GetRecordsCommand({ ShardIterator, Limit }));

// A table with a stream of that view; its name, the stream's ARN and its only shard.
async function streamed(view = 'NEW_AND_OLD_IMAGES', spec = {}) {
    const table = await makeTable({
        name: uniqueName('stream'),
        key: ['pk', 'sk:N'],
        StreamSpecification: { StreamEnabled: true, StreamViewType: view },
        ...spec,
    });
    const { Table } = await call('DescribeTable', { TableName: table });
    const arn = Table.LatestStreamArn;
    const { Shards } = await describe(arn);
    assert.equal(Shards.length, 1);
    return { table, arn, label: Table.LatestStreamLabel, shard: Shards[0].ShardId };
}

// All records of the shard so far.
async function drain({ arn, shard }) {
    const all = [];
    let at = await iterator(arn, shard, 'TRIM_HORIZON');
    while (at) {
        const page = await records(at);
        all.push(...page.Records);
        if (page.Records.length === 0) break;
        at = page.NextShardIterator;
    }
    return all;
}

const item = (sk, rest = {}) => ({ pk: S('a'), sk: N(sk), ...rest });

test('a record says everything', async () => {
    const began = Math.floor(Date.now() / 1000) - 1;
    const stream = await streamed();
    await put(stream.table, item(1, { v: S('x') }));
    const [record] = await drain(stream);
    assert.match(record.eventID, /^[0-9a-f]{32}$/);
    assert.equal(record.eventName, 'INSERT');
    assert.equal(record.eventVersion, '1.1');
    assert.equal(record.eventSource, 'aws:dynamodb');
    assert.equal(record.awsRegion, 'us-east-1');
    assert.equal(record.userIdentity, undefined);
    const { ApproximateCreationDateTime: time, SequenceNumber, ...rest } = record.dynamodb;
    assert.ok(time instanceof Date && time.getTime() % 1000 === 0);
    assert.ok(time.getTime() / 1000 >= began && time.getTime() <= Date.now());
    assert.match(SequenceNumber, /^\d{21,40}$/);
    same(rest, {
        Keys: item(1),
        NewImage: item(1, { v: S('x') }),
        SizeBytes: 16,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
    });
});

for (const [view, hasOld, hasNew] of [
    ['KEYS_ONLY', false, false],
    ['NEW_IMAGE', false, true],
    ['OLD_IMAGE', true, false],
    ['NEW_AND_OLD_IMAGES', true, true],
]) {
    test(`the view ${view}`, async () => {
        const stream = await streamed(view);
        await put(stream.table, item(1, { v: S('x') }));
        await put(stream.table, item(1, { v: S('y') }));
        await call('DeleteItem', { TableName: stream.table, Key: item(1) });
        const all = await drain(stream);
        assert.deepEqual(all.map((r) => r.eventName), ['INSERT', 'MODIFY', 'REMOVE']);
        const x = item(1, { v: S('x') });
        const y = item(1, { v: S('y') });
        const images = [[undefined, x], [x, y], [y, undefined]];
        for (const [i, { dynamodb }] of all.entries()) {
            same(dynamodb.Keys, item(1));
            same({ image: dynamodb.OldImage }, { image: hasOld ? images[i][0] : undefined });
            same({ image: dynamodb.NewImage }, { image: hasNew ? images[i][1] : undefined });
            assert.equal(dynamodb.StreamViewType, view);
        }
    });
}

test('writes of every kind are there, in order, and those that change nothing are not', async () => {
    const stream = await streamed('NEW_IMAGE');
    const { table } = stream;
    const TableName = table;
    await put(table, item(1, { v: N(1) }));
    await put(table, item(1, { v: N('1.0') })); // the same
    await call('DeleteItem', { TableName, Key: item(99) });
    await call('UpdateItem', { TableName, Key: item(1), UpdateExpression: 'REMOVE nothing' });
    await fails(
        put(table, item(1, { v: N(2) }), { ConditionExpression: 'attribute_not_exists(pk)' }),
        'ConditionalCheckFailedException', 'The conditional request failed');
    await call('UpdateItem', {
        TableName, Key: item(1), UpdateExpression: 'ADD v :one', ExpressionAttributeValues: { ':one': N(1) },
    });
    await call('UpdateItem', { TableName, Key: item(2) });
    await call('BatchWriteItem', {
        RequestItems: { [table]: [{ PutRequest: { Item: item(3) } }, { DeleteRequest: { Key: item(2) } }] },
    });
    await call('TransactWriteItems', {
        TransactItems: [
            { Put: { TableName, Item: item(4) } },
            { Update: { TableName, Key: item(3), UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': N(3) } } },
            { Delete: { TableName, Key: item(1) } },
            { ConditionCheck: { TableName, Key: item(77), ConditionExpression: 'attribute_not_exists(pk)' } },
        ],
    });
    await fails(
        call('TransactWriteItems', {
            TransactItems: [
                { Put: { TableName, Item: item(5) } },
                { ConditionCheck: { TableName, Key: item(77), ConditionExpression: 'attribute_exists(pk)' } },
            ],
        }),
        'TransactionCanceledException');
    await call('ExecuteStatement', { Statement: `INSERT INTO "${table}" VALUE {'pk':'a','sk':6}` });
    await call('ExecuteStatement', { Statement: `DELETE FROM "${table}" WHERE pk='a' AND sk=6` });
    const all = await drain(stream);
    const tell = (r) => `${r.eventName} ${r.dynamodb.Keys.sk.N} ${r.dynamodb.NewImage?.v?.N ?? '-'}`;
    const told = all.map(tell);
    assert.deepEqual(told.slice(0, 3), ['INSERT 1 1', 'MODIFY 1 2', 'INSERT 2 -']);
    assert.deepEqual(told.slice(3, 5).sort(), ['INSERT 3 -', 'REMOVE 2 -']);
    assert.deepEqual(told.slice(5, 8).sort(), ['INSERT 4 -', 'MODIFY 3 3', 'REMOVE 1 -']);
    assert.deepEqual(told.slice(8), ['INSERT 6 -', 'REMOVE 6 -']);
    const numbers = all.map((r) => r.dynamodb.SequenceNumber);
    assert.deepEqual(numbers, [...numbers].sort());
    assert.deepEqual(numbers, [...numbers].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)));
    assert.equal(new Set(all.map((r) => r.eventID)).size, all.length);
    const again = await drain(stream);
    assert.deepEqual(again.map((r) => r.eventID), all.map((r) => r.eventID));
});

test('the four kinds of iterators, and Limit', async () => {
    const stream = await streamed('KEYS_ONLY');
    const { arn, shard, table } = stream;
    const early = await iterator(arn, shard, 'LATEST');
    for (let i = 0; i < 10; i++) await put(table, item(i));
    const late = await iterator(arn, shard, 'LATEST');
    await put(table, item(10));
    const of = async (at, limit) => (await records(at, limit)).Records.map((r) => Number(r.dynamodb.Keys.sk.N));
    assert.deepEqual(await of(early), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(await of(late), [10]);
    const all = await drain(stream);
    const fourth = all[4].dynamodb.SequenceNumber;
    assert.deepEqual(await of(await iterator(arn, shard, 'AT_SEQUENCE_NUMBER', fourth), 2), [4, 5]);
    assert.deepEqual(await of(await iterator(arn, shard, 'AFTER_SEQUENCE_NUMBER', fourth), 2), [5, 6]);
    const page = await records(await iterator(arn, shard, 'TRIM_HORIZON'), 3);
    assert.deepEqual(await of(page.NextShardIterator, 3), [3, 4, 5]);
});

test('an answer has at most a megabyte', async () => {
    const stream = await streamed('NEW_IMAGE');
    for (let i = 0; i < 5; i++) await put(stream.table, item(i, { v: S('x'.repeat(300000)) }));
    const first = await records(await iterator(stream.arn, stream.shard, 'TRIM_HORIZON'));
    assert.equal(first.Records.length, 3);
    assert.equal((await records(first.NextShardIterator)).Records.length, 2);
});

test('ListStreams', async () => {
    const one = await streamed();
    const two = await streamed();
    const { Streams } = await listStreams({ TableName: one.table });
    assert.deepEqual(Streams, [{ StreamArn: one.arn, TableName: one.table, StreamLabel: one.label }]);
    const found = [];
    let ExclusiveStartStreamArn;
    do {
        const page = await listStreams({ Limit: 1, ExclusiveStartStreamArn });
        assert.ok(page.Streams.length <= 1);
        found.push(...page.Streams.map((s) => s.StreamArn));
        ExclusiveStartStreamArn = page.LastEvaluatedStreamArn;
    } while (ExclusiveStartStreamArn);
    assert.ok(found.includes(one.arn) && found.includes(two.arn));
    assert.equal(new Set(found).size, found.length);
    assert.deepEqual((await listStreams({ TableName: 'no-such-table' })).Streams, []);
});

test('a stream is turned off and on, and outlives its table', async () => {
    const stream = await streamed();
    const TableName = stream.table;
    await put(TableName, item(1));
    const open = await describe(stream.arn);
    assert.equal(open.StreamStatus, 'ENABLED');
    assert.equal(open.TableName, TableName);
    assert.ok(open.CreationRequestDateTime instanceof Date);
    same(open.KeySchema, [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    assert.equal(open.Shards[0].SequenceNumberRange.EndingSequenceNumber, undefined);
    await call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: false } });
    await put(TableName, item(2));
    const closed = await describe(stream.arn);
    assert.equal(closed.StreamStatus, 'DISABLED');
    const last = await records(await iterator(stream.arn, stream.shard, 'TRIM_HORIZON'));
    assert.equal(last.Records.length, 1);
    assert.equal(last.NextShardIterator, undefined);
    assert.equal(closed.Shards[0].SequenceNumberRange.EndingSequenceNumber, last.Records[0].dynamodb.SequenceNumber);
    await call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' } });
    const { Table } = await call('DescribeTable', { TableName });
    assert.notEqual(Table.LatestStreamArn, stream.arn);
    await call('DeleteItem', { TableName, Key: item(2) });
    await call('DeleteTable', { TableName });
    const second = { arn: Table.LatestStreamArn, shard: (await describe(Table.LatestStreamArn)).Shards[0].ShardId };
    const [removed] = await drain(second);
    same(removed.dynamodb.OldImage, item(2));
    assert.equal((await describe(second.arn)).StreamStatus, 'DISABLED');
    assert.equal((await drain(stream)).length, 1);
    assert.equal((await listStreams({ TableName })).Streams.length, 2);
});

test('errors', async () => {
    const { arn, shard } = await streamed();
    const noStream = arn.replace(/\d\d\d$/, (ms) => (ms === '000' ? '001' : '000'));
    const noShard = shard.replace(/.$/, (c) => (c === '0' ? '1' : '0'));
    const notFound = `Requested resource not found: Stream: ${noStream} not found`;
    const invalid = 'One or more parameter values were invalid: ';
    await fails(describe(noStream), NOT_FOUND, notFound);
    await fails(describe('arn:aws:dynamodb:us-east-1:000000000000:table/abc'), VALIDATION, 'Invalid StreamArn');
    await fails(iterator(noStream, shard, 'LATEST'), NOT_FOUND, notFound);
    await fails(iterator(arn, noShard, 'LATEST'), NOT_FOUND, 'Requested resource not found: Shard does not exist');
    await fails(iterator(arn, shard, 'NEVER'), VALIDATION, /enum value set/);
    await fails(iterator(arn, shard, 'AT_SEQUENCE_NUMBER'), VALIDATION, invalid + 'Invalid SequenceNumber');
    await fails(iterator(arn, shard, 'AT_SEQUENCE_NUMBER', '0'.repeat(21)), VALIDATION, 'Invalid SequenceNumber for the shard');
    await fails(records('nonsense'), VALIDATION, 'Invalid ShardIterator');
    await fails(records(await iterator(arn, shard, 'LATEST'), 1001), VALIDATION,
        invalid + 'Limit should be less than or equal to 1000');
});

test('the operations of one service are not those of the other', REAL, async () => {
    const answer = await raw('ListStreams', {});
    assert.equal(answer.error, 'UnknownOperationException');
    const other = await raw('ListTables', {}, { 'X-Amz-Target': 'DynamoDBStreams_20120810.ListTables' });
    assert.equal(other.error, 'UnknownOperationException');
});
