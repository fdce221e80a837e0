// UpdateTable: billing, settings, indexes made and deleted while writes go on, errors.
import { test } from 'node:test';
import {
    allPages, assert, call, errorCases, fails, foreign, INVALID, makeTable, N, NOT_FOUND, put, putAll, REAL, S, same,
    uniqueName, VALIDATION, waitFor,
} from './lib.mjs';

const describe = async (TableName) => (await call('DescribeTable', { TableName })).Table;
const active = (TableName) =>
    waitFor('ACTIVE', async () => {
        const table = await describe(TableName);
        const all = [table.TableStatus, ...(table.GlobalSecondaryIndexes ?? []).map((i) => i.IndexStatus)];
        return all.every((status) => status === 'ACTIVE') && table;
    });
const attribute = (AttributeName, AttributeType = 'S') => ({ AttributeName, AttributeType });
const hash = (AttributeName) => ({ AttributeName, KeyType: 'HASH' });
const range = (AttributeName) => ({ AttributeName, KeyType: 'RANGE' });
const create = (IndexName, KeySchema, rest = {}) => ({
    Create: { IndexName, KeySchema, Projection: { ProjectionType: 'ALL' }, ...rest },
});
const throughput = (r, w) => ({ ReadCapacityUnits: r, WriteCapacityUnits: w });

test('from provisioned to on demand and back', async () => {
    const TableName = await makeTable({ BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(2, 3) });
    await active(TableName);
    const { TableDescription } = await call('UpdateTable', { TableName, BillingMode: 'PAY_PER_REQUEST' });
    if (!foreign) assert.equal(TableDescription.TableStatus, 'UPDATING');
    let table = await active(TableName);
    assert.equal(table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 0);
    await call('UpdateTable', { TableName, BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(7, 8) });
    table = await active(TableName);
    if (!foreign) assert.equal(table.BillingModeSummary.BillingMode, 'PROVISIONED');
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 7);
    assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 8);
});

test('more and less provisioned throughput is dated and counted', async () => {
    const TableName = await makeTable({ BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(5, 5) });
    await active(TableName);
    await call('UpdateTable', { TableName, ProvisionedThroughput: throughput(6, 5) });
    let table = await active(TableName);
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 6);
    assert.ok(table.ProvisionedThroughput.LastIncreaseDateTime instanceof Date);
    await call('UpdateTable', { TableName, ProvisionedThroughput: throughput(4, 5) });
    table = await active(TableName);
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 4);
    assert.ok(table.ProvisionedThroughput.LastDecreaseDateTime instanceof Date);
    if (!foreign) assert.equal(table.ProvisionedThroughput.NumberOfDecreasesToday, 1);
});

test('throughput of an index', async () => {
    const TableName = uniqueName('gsi-throughput');
    await makeTable({
        name: TableName,
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: throughput(1, 1),
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [{ ...create('byA', [hash('a')]).Create, ProvisionedThroughput: throughput(1, 1) }],
    });
    await active(TableName);
    await call('UpdateTable', {
        TableName,
        GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'byA', ProvisionedThroughput: throughput(9, 8) } }],
    });
    const table = await active(TableName);
    assert.equal(table.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits, 9);
    assert.equal(table.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits, 8);
});

test('table class, encryption, warm throughput, on-demand limits', REAL, async () => {
    const TableName = await makeTable();
    await active(TableName);
    await call('UpdateTable', { TableName, TableClass: 'STANDARD_INFREQUENT_ACCESS' });
    assert.equal((await active(TableName)).TableClassSummary.TableClass, 'STANDARD_INFREQUENT_ACCESS');
    await call('UpdateTable', { TableName, SSESpecification: { Enabled: true, SSEType: 'KMS' } });
    assert.match((await active(TableName)).SSEDescription.Status, /^(ENABLED|DISABLED)$/); // as the directory is encrypted
    await call('UpdateTable', { TableName, WarmThroughput: { ReadUnitsPerSecond: 15000, WriteUnitsPerSecond: 6000 } });
    same((await active(TableName)).WarmThroughput, { ReadUnitsPerSecond: 15000, WriteUnitsPerSecond: 6000, Status: 'ACTIVE' });
    await call('UpdateTable', { TableName, OnDemandThroughput: { MaxReadRequestUnits: 5, MaxWriteRequestUnits: 6 } });
    same((await active(TableName)).OnDemandThroughput, { MaxReadRequestUnits: 5, MaxWriteRequestUnits: 6 });
});

test('a stream can be switched on and off', async () => {
    const TableName = await makeTable();
    await active(TableName);
    await call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
    const table = await active(TableName);
    same(table.StreamSpecification, { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' });
    assert.ok(table.LatestStreamArn);
    await call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: false } });
    assert.ok(!(await active(TableName)).StreamSpecification?.StreamEnabled);
});

test('a stream that is on already, or off already', REAL, async () => {
    const TableName = await makeTable();
    await active(TableName);
    await fails(call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: false } }), VALIDATION,
        `Table has no stream to disable: TableName: ${TableName}`);
    await call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
    await active(TableName);
    await fails(call('UpdateTable', { TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } }),
        VALIDATION, `Table already has an enabled stream: TableName: ${TableName}`);
});

test('an index made online is filled from the table, while writes go on', REAL, async () => {
    const TableName = await makeTable({ key: ['pk', 'sk:N'] });
    await active(TableName);
    const before = [];
    for (let i = 0; i < 500; i++) {
        before.push({ pk: S('p' + (i % 7)), sk: N(i), ...(i % 3 ? { tag: S('t' + (i % 5)) } : {}), pad: S('x'.repeat(200)) });
    }
    await putAll(TableName, before);
    const { TableDescription } = await call('UpdateTable', {
        TableName,
        AttributeDefinitions: [attribute('tag'), attribute('sk', 'N'), attribute('pk')],
        GlobalSecondaryIndexUpdates: [create('byTag', [hash('tag'), range('sk')], { Projection: { ProjectionType: 'KEYS_ONLY' } })],
    });
    if (!foreign) {
        const index = TableDescription.GlobalSecondaryIndexes[0];
        assert.equal(index.IndexStatus, 'CREATING');
        assert.equal(index.Backfilling, false);
        assert.equal(TableDescription.TableStatus, 'UPDATING');
    }
    // Writers during the backfill: new items, changed keys, deletions.
    const work = [];
    for (let i = 0; i < 100; i++) {
        work.push(put(TableName, { pk: S('new'), sk: N(i), tag: S('t9') }));
        work.push(put(TableName, { pk: S('p' + (i % 7)), sk: N(i), tag: S('moved') }));
        work.push(call('DeleteItem', { TableName, Key: { pk: S('p' + ((i + 200) % 7)), sk: N(i + 200) } }));
    }
    await Promise.all(work);
    const table = await active(TableName);
    assert.equal(table.GlobalSecondaryIndexes[0].Backfilling, undefined);
    const expected = (await allPages('Scan', { TableName })).items
        .filter((item) => item.tag)
        .map(({ pk, sk, tag }) => `${tag.S} ${sk.N} ${pk.S}`)
        .sort();
    const actual = (await allPages('Scan', { TableName, IndexName: 'byTag', Limit: 37 })).items
        .map(({ pk, sk, tag, ...rest }) => (assert.deepEqual(rest, {}), `${tag.S} ${sk.N} ${pk.S}`))
        .sort();
    assert.deepEqual(actual, expected);
    if (!foreign) assert.equal(table.GlobalSecondaryIndexes[0].ItemCount, expected.length);
});

test('items whose attribute does not fit the new index are left out', async () => {
    const TableName = await makeTable();
    await active(TableName);
    await putAll(TableName, [
        { pk: S('fits'), a: S('x') },
        { pk: S('a number'), a: N(1) },
        { pk: S('empty'), a: S('') },
        { pk: S('too long'), a: S('x'.repeat(2049)) },
        { pk: S('none') },
    ]);
    await call('UpdateTable', {
        TableName, AttributeDefinitions: [attribute('a')], GlobalSecondaryIndexUpdates: [create('byA', [hash('a')])],
    });
    await active(TableName);
    const { items } = await allPages('Scan', { TableName, IndexName: 'byA' });
    if (!foreign) assert.deepEqual(items.map((i) => i.pk.S), ['fits']);
    else assert.ok(items.some((i) => i.pk.S === 'fits'));
    if (!foreign) assert.equal((await describe(TableName)).GlobalSecondaryIndexes[0].ItemCount, 1);
});

test('an index is deleted', async () => {
    const TableName = await makeTable({ gsi: { byA: ['a'], byB: ['b'] } });
    await active(TableName);
    await put(TableName, { pk: S('1'), a: S('a'), b: S('b') });
    const { TableDescription } = await call('UpdateTable', {
        TableName, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byA' } }],
    });
    if (!foreign) {
        const index = TableDescription.GlobalSecondaryIndexes.find((i) => i.IndexName === 'byA');
        assert.equal(index.IndexStatus, 'DELETING');
    }
    await waitFor('the index to go', async () => (await describe(TableName)).GlobalSecondaryIndexes.length === 1);
    await active(TableName);
    await fails(call('Scan', { TableName, IndexName: 'byA' }), VALIDATION, 'The table does not have the specified index: byA');
    assert.equal((await call('Scan', { TableName, IndexName: 'byB' })).Count, 1);
    if (!foreign) {
        const names = (await describe(TableName)).AttributeDefinitions.map((d) => d.AttributeName).sort();
        assert.deepEqual(names, ['b', 'pk']);
    }
    // The attribute is free again, of any type, and the name too.
    await put(TableName, { pk: S('1'), a: N(5), b: S('b') });
    await call('UpdateTable', {
        TableName, AttributeDefinitions: [attribute('a', 'N')], GlobalSecondaryIndexUpdates: [create('byA', [hash('a')])],
    });
    await active(TableName);
    assert.equal((await call('Scan', { TableName, IndexName: 'byA' })).Count, 1);
});

const table = await makeTable({ key: ['pk', 'sk'], gsi: { byA: ['a'] }, lsi: { local: ['pk', 'l'] } });
const provisioned = await makeTable({ BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(2, 3) });
await active(table);
await active(provisioned);
const one = '1 validation error detected: ';
const defs = [attribute('pk'), attribute('sk'), attribute('a'), attribute('l')];

errorCases('UpdateTable', [
    ['no name', { BillingMode: 'PAY_PER_REQUEST' }, VALIDATION, "The parameter 'TableName' is required but was not present in the request"],
    ['nothing to update', { TableName: table }, VALIDATION,
        'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ' +
        'ReplicaUpdates is required'],
    ['a table that is not there', { TableName: 'js-no-such-table', DeletionProtectionEnabled: false }, NOT_FOUND,
        'Requested resource not found: Table: js-no-such-table not found'],
    ['capacity for a table on demand', { TableName: table, ProvisionedThroughput: throughput(1, 1) }, VALIDATION,
        INVALID + 'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'],
    ['both on demand and capacity', { TableName: provisioned, BillingMode: 'PAY_PER_REQUEST', ProvisionedThroughput: throughput(1, 1) }, VALIDATION,
        INVALID + 'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'],
    ['provisioned without capacity', { TableName: table, BillingMode: 'PROVISIONED' }, VALIDATION,
        INVALID + 'ProvisionedThroughput must be specified when BillingMode is PROVISIONED'],
    ['the capacity it has', { TableName: provisioned, ProvisionedThroughput: throughput(2, 3) }, VALIDATION,
        'The provisioned throughput for the table will not change. The requested value equals the current value. ' +
        'Current ReadCapacityUnits provisioned for the table: 2. Requested ReadCapacityUnits: 2. ' +
        'Current WriteCapacityUnits provisioned for the table: 3. Requested WriteCapacityUnits: 3. ' +
        'Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.'],
    ['zero capacity', { TableName: provisioned, ProvisionedThroughput: throughput(0, 1) }, VALIDATION,
        one + "Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1"],
    ['an index that is not there', { TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'none' } }] }, NOT_FOUND,
        /^Requested resource not found/],
    ['a local index', { TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'local' } }] }, VALIDATION,
        'Cannot delete an index that is not a GlobalSecondaryIndex'],
    ['an index that is there', { TableName: table, AttributeDefinitions: defs, GlobalSecondaryIndexUpdates: [create('byA', [hash('a')])] },
        VALIDATION, 'Attempting to create an index which already exists'],
    ['the name of a local index', { TableName: table, AttributeDefinitions: defs, GlobalSecondaryIndexUpdates: [create('local', [hash('a')])] },
        VALIDATION, /Duplicate index name: local|Attempting to create an index which already exists/],
    ['an attribute without a definition', { TableName: table, GlobalSecondaryIndexUpdates: [create('byZ', [hash('z')])] }, VALIDATION,
        INVALID + 'Some index key attributes are not defined in AttributeDefinitions. Keys: [z], AttributeDefinitions: []'],
    ['another type for a defined attribute', {
        TableName: table,
        AttributeDefinitions: [attribute('a', 'N'), attribute('z')],
        GlobalSecondaryIndexUpdates: [create('byZ', [hash('z'), range('a')])],
    }, VALIDATION, /Attribute Type|type|redefin/i],
    ['two indexes at once', {
        TableName: table,
        AttributeDefinitions: [...defs, attribute('z')],
        GlobalSecondaryIndexUpdates: [create('byZ', [hash('z')]), create('byL', [hash('l')])],
    }, 'LimitExceededException', 'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table'],
    ['one index twice', {
        TableName: table,
        GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byA' } }, { Update: { IndexName: 'byA', ProvisionedThroughput: throughput(1, 1) } }],
    }, VALIDATION, INVALID + 'Only one global secondary index update per index is allowed simultaneously. Index: byA'],
    ['an update of nothing', { TableName: table, GlobalSecondaryIndexUpdates: [{}] }, VALIDATION,
        INVALID + 'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null'],
    ['a short index name', { TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'ab' } }] }, VALIDATION,
        one + "Value 'ab' at 'globalSecondaryIndexUpdates.1.member.delete.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3"],
    ['no key schema for a new index', {
        TableName: table, GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'byZ', Projection: { ProjectionType: 'ALL' } } }],
    }, VALIDATION, one + "Value null at 'globalSecondaryIndexUpdates.1.member.create.keySchema' failed to satisfy constraint: Member must not be null"],
    ['a stream without a view', { TableName: table, StreamSpecification: { StreamEnabled: true } }, VALIDATION,
        INVALID + 'If stream is being enabled then UpdateViewType is required'],
    ['two actions in one update', { TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byA' }, Update: { IndexName: 'byA', ProvisionedThroughput: throughput(1, 1) } }] },
        VALIDATION, INVALID + 'Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object'],
    ['encryption and more', { TableName: table, SSESpecification: { Enabled: true }, DeletionProtectionEnabled: false }, VALIDATION,
        /must be the only operation in the request$/],
    ['provisioned without capacity for an index', { TableName: table, BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(1, 1) }, VALIDATION,
        INVALID + 'ProvisionedThroughput must be specified for index: byA'],
], { real: true });
