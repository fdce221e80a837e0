// The DocumentClient of lib-dynamodb: plain JavaScript values in and out, its paginators, and the waiters.
import { after, test } from 'node:test';
import {
    BatchGetCommand, BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, NumberValue, paginateQuery, paginateScan,
    PutCommand, QueryCommand, ScanCommand, TransactGetCommand, TransactWriteCommand, UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { assert, CANCELED, client, CONDITION, fails, makeClient, makeTable, sdk, secured, tableSpec } from './lib.mjs';

const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const send = (command) => documents.send(command);
const TableName = await makeTable({ key: ['pk', 'sk:N'], gsi: { byType: ['type', 'sk:N'] } });

test('values of JavaScript round trip', async () => {
    const Item = {
        pk: 'round', sk: 1, text: 'hello', empty: '', number: 1.5, yes: true, no: false, nothing: null,
        list: [1, 'two', [3], { four: 4 }], map: { a: { b: { c: [] } } },
        strings: new Set(['a', 'b']), numbers: new Set([1, 2]), bytes: new Uint8Array([1, 2, 3]), gone: undefined,
    };
    await send(new PutCommand({ TableName, Item }));
    const answer = await send(new GetCommand({ TableName, Key: { pk: 'round', sk: 1 }, ConsistentRead: true }));
    delete Item.gone;
    answer.Item.bytes = Uint8Array.from(answer.Item.bytes);
    assert.deepEqual(answer.Item, Item);
});

test('big numbers keep their digits', async () => {
    const another = makeClient();
    after(() => another.destroy());
    const precise = DynamoDBDocumentClient.from(another, { unmarshallOptions: { wrapNumbers: true } });
    const value = '12345678901234567890123456789012345678';
    await precise.send(new PutCommand({ TableName, Item: { pk: 'big', sk: 1, n: NumberValue.from(value), i: 123456789012345678901234567890n } }));
    const { Item } = await precise.send(new GetCommand({ TableName, Key: { pk: 'big', sk: 1 } }));
    assert.equal(Item.n.toString(), value);
    assert.equal(Item.i.toString(), '123456789012345678901234567890');
});

test('update, delete, conditions', async () => {
    const Key = { pk: 'update', sk: 1 };
    const { Attributes } = await send(new UpdateCommand({
        TableName, Key, UpdateExpression: 'SET tags = :t, #c = if_not_exists(#c, :zero) + :one',
        ExpressionAttributeNames: { '#c': 'count' }, ExpressionAttributeValues: { ':t': ['x'], ':zero': 0, ':one': 1 }, ReturnValues: 'ALL_NEW',
    }));
    assert.deepEqual(Attributes, { ...Key, tags: ['x'], count: 1 });
    const error = await fails(send(new DeleteCommand({
        TableName, Key, ConditionExpression: 'tags = :t', ExpressionAttributeValues: { ':t': ['y'] }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })), CONDITION);
    assert.ok(error.Item);
    const deleted = await send(new DeleteCommand({ TableName, Key, ReturnValues: 'ALL_OLD' }));
    assert.deepEqual(deleted.Attributes, { ...Key, tags: ['x'], count: 1 });
});

test('batches, queries, scans and their paginators', async () => {
    for (let start = 0; start < 50; start += 25) {
        const writes = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { pk: 'many', sk: start + i, type: i % 2 ? 'odd' : 'even' } } }));
        await send(new BatchWriteCommand({ RequestItems: { [TableName]: writes } }));
    }
    const query = { TableName, KeyConditionExpression: 'pk = :p AND sk >= :s', ExpressionAttributeValues: { ':p': 'many', ':s': 40 } };
    assert.deepEqual((await send(new QueryCommand(query))).Items.map((i) => i.sk), [40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
    const seen = [];
    const index = {
        TableName, IndexName: 'byType', KeyConditionExpression: '#t = :t', ExpressionAttributeNames: { '#t': 'type' }, ExpressionAttributeValues: { ':t': 'odd' },
        ScanIndexForward: false,
    };
    for await (const page of paginateQuery({ client: documents, pageSize: 7 }, index)) seen.push(...page.Items.map((i) => i.sk));
    assert.equal(seen.length, 24);
    assert.deepEqual(seen, [...seen].sort((a, b) => b - a));
    let total = 0;
    for await (const page of paginateScan({ client: documents, pageSize: 9 }, {
        TableName, FilterExpression: 'begins_with(pk, :m)', ExpressionAttributeValues: { ':m': 'many' },
    })) total += page.Count;
    assert.equal(total, 50);
    assert.equal((await send(new ScanCommand({ TableName, FilterExpression: 'sk IN (:a, :b) AND pk = :p', ExpressionAttributeValues: { ':a': 1, ':b': 2, ':p': 'many' } }))).Count, 2);
    const batch = await send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ pk: 'many', sk: 1 }, { pk: 'many', sk: 999 }] } } }));
    assert.deepEqual(batch.Responses[TableName], [{ pk: 'many', sk: 1, type: 'odd' }]);
});

test('transactions', async () => {
    await send(new TransactWriteCommand({
        TransactItems: [
            { Put: { TableName, Item: { pk: 'tx', sk: 1, v: 1 } } },
            { Update: { TableName, Key: { pk: 'tx', sk: 2 }, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': 2 } } },
        ],
    }));
    const { Responses } = await send(new TransactGetCommand({
        TransactItems: [{ Get: { TableName, Key: { pk: 'tx', sk: 1 } } }, { Get: { TableName, Key: { pk: 'tx', sk: 2 } } }, { Get: { TableName, Key: { pk: 'tx', sk: 3 } } }],
    }));
    assert.deepEqual(Responses.map((r) => r.Item?.v), [1, 2, undefined]);
    const error = await fails(send(new TransactWriteCommand({
        TransactItems: [
            { Delete: { TableName, Key: { pk: 'tx', sk: 1 } } },
            { ConditionCheck: { TableName, Key: { pk: 'tx', sk: 2 }, ConditionExpression: 'v = :v', ExpressionAttributeValues: { ':v': 3 }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
        ],
    })), CANCELED);
    assert.ok(error instanceof sdk.TransactionCanceledException);
    assert.equal(error.CancellationReasons[1].Code, 'ConditionalCheckFailed');
});

test('errors are of the classes of the SDK', async () => {
    for (const [command, type] of [
        [new GetCommand({ TableName: 'js-no-such-table', Key: { pk: 'x' } }), sdk.ResourceNotFoundException],
        [new PutCommand({ TableName, Item: { pk: 'round', sk: 1 }, ConditionExpression: 'attribute_not_exists(pk)' }), sdk.ConditionalCheckFailedException],
    ]) {
        await assert.rejects(send(command), (error) => error instanceof type && error.$metadata.httpStatusCode === 400 && Boolean(error.$metadata.requestId));
    }
});

test('waiters: a table comes and goes', async () => {
    const request = tableSpec({});
    const waiter = { client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 };
    const existing = sdk.waitUntilTableExists(waiter, { TableName: request.TableName });
    await client.send(new sdk.CreateTableCommand(request));
    assert.equal((await existing).state, 'SUCCESS');
    await client.send(new sdk.DeleteTableCommand({ TableName: request.TableName }));
    assert.equal((await sdk.waitUntilTableNotExists(waiter, { TableName: request.TableName })).state, 'SUCCESS');
});

test('any credentials and any region see the same tables', { skip: secured ? 'signatures count' : false }, async () => {
    const other = makeClient({ region: 'eu-central-1', credentials: { accessKeyId: 'OTHER', secretAccessKey: 'other', sessionToken: 'token' } });
    after(() => other.destroy());
    const { Table } = await other.send(new sdk.DescribeTableCommand({ TableName }));
    assert.equal(Table.TableName, TableName);
});
