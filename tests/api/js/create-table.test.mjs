// CreateTable: what is read back, and every error of a request.
import { after, test } from 'node:test';
import {
    assert, call, errorCases, fails, foreign, INVALID, IN_USE, makeTable, NOT_FOUND, put, REAL, S, same, sdk, client, tableSpec, uniqueName,
    VALIDATION, waitFor,
} from './lib.mjs';

const created = [];
after(async () => {
    for (const TableName of created) await call('DeleteTable', { TableName }).catch(() => {});
});
async function create(spec) {
    const request = tableSpec(spec);
    created.push(request.TableName);
    return (await call('CreateTable', request)).TableDescription;
}
async function describeActive(TableName) {
    return waitFor(TableName + ' to be ACTIVE', async () => {
        const { Table } = await call('DescribeTable', { TableName });
        const active = Table.TableStatus === 'ACTIVE' &&
            (Table.GlobalSecondaryIndexes ?? []).every((i) => i.IndexStatus === 'ACTIVE');
        return active && Table;
    });
}

test('the answer says CREATING and repeats the request', async () => {
    const name = uniqueName('create');
    const table = await create({
        name,
        key: ['pk', 'sk:N'],
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
    });
    assert.equal(table.TableName, name);
    if (!foreign) assert.equal(table.TableStatus, 'CREATING');
    same(table.KeySchema, [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    same([...table.AttributeDefinitions].sort((a, b) => (a.AttributeName < b.AttributeName ? -1 : 1)), [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'N' },
    ]);
    assert.equal(table.ItemCount, 0);
    assert.equal(table.TableSizeBytes, 0);
    assert.ok(Math.abs(table.CreationDateTime - Date.now()) < 60000);
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 3);
    assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 4);
    assert.equal(table.ProvisionedThroughput.NumberOfDecreasesToday, 0);
    assert.match(table.TableArn, new RegExp(`^arn:aws:dynamodb:[^:]+:000000000000:table/${name}$`));
    if (!foreign) assert.match(table.TableId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.equal(table.DeletionProtectionEnabled, false);
});

test('a table is usable as soon as CreateTable has answered', async () => {
    const { TableName } = await create({});
    await put(TableName, { pk: S('a') });
    const { Items } = await call('Scan', { TableName });
    same(Items, [{ pk: S('a') }]);
});

test('a table on demand has a BillingModeSummary and no throughput', REAL, async () => {
    const { TableName } = await create({ gsi: { byA: ['a'] } });
    const table = await describeActive(TableName);
    assert.equal(table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
    assert.ok(table.BillingModeSummary.LastUpdateToPayPerRequestDateTime instanceof Date);
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 0);
    assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 0);
    assert.equal(table.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits, 0);
});

test('a provisioned table has no BillingModeSummary', REAL, async () => {
    const { TableName } = await create({
        BillingMode: undefined,
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
    });
    const table = await describeActive(TableName);
    assert.equal(table.BillingModeSummary, undefined);
});

test('warm throughput is reported with its status', REAL, async () => {
    const { TableName } = await create({ gsi: { byA: ['a'] } });
    const table = await describeActive(TableName);
    same(table.WarmThroughput, { ReadUnitsPerSecond: 12000, WriteUnitsPerSecond: 4000, Status: 'ACTIVE' });
    same(table.GlobalSecondaryIndexes[0].WarmThroughput, {
        ReadUnitsPerSecond: 12000,
        WriteUnitsPerSecond: 4000,
        Status: 'ACTIVE',
    });
});

test('warm throughput of a request is kept', REAL, async () => {
    const { TableName } = await create({ WarmThroughput: { ReadUnitsPerSecond: 13000, WriteUnitsPerSecond: 5000 } });
    const table = await describeActive(TableName);
    same(table.WarmThroughput, { ReadUnitsPerSecond: 13000, WriteUnitsPerSecond: 5000, Status: 'ACTIVE' });
});

test('limits of on-demand throughput are reported', async () => {
    const { TableName } = await create({ OnDemandThroughput: { MaxReadRequestUnits: 10, MaxWriteRequestUnits: 20 } });
    const table = await describeActive(TableName);
    same(table.OnDemandThroughput, { MaxReadRequestUnits: 10, MaxWriteRequestUnits: 20 });
});

test('table class, encryption, stream and deletion protection are reported', async () => {
    const { TableName } = await create({
        TableClass: 'STANDARD_INFREQUENT_ACCESS',
        SSESpecification: { Enabled: true },
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        DeletionProtectionEnabled: true,
    });
    const table = await describeActive(TableName);
    if (!foreign) {
        assert.equal(table.TableClassSummary.TableClass, 'STANDARD_INFREQUENT_ACCESS');
        assert.match(table.SSEDescription.Status, /^(ENABLED|DISABLED)$/); // as the directory is encrypted
    }
    same(table.StreamSpecification, { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    assert.match(table.LatestStreamLabel, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
    assert.match(table.LatestStreamArn, new RegExp(`:table/${TableName}/stream/${table.LatestStreamLabel}$`));
    assert.equal(table.DeletionProtectionEnabled, true);
    await call('UpdateTable', { TableName, DeletionProtectionEnabled: false });
});

test('secondary indexes are described', async () => {
    const { TableName } = await create({
        key: ['pk', 'sk'],
        gsi: { gsi1: ['a'], gsi2: { key: ['b:N', 'c:B'], projection: 'KEYS_ONLY' } },
        lsi: { lsi1: { key: ['pk', 'd'], projection: ['x', 'y'] } },
    });
    const table = await describeActive(TableName);
    const indexes = [...table.GlobalSecondaryIndexes].sort((x, y) => (x.IndexName < y.IndexName ? -1 : 1));
    assert.deepEqual(indexes.map((i) => i.IndexName), ['gsi1', 'gsi2']);
    same(indexes[0].KeySchema, [{ AttributeName: 'a', KeyType: 'HASH' }]);
    same(indexes[0].Projection, { ProjectionType: 'ALL' });
    same(indexes[1].Projection, { ProjectionType: 'KEYS_ONLY' });
    assert.equal(indexes[0].IndexStatus, 'ACTIVE');
    assert.equal(indexes[0].ItemCount, 0);
    assert.equal(indexes[0].IndexSizeBytes, 0);
    assert.ok(indexes[0].IndexArn.endsWith(`:table/${TableName}/index/gsi1`));
    const local = table.LocalSecondaryIndexes[0];
    assert.equal(local.IndexName, 'lsi1');
    assert.equal(local.Projection.ProjectionType, 'INCLUDE');
    assert.deepEqual([...local.Projection.NonKeyAttributes].sort(), ['x', 'y']);
    assert.equal(local.ItemCount, 0);
    assert.ok(local.IndexArn.endsWith(`:table/${TableName}/index/lsi1`));
});

test('20 global and 5 local indexes are allowed', async () => {
    const gsi = {};
    const lsi = {};
    for (let i = 0; i < 20; i++) gsi['gsi' + i] = ['g' + i];
    for (let i = 0; i < 5; i++) lsi['lsi' + i] = ['pk', 'l' + i];
    const { TableName } = await create({ key: ['pk', 'sk'], gsi, lsi });
    const table = await describeActive(TableName);
    assert.equal(table.GlobalSecondaryIndexes.length, 20);
    assert.equal(table.LocalSecondaryIndexes.length, 5);
});

test('a key of four and four attributes in a global index', async () => {
    const { TableName } = await create({
        gsi: { wide: { hash: ['h1', 'h2:N', 'h3', 'h4:B'], range: ['r1', 'r2:N', 'r3', 'r4'] } },
    });
    const table = await describeActive(TableName);
    assert.equal(table.GlobalSecondaryIndexes[0].KeySchema.length, 8);
});

test('the waiter waitUntilTableExists', async () => {
    const { TableName } = await create({});
    const result = await sdk.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName });
    assert.equal(result.state, 'SUCCESS');
});

test('a name that is taken', async () => {
    const TableName = await makeTable();
    await fails(call('CreateTable', tableSpec({ name: TableName })), IN_USE, /^Table already exists: |^Cannot create preexisting table/);
});
test('a name that is taken: message', REAL, async () => {
    const TableName = await makeTable();
    await fails(call('CreateTable', tableSpec({ name: TableName })), IN_USE, `Table already exists: ${TableName}`);
});

test('names are case-sensitive', REAL, async () => {
    const name = uniqueName('CaSe');
    await create({ name });
    await create({ name: name.toLowerCase() });
    await put(name, { pk: S('upper') });
    same((await call('Scan', { TableName: name.toLowerCase() })).Items, []);
    await fails(call('DescribeTable', { TableName: name.toUpperCase() }), NOT_FOUND);
});

const good = (change = {}) => ({ ...tableSpec({ name: 'js-never-created' }), ...change });
const attribute = (AttributeName, AttributeType = 'S') => ({ AttributeName, AttributeType });
const hash = (AttributeName) => ({ AttributeName, KeyType: 'HASH' });
const range = (AttributeName) => ({ AttributeName, KeyType: 'RANGE' });
const index = (IndexName, KeySchema, rest = {}) => ({
    IndexName,
    KeySchema,
    Projection: { ProjectionType: 'ALL' },
    ...rest,
});
const throughput = (r, w) => ({ ReadCapacityUnits: r, WriteCapacityUnits: w });
const one = '1 validation error detected: ';
const at = (value, path, constraint) =>
    `Value ${value === null ? 'null' : `'${value}'`} at '${path}' failed to satisfy constraint: Member must ${constraint}`;

errorCases('CreateTable', [
    ['no name', good({ TableName: undefined }), VALIDATION,
        "The parameter 'TableName' is required but was not present in the request"],
    ['a short name', good({ TableName: 'ab' }), VALIDATION,
        one + at('ab', 'tableName', 'have length greater than or equal to 3')],
    ['a long name', good({ TableName: 'a'.repeat(256) }), VALIDATION,
        one + at('a'.repeat(256), 'tableName', 'have length less than or equal to 255')],
    ['a name with other characters', good({ TableName: 'abc;' }), VALIDATION,
        one + at('abc;', 'tableName', 'satisfy regular expression pattern: [a-zA-Z0-9_.-]+')],
    ['nothing but a name', { TableName: 'js-never-created' }, VALIDATION,
        /^2 validation errors detected: .*'(attributeDefinitions|keySchema)'.*; .*'(attributeDefinitions|keySchema)'/],
    ['no key schema', good({ KeySchema: undefined }), VALIDATION,
        one + at(null, 'keySchema', 'not be null')],
    ['no attribute definitions', good({ AttributeDefinitions: undefined }), VALIDATION,
        one + at(null, 'attributeDefinitions', 'not be null')],
    ['an empty key schema', good({ KeySchema: [] }), VALIDATION,
        one + at('[]', 'keySchema', 'have length greater than or equal to 1')],
    ['a key of three', good({
        KeySchema: [hash('pk'), range('sk'), range('x')],
        AttributeDefinitions: [attribute('pk'), attribute('sk'), attribute('x')],
    }), VALIDATION,
        /^1 validation error detected: Value '\[.*\]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2$/],
    ['an unknown key type', good({ KeySchema: [{ AttributeName: 'pk', KeyType: 'OTHER' }] }), VALIDATION,
        one + at('OTHER', 'keySchema.1.member.keyType', 'satisfy enum value set: [HASH, RANGE]')],
    ['an unknown attribute type', good({ AttributeDefinitions: [attribute('pk', 'X')] }), VALIDATION,
        one + at('X', 'attributeDefinitions.1.member.attributeType', 'satisfy enum value set: [B, N, S]')],
    ['an unknown billing mode', good({ BillingMode: 'FREE' }), VALIDATION,
        /Value 'FREE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: \[(PROVISIONED, PAY_PER_REQUEST|PAY_PER_REQUEST, PROVISIONED)\]$/],
    ['an unknown table class', good({ TableClass: 'OTHER' }), VALIDATION,
        one + at('OTHER', 'tableClass', 'satisfy enum value set: [STANDARD, STANDARD_INFREQUENT_ACCESS]')],
    ['zero capacity', good({ BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(0, 1) }), VALIDATION,
        one + at('0', 'provisionedThroughput.readCapacityUnits', 'have value greater than or equal to 1')],
    ['no capacity for a provisioned table', good({ BillingMode: 'PROVISIONED' }), VALIDATION,
        INVALID + 'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED'],
    ['no billing mode and no capacity', good({ BillingMode: undefined }), VALIDATION,
        INVALID + 'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED'],
    ['capacity for a table on demand', good({ ProvisionedThroughput: throughput(1, 1) }), VALIDATION,
        INVALID + 'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'],
    ['capacity for an index of a table on demand', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { ProvisionedThroughput: throughput(1, 1) })],
    }), VALIDATION,
        INVALID + 'ProvisionedThroughput should not be specified for index: byA when BillingMode is PAY_PER_REQUEST'],
    ['no capacity for an index of a provisioned table', good({
        BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput(1, 1),
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')])],
    }), VALIDATION, INVALID + 'ProvisionedThroughput must be specified for index: byA'],
    ['a key attribute without a definition', good({ AttributeDefinitions: [attribute('other')] }), VALIDATION,
        INVALID + 'Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: [other]'],
    ['more keys than definitions', good({ KeySchema: [hash('pk'), range('sk')] }), VALIDATION,
        'Invalid KeySchema: Some index key attribute have no definition'],
    ['a definition that no key uses', good({ AttributeDefinitions: [attribute('pk'), attribute('other')] }), VALIDATION,
        INVALID + 'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions'],
    ['a definition that no key or index uses', good({
        AttributeDefinitions: [attribute('pk'), attribute('a'), attribute('other')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')])],
    }), VALIDATION, /Some AttributeDefinitions are not used\. AttributeDefinitions: \[.*other.*\], keys used: \[.*\]/],
    ['the same attribute twice in the key', good({
        KeySchema: [hash('pk'), range('pk')], AttributeDefinitions: [attribute('pk'), attribute('x')],
    }), VALIDATION, 'Both the Hash Key and the Range Key element in the KeySchema have the same name'],
    ['the range key first', good({
        KeySchema: [range('pk'), hash('sk')], AttributeDefinitions: [attribute('pk'), attribute('sk')],
    }), VALIDATION, 'Invalid KeySchema: The first KeySchemaElement is not a HASH key type'],
    ['two hash keys', good({
        KeySchema: [hash('pk'), hash('sk')], AttributeDefinitions: [attribute('pk'), attribute('sk')],
    }), VALIDATION, 'Invalid KeySchema: The second KeySchemaElement is not a RANGE key type'],
    ['an empty list of local indexes', good({ LocalSecondaryIndexes: [] }), VALIDATION,
        INVALID + 'List of LocalSecondaryIndexes is empty'],
    ['an empty list of global indexes', good({ GlobalSecondaryIndexes: [] }), VALIDATION,
        INVALID + 'List of GlobalSecondaryIndexes is empty'],
    ['a local index of a table without a range key', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        LocalSecondaryIndexes: [index('loc', [hash('pk'), range('a')])],
    }), VALIDATION,
        INVALID + 'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex'],
    ['a local index without a range key', good({
        KeySchema: [hash('pk'), range('sk')],
        AttributeDefinitions: [attribute('pk'), attribute('sk')],
        LocalSecondaryIndexes: [index('loc', [hash('pk')])],
    }), VALIDATION, INVALID + 'Index KeySchema does not have a range key for index: loc'],
    ['a local index with another hash key', good({
        KeySchema: [hash('pk'), range('sk')],
        AttributeDefinitions: [attribute('pk'), attribute('sk'), attribute('a')],
        LocalSecondaryIndexes: [index('loc', [hash('a'), range('sk')])],
    }), VALIDATION,
        INVALID + 'Index KeySchema does not have the same leading hash key as table KeySchema for index: loc. ' +
        'index hash key: a, table hash key: pk'],
    ['two indexes of one name', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('same', [hash('a')]), index('same', [hash('pk')])],
    }), VALIDATION, INVALID + 'Duplicate index name: same'],
    ['a local and a global index of one name', good({
        KeySchema: [hash('pk'), range('sk')],
        AttributeDefinitions: [attribute('pk'), attribute('sk'), attribute('a')],
        GlobalSecondaryIndexes: [index('same', [hash('a')])],
        LocalSecondaryIndexes: [index('same', [hash('pk'), range('a')])],
    }), VALIDATION, INVALID + 'Duplicate index name: same'],
    ['no projection', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: undefined })],
    }), VALIDATION, one + at(null, 'globalSecondaryIndexes.1.member.projection', 'not be null')],
    ['an empty projection', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: {} })],
    }), VALIDATION, INVALID + 'Unknown ProjectionType: null'],
    ['an unknown projection', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: { ProjectionType: 'SOME' } })],
    }), VALIDATION,
        one + at('SOME', 'globalSecondaryIndexes.1.member.projection.projectionType',
            'satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]')],
    ['attributes for a projection of all', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: { ProjectionType: 'ALL', NonKeyAttributes: ['x'] } })],
    }), VALIDATION, INVALID + 'ProjectionType is ALL, but NonKeyAttributes is specified'],
    ['attributes for a projection of keys', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: { ProjectionType: 'KEYS_ONLY', NonKeyAttributes: ['x'] } })],
    }), VALIDATION, INVALID + 'ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified'],
    ['INCLUDE without attributes', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: { ProjectionType: 'INCLUDE' } })],
    }), VALIDATION, INVALID + 'ProjectionType is INCLUDE, but NonKeyAttributes is not specified'],
    ['an attribute twice in a projection', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('byA', [hash('a')], { Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'x'] } })],
    }), VALIDATION, INVALID + 'Duplicate element in NonKeyAttributes: x'],
    ['an attribute defined twice', good({ AttributeDefinitions: [attribute('pk'), attribute('pk')] }), VALIDATION, 'Attribute Name is duplicated: pk'],
    ['RANGE before HASH in a wide key', good({
        AttributeDefinitions: ['pk', 'a', 'b', 'c'].map((n) => attribute(n)),
        GlobalSecondaryIndexes: [index('wide', [hash('a'), range('b'), hash('c')])],
    }), VALIDATION, INVALID + 'All HASH key attributes must precede RANGE key attributes in the KeySchema'],
    ['five HASH attributes', good({
        AttributeDefinitions: ['pk', 'a', 'b', 'c', 'd', 'e'].map((n) => attribute(n)),
        GlobalSecondaryIndexes: [index('wide', ['a', 'b', 'c', 'd', 'e'].map(hash))],
    }), VALIDATION, INVALID + 'The KeySchema exceeds the maximum allowed number of HASH key attributes'],
    ['five RANGE attributes', good({
        AttributeDefinitions: ['pk', 'a', 'b', 'c', 'd', 'e'].map((n) => attribute(n)),
        GlobalSecondaryIndexes: [index('wide', [hash('pk'), ...['a', 'b', 'c', 'd', 'e'].map(range)])],
    }), VALIDATION, INVALID + 'The KeySchema exceeds the maximum allowed number of RANGE key attributes'],
    ['a short index name', good({
        AttributeDefinitions: [attribute('pk'), attribute('a')],
        GlobalSecondaryIndexes: [index('ab', [hash('a')])],
    }), VALIDATION,
        one + at('ab', 'globalSecondaryIndexes.1.member.indexName', 'have length greater than or equal to 3')],
    ['21 global indexes', () => good(tableSpec({
        name: 'js-never-created',
        gsi: Object.fromEntries(Array.from({ length: 21 }, (_, i) => ['gsi' + i, ['g' + i]])),
    })), VALIDATION, INVALID + 'GlobalSecondaryIndex count exceeds the per-table limit of 20'],
    ['6 local indexes', () => good(tableSpec({
        name: 'js-never-created', key: ['pk', 'sk'],
        lsi: Object.fromEntries(Array.from({ length: 6 }, (_, i) => ['lsi' + i, ['pk', 'l' + i]])),
    })), VALIDATION, INVALID + 'Number of LocalSecondaryIndexes exceeds per-table limit of 5'],
    ['more than 100 projected attributes', () => good(tableSpec({
        name: 'js-never-created',
        gsi: Object.fromEntries(Array.from({ length: 6 }, (_, i) => ['gsi' + i,
            { key: ['g' + i], projection: Array.from({ length: 19 }, (__, j) => `attr${i}x${j}`) }])),
    })), VALIDATION, /^One or more parameter values were invalid: Number of NonKeyAttributes exceeds.* limit of 100/],
    ['a stream without a view type', good({ StreamSpecification: { StreamEnabled: true } }), VALIDATION,
        INVALID + 'Table is being created with a stream enabled, UpdateViewType is required'],
    ['a view type without a stream', good({ StreamSpecification: { StreamEnabled: false, StreamViewType: 'KEYS_ONLY' } }), VALIDATION,
        INVALID + 'Table is being created with a stream disabled, UpdateViewType should not be specified'],
], { real: true });
