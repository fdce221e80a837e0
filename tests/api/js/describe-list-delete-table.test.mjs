// DescribeTable, ListTables and DeleteTable.
import { test } from 'node:test';
import {
    assert, call, client, errorCases, fails, foreign, makeTable, N, NOT_FOUND, put, REAL, S, sdk, tableSpec, uniqueName,
    VALIDATION, waitFor,
} from './lib.mjs';

test('DescribeTable counts items and bytes exactly', REAL, async () => {
    const TableName = await makeTable({ key: ['pk', 'sk'], gsi: { byA: { key: ['a'], projection: 'KEYS_ONLY' } }, lsi: { byB: ['pk', 'b:N'] } });
    await put(TableName, { pk: S('p'), sk: S('1'), a: S('x'), text: S('hello') });
    await put(TableName, { pk: S('p'), sk: S('2'), b: N(100) });
    await put(TableName, { pk: S('p'), sk: S('2'), b: N(123) });
    await put(TableName, { pk: S('p'), sk: S('3') });
    await call('DeleteItem', { TableName, Key: { pk: S('p'), sk: S('3') } });
    const { Table } = await call('DescribeTable', { TableName });
    // pk+p 3, sk+1 3, a+x 2, text+hello 9; pk+p 3, sk+2 3, b+123 1+3.
    assert.equal(Table.ItemCount, 2);
    assert.equal(Table.TableSizeBytes, 17 + 10);
    assert.equal(Table.GlobalSecondaryIndexes[0].ItemCount, 1);
    assert.equal(Table.GlobalSecondaryIndexes[0].IndexSizeBytes, 8);
    assert.equal(Table.LocalSecondaryIndexes[0].ItemCount, 1);
    assert.equal(Table.LocalSecondaryIndexes[0].IndexSizeBytes, 10);
});

test('DescribeTable, UpdateTable, DeleteTable and items by the ARN of a table', REAL, async () => {
    const request = tableSpec({});
    await call('CreateTable', request);
    const { Table } = await call('DescribeTable', { TableName: request.TableName });
    const TableName = Table.TableArn;
    await put(TableName, { pk: S('by arn') });
    assert.equal((await call('GetItem', { TableName, Key: { pk: S('by arn') } })).Item.pk.S, 'by arn');
    assert.equal((await call('Scan', { TableName })).Count, 1);
    assert.equal((await call('Query', {
        TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('by arn') },
    })).Count, 1);
    const batch = await call('BatchGetItem', { RequestItems: { [TableName]: { Keys: [{ pk: S('by arn') }] } } });
    assert.deepEqual(Object.keys(batch.Responses), [TableName]);
    await call('BatchWriteItem', { RequestItems: { [TableName]: [{ PutRequest: { Item: { pk: S('2') } } }] } });
    await call('TransactWriteItems', { TransactItems: [{ Put: { TableName, Item: { pk: S('3') } } }] });
    await call('UpdateItem', { TableName, Key: { pk: S('3') }, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': S('x') } });
    await call('DeleteItem', { TableName, Key: { pk: S('2') } });
    const described = await call('DescribeTable', { TableName });
    assert.equal(described.Table.TableName, request.TableName);
    assert.equal(described.Table.ItemCount, 2);
    assert.equal((await call('UpdateTable', { TableName, DeletionProtectionEnabled: false })).TableDescription.TableName, request.TableName);
    await call('DeleteTable', { TableName });
});

test('the same item by name and by ARN in one transaction is the same item', REAL, async () => {
    const TableName = await makeTable();
    const { Table } = await call('DescribeTable', { TableName });
    await fails(
        call('TransactWriteItems', {
            TransactItems: [
                { Put: { TableName, Item: { pk: S('x') } } },
                { Delete: { TableName: Table.TableArn, Key: { pk: S('x') } } },
            ],
        }),
        VALIDATION,
        'Transaction request cannot include multiple operations on one item',
    );
});

errorCases('DescribeTable', [
    ['no name', {}, VALIDATION, "The parameter 'TableName' is required but was not present in the request", { real: true }],
    ['a table that is not there', { TableName: 'js-no-such-table' }, NOT_FOUND,
        'Requested resource not found: Table: js-no-such-table not found', { real: true }],
    ['a name with other characters', { TableName: 'abc;' }, VALIDATION,
        "1 validation error detected: Value 'abc;' at 'tableName' failed to satisfy constraint: " +
        'Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+', { real: true }],
]);

test('ListTables pages by Limit, in the order of names', async () => {
    const names = [];
    for (let i = 0; i < 5; i++) names.push(await makeTable({ name: uniqueName('list' + 'edcba'[i]) }));
    names.sort();
    const seen = [];
    let ExclusiveStartTableName;
    do {
        const page = await call('ListTables', { Limit: 2, ExclusiveStartTableName });
        assert.ok(page.TableNames.length <= 2);
        seen.push(...page.TableNames);
        ExclusiveStartTableName = page.LastEvaluatedTableName;
        if (ExclusiveStartTableName) assert.equal(ExclusiveStartTableName, page.TableNames.at(-1));
    } while (ExclusiveStartTableName);
    assert.deepEqual(seen, [...seen].sort());
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(seen.filter((n) => names.includes(n)), names);
});

test('ListTables starts after a name that need not exist', async () => {
    const name = await makeTable({ name: uniqueName('start') });
    const { TableNames } = await call('ListTables', { ExclusiveStartTableName: name.slice(0, -1), Limit: 1 });
    assert.equal(TableNames.length, 1);
    assert.ok(TableNames[0] > name.slice(0, -1));
    const last = await call('ListTables', { ExclusiveStartTableName: 'zzzzzzzzzzzz' });
    assert.deepEqual(last.TableNames, []);
    assert.equal(last.LastEvaluatedTableName, undefined);
});

test('the paginator of ListTables', async () => {
    const name = await makeTable({ name: uniqueName('paginate') });
    await makeTable();
    const seen = [];
    for await (const page of sdk.paginateListTables({ client, pageSize: 1 }, {})) seen.push(...page.TableNames);
    assert.ok(seen.includes(name));
    assert.equal(new Set(seen).size, seen.length);
});

errorCases('ListTables', [
    ['a limit of 0', { Limit: 0 }, VALIDATION,
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", { real: true }],
    ['a limit of 101', { Limit: 101 }, VALIDATION,
        "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100", { real: true }],
    ['a start name with other characters', { ExclusiveStartTableName: 'a;bc' }, VALIDATION,
        "1 validation error detected: Value 'a;bc' at 'exclusiveStartTableName' failed to satisfy constraint: " +
        'Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+', { real: true }],
    ['two errors at once', { ExclusiveStartTableName: 'a;', Limit: 500 }, VALIDATION, /^3 validation errors detected: /, { real: true }],
    ['a limit that is a string', { Limit: '1' }, 'SerializationException', 'STRING_VALUE cannot be converted to Integer', { real: true, raw: true }],
    ['a name that is a number', { ExclusiveStartTableName: 1 }, 'SerializationException', 'NUMBER_VALUE cannot be converted to String', { real: true, raw: true }],
    ['a name that is a list', { ExclusiveStartTableName: [] }, 'SerializationException', 'Unrecognized collection type class java.lang.String', { real: true, raw: true }],
    ['a name that is an object', { ExclusiveStartTableName: {} }, 'SerializationException', 'Start of structure or map found where not expected', { real: true, raw: true }],
    ['a name that is true', { ExclusiveStartTableName: true }, 'SerializationException', 'TRUE_VALUE cannot be converted to String', { real: true, raw: true }],
]);

test('DeleteTable answers DELETING, and the table goes away', async () => {
    const request = tableSpec({ key: ['pk', 'sk'], gsi: { byA: ['a'] } });
    const { TableName } = request;
    await call('CreateTable', request);
    await sdk.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName });
    const { TableDescription } = await call('DeleteTable', { TableName });
    assert.equal(TableDescription.TableName, TableName);
    if (!foreign) {
        assert.equal(TableDescription.TableStatus, 'DELETING');
        assert.equal(TableDescription.KeySchema, undefined);
        assert.equal(TableDescription.AttributeDefinitions, undefined);
        assert.equal(TableDescription.GlobalSecondaryIndexes, undefined);
    }
    const result = await sdk.waitUntilTableNotExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName });
    assert.equal(result.state, 'SUCCESS');
    await fails(call('GetItem', { TableName, Key: { pk: S('a'), sk: S('b') } }), NOT_FOUND);
    const { TableNames } = await call('ListTables', { ExclusiveStartTableName: TableName.slice(0, -1) });
    assert.ok(!TableNames.includes(TableName));
});

test('a table made again under the name of a deleted one is empty', async () => {
    const request = tableSpec({ gsi: { byA: ['a'] } });
    const { TableName } = request;
    await call('CreateTable', request);
    await put(TableName, { pk: S('old'), a: S('x') });
    await call('DeleteTable', { TableName });
    await waitFor('the name to be free', () => call('CreateTable', request).then(() => true, () => false));
    assert.equal((await call('Scan', { TableName })).Count, 0);
    assert.equal((await call('Scan', { TableName, IndexName: 'byA' })).Count, 0);
    assert.equal((await call('DescribeTable', { TableName })).Table.ItemCount, 0);
    await call('DeleteTable', { TableName });
});

test('deletion protection', async () => {
    const request = tableSpec({ DeletionProtectionEnabled: true });
    const { TableName } = request;
    await call('CreateTable', request);
    await sdk.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName });
    await fails(
        call('DeleteTable', { TableName }),
        VALIDATION,
        /^Resource cannot be deleted as it is currently protected against deletion\. Disable deletion protection first\.$/,
    );
    await call('UpdateTable', { TableName, DeletionProtectionEnabled: false });
    await waitFor('deletion', () => call('DeleteTable', { TableName }).then(() => true, () => false));
});

errorCases('DeleteTable', [
    ['no name', {}, VALIDATION, "The parameter 'TableName' is required but was not present in the request", { real: true }],
    ['a table that is not there', { TableName: 'js-no-such-table' }, NOT_FOUND,
        'Requested resource not found: Table: js-no-such-table not found', { real: true }],
]);
