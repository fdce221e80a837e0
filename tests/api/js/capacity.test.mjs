// ReturnConsumedCapacity in exact units, and ReturnItemCollectionMetrics.
import { test } from 'node:test';
import { assert, call, makeTable, N, put, REAL, S, same } from './lib.mjs';

const table = await makeTable({
    key: ['pk', 'sk'],
    gsi: { include: { key: ['g'], projection: ['proj'] }, keys: { key: ['k', 'n:N'], projection: 'KEYS_ONLY' } },
    lsi: { local: ['pk', 'l'] },
});
const plain = await makeTable();
let count = 0;
const fresh = () => ({ pk: S('i' + ++count), sk: S('1') });
// Makes an item of `bytes` in the table without a sort key: 2 + 3 + 1 and the padding.
const sized = (bytes, id = 'abc') => ({ pk: S(id), d: S('x'.repeat(bytes - 6)) });
const indexes = { ReturnConsumedCapacity: 'INDEXES' };
const total = { ReturnConsumedCapacity: 'TOTAL' };

// What a write to `table` must answer on INDEXES.
function expectUnits(capacity, { table: units, gsi = {}, local }) {
    const sum = units + Object.values(gsi).reduce((a, b) => a + b, 0) + (local ?? 0);
    same(capacity, {
        TableName: table,
        CapacityUnits: sum,
        Table: { CapacityUnits: units },
        ...(Object.keys(gsi).length && {
            GlobalSecondaryIndexes: Object.fromEntries(Object.entries(gsi).map(([k, v]) => [k, { CapacityUnits: v }])),
        }),
        ...(local && { LocalSecondaryIndexes: { local: { CapacityUnits: local } } }),
    });
}

test('without ReturnConsumedCapacity, or with NONE, there is none', async () => {
    assert.equal((await put(plain, sized(10))).ConsumedCapacity, undefined);
    assert.equal((await put(plain, sized(10), { ReturnConsumedCapacity: 'NONE' })).ConsumedCapacity, undefined);
});

// ---- Reads ------------------------------------------------------------------------------

for (const [bytes, units] of [[10, 1], [4096, 1], [4097, 2], [8192, 2], [100000, 25], [409600, 100]]) {
    test(`reading ${bytes} bytes is ${units} units, or half of that`, async () => {
        await put(plain, sized(bytes));
        const read = async (rest) => (await call('GetItem', { TableName: plain, Key: { pk: S('abc') }, ...total, ...rest })).ConsumedCapacity;
        same(await read({ ConsistentRead: true }), { TableName: plain, CapacityUnits: units });
        same(await read({}), { TableName: plain, CapacityUnits: units / 2 });
        same(await read(indexes), { TableName: plain, CapacityUnits: units / 2, Table: { CapacityUnits: units / 2 } });
        // What is left out by a projection is paid too.
        same(await read({ ProjectionExpression: 'pk' }), { TableName: plain, CapacityUnits: units / 2 });
    });
}

test('reading nothing is a read', REAL, async () => {
    const none = { TableName: plain, Key: { pk: S('none') }, ...total };
    same((await call('GetItem', none)).ConsumedCapacity, { TableName: plain, CapacityUnits: 0.5 });
    same((await call('GetItem', { ...none, ConsistentRead: true })).ConsumedCapacity, { TableName: plain, CapacityUnits: 1 });
    const query = {
        TableName: plain, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('none') }, ...total,
    };
    same((await call('Query', query)).ConsumedCapacity, { TableName: plain, CapacityUnits: 0.5 });
});

test('a query pays for the sum of what it reads', REAL, async () => {
    const name = await makeTable({ key: ['pk', 'sk:N'], gsi: { byG: { key: ['g'], projection: 'KEYS_ONLY' } }, lsi: { byL: { key: ['pk', 'l:N'], projection: 'KEYS_ONLY' } } });
    // 2+1 + 2+2 + 1+1 + 1+2 + 1+1000 = 1012 bytes each.
    for (let i = 1; i <= 9; i++) await put(name, { pk: S('p'), sk: N(i), g: S('g'), l: N(i), d: S('x'.repeat(1000)) });
    const query = async (rest) => (await call('Query', {
        TableName: name, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p') }, ...indexes, ...rest,
    })).ConsumedCapacity;
    // 9 × 1012 = 9108: three units of 4 KB, halved.
    same(await query({}), { TableName: name, CapacityUnits: 1.5, Table: { CapacityUnits: 1.5 } });
    same(await query({ ConsistentRead: true }), { TableName: name, CapacityUnits: 3, Table: { CapacityUnits: 3 } });
    same(await query({ Limit: 4 }), { TableName: name, CapacityUnits: 0.5, Table: { CapacityUnits: 0.5 } });
    same(await query({ Select: 'COUNT' }), { TableName: name, CapacityUnits: 1.5, Table: { CapacityUnits: 1.5 } });
    same(await query({ FilterExpression: 'attribute_not_exists(d)' }), { TableName: name, CapacityUnits: 1.5, Table: { CapacityUnits: 1.5 } });
    const zero = { CapacityUnits: 0 };
    same(await query({ IndexName: 'byG', KeyConditionExpression: 'g = :p', ExpressionAttributeValues: { ':p': S('g') } }), {
        TableName: name, CapacityUnits: 0.5, Table: zero, GlobalSecondaryIndexes: { byG: { CapacityUnits: 0.5 } },
    });
    same(await query({ IndexName: 'byL' }), {
        TableName: name, CapacityUnits: 0.5, Table: zero, LocalSecondaryIndexes: { byL: { CapacityUnits: 0.5 } },
    });
    // What the local index lacks is fetched item by item from the table.
    same(await query({ IndexName: 'byL', Select: 'ALL_ATTRIBUTES' }), {
        TableName: name, CapacityUnits: 5, Table: { CapacityUnits: 4.5 }, LocalSecondaryIndexes: { byL: { CapacityUnits: 0.5 } },
    });
    const scan = await call('Scan', { TableName: name, ...total });
    same(scan.ConsumedCapacity, { TableName: name, CapacityUnits: 1.5 });
});

test('BatchGetItem rounds each item', REAL, async () => {
    await put(plain, sized(4097, 'bg1'));
    await put(plain, sized(100, 'bg2'));
    const answer = await call('BatchGetItem', {
        RequestItems: { [plain]: { Keys: [{ pk: S('bg1') }, { pk: S('bg2') }, { pk: S('bg3') }] } }, ...total,
    });
    same(answer.ConsumedCapacity, [{ TableName: plain, CapacityUnits: 1 + 0.5 + 0.5 }]);
    const consistent = await call('BatchGetItem', {
        RequestItems: { [plain]: { Keys: [{ pk: S('bg1') }, { pk: S('bg2') }], ConsistentRead: true } }, ...indexes,
    });
    same(consistent.ConsumedCapacity, [{ TableName: plain, CapacityUnits: 3, Table: { CapacityUnits: 3 } }]);
});

// ---- Writes -----------------------------------------------------------------------------

for (const [bytes, units] of [[10, 1], [1024, 1], [1025, 2], [10240, 10], [409600, 400]]) {
    test(`writing ${bytes} bytes is ${units} units`, async () => {
        await call('DeleteItem', { TableName: plain, Key: { pk: S('abc') } });
        same((await put(plain, sized(bytes), total)).ConsumedCapacity, { TableName: plain, CapacityUnits: units });
        // The larger of old and new is paid.
        same((await put(plain, sized(10), total)).ConsumedCapacity, { TableName: plain, CapacityUnits: units });
        await put(plain, sized(bytes));
        const update = { TableName: plain, Key: { pk: S('abc') }, UpdateExpression: 'REMOVE d', ...total };
        same((await call('UpdateItem', update)).ConsumedCapacity, { TableName: plain, CapacityUnits: units });
        await put(plain, sized(bytes));
        const remove = { TableName: plain, Key: { pk: S('abc') }, ...total };
        same((await call('DeleteItem', remove)).ConsumedCapacity, { TableName: plain, CapacityUnits: units });
        same((await call('DeleteItem', remove)).ConsumedCapacity, { TableName: plain, CapacityUnits: 1 });
    });
}

test('writes to indexes: a put', REAL, async () => {
    const key = fresh();
    const item = { ...key, g: S('g'), l: S('l'), k: S('k'), n: N(1), proj: S('p'), other: S('o') };
    expectUnits((await put(table, item, indexes)).ConsumedCapacity, { table: 1, gsi: { include: 1, keys: 1 }, local: 1 });
    // The same again changes no index.
    expectUnits((await put(table, item, indexes)).ConsumedCapacity, { table: 1 });
    // An attribute no global index has; the local one has all.
    expectUnits((await put(table, { ...item, other: S('o2') }, indexes)).ConsumedCapacity, { table: 1, local: 1 });
    // TOTAL is the sum.
    const sum = (await put(table, { ...item, proj: S('p2') }, total)).ConsumedCapacity;
    same(sum, { TableName: table, CapacityUnits: 1 + 1 + 1 });
});

test('writes to indexes: an item that is in none', REAL, async () => {
    expectUnits((await put(table, fresh(), indexes)).ConsumedCapacity, { table: 1 });
    // One half of the index key is not enough.
    expectUnits((await put(table, { ...fresh(), k: S('k') }, indexes)).ConsumedCapacity, { table: 1 });
});

test('writes to indexes: an update', REAL, async () => {
    const ladder = [
        ['SET other2 = :v', { local: 1 }],
        ['SET proj = :v', { gsi: { include: 1 }, local: 1 }],
        ['SET g = :v', { gsi: { include: 2 }, local: 1 }],
        ['REMOVE g', { gsi: { include: 1 }, local: 1 }],
        ['SET l = :v', { local: 2 }],
        ['REMOVE l', { local: 1 }],
    ];
    for (const [UpdateExpression, expected] of ladder) {
        const key = fresh();
        await put(table, { ...key, g: S('g'), l: S('l'), proj: S('p') });
        const { ConsumedCapacity } = await call('UpdateItem', {
            TableName: table, Key: key, UpdateExpression, ...indexes,
            ...(UpdateExpression.includes(':v') && { ExpressionAttributeValues: { ':v': S('new') } }),
        });
        expectUnits(ConsumedCapacity, { table: 1, ...expected });
    }
});

test('writes to indexes: a delete, a batch', REAL, async () => {
    const key = fresh();
    await put(table, { ...key, g: S('g'), l: S('l') });
    expectUnits((await call('DeleteItem', { TableName: table, Key: key, ...indexes })).ConsumedCapacity, { table: 1, gsi: { include: 1 }, local: 1 });
    const batch = await call('BatchWriteItem', {
        RequestItems: { [table]: [{ PutRequest: { Item: { ...fresh(), g: S('g') } } }, { PutRequest: { Item: fresh() } }, { DeleteRequest: { Key: fresh() } }] },
        ...indexes,
    });
    assert.equal(batch.ConsumedCapacity.length, 1);
    expectUnits(batch.ConsumedCapacity[0], { table: 3, gsi: { include: 1 } });
});

test('large index entries', REAL, async () => {
    const key = fresh();
    const { ConsumedCapacity } = await put(table, { ...key, g: S('g'), proj: S('x'.repeat(3000)), k: S('k'), n: N(1), d: S('x'.repeat(3000)) }, indexes);
    expectUnits(ConsumedCapacity, { table: 6, gsi: { include: 3, keys: 1 } });
});

// ---- Transactions ---------------------------------------------------------------------------

test('transactions cost twice, but for indexes', REAL, async () => {
    const [a, b] = [fresh(), fresh()];
    const write = await call('TransactWriteItems', {
        TransactItems: [
            { Put: { TableName: plain, Item: sized(1025, 'tx1') } },
            { Put: { TableName: plain, Item: sized(10, 'tx2') } },
            { ConditionCheck: { TableName: plain, Key: { pk: S('tx3') }, ConditionExpression: 'attribute_not_exists(pk)' } },
        ],
        ...total,
    });
    same(write.ConsumedCapacity, [{ TableName: plain, CapacityUnits: 4 + 2 + 2, WriteCapacityUnits: 4 + 2 + 2 }]);
    const indexed = await call('TransactWriteItems', {
        TransactItems: [{ Put: { TableName: table, Item: { ...a, g: S('g') } } }, { Put: { TableName: table, Item: b } }], ...indexes,
    });
    same(indexed.ConsumedCapacity, [{
        TableName: table, CapacityUnits: 5, WriteCapacityUnits: 5, Table: { CapacityUnits: 4, WriteCapacityUnits: 4 },
        GlobalSecondaryIndexes: { include: { CapacityUnits: 1, WriteCapacityUnits: 1 } },
    }]);
    const read = await call('TransactGetItems', {
        TransactItems: [{ Get: { TableName: plain, Key: { pk: S('tx1') } } }, { Get: { TableName: plain, Key: { pk: S('none') } } }], ...total,
    });
    same(read.ConsumedCapacity, [{ TableName: plain, CapacityUnits: 4, ReadCapacityUnits: 4 }]);
});

test('transactions report capacity (the sum)', async () => {
    const write = await call('TransactWriteItems', { TransactItems: [{ Put: { TableName: plain, Item: sized(1025, 'tx1') } }], ...total });
    assert.equal(write.ConsumedCapacity[0].CapacityUnits, 4);
    const read = await call('TransactGetItems', { TransactItems: [{ Get: { TableName: plain, Key: { pk: S('tx1') } } }], ...total });
    assert.equal(read.ConsumedCapacity[0].CapacityUnits, 2);
});

// ---- Item collections -------------------------------------------------------------------------

test('ItemCollectionMetrics only for tables with a local index', REAL, async () => {
    const key = fresh();
    const size = { ReturnItemCollectionMetrics: 'SIZE' };
    for (const [operation, request] of [
        ['PutItem', { Item: { ...key, l: S('l') } }],
        ['UpdateItem', { Key: key, UpdateExpression: 'SET x = :v', ExpressionAttributeValues: { ':v': N(1) } }],
        ['DeleteItem', { Key: key }],
    ]) {
        const { ItemCollectionMetrics } = await call(operation, { TableName: table, ...request, ...size });
        same(ItemCollectionMetrics.ItemCollectionKey, { pk: key.pk });
        assert.deepEqual(ItemCollectionMetrics.SizeEstimateRangeGB, [0, 1]);
    }
    assert.equal((await put(plain, sized(10), size)).ItemCollectionMetrics, undefined);
    assert.equal((await put(table, key)).ItemCollectionMetrics, undefined);
    const batch = await call('BatchWriteItem', { RequestItems: { [table]: [{ PutRequest: { Item: key } }] }, ...size });
    same(batch.ItemCollectionMetrics[table][0].ItemCollectionKey, { pk: key.pk });
    const transaction = await call('TransactWriteItems', { TransactItems: [{ Put: { TableName: table, Item: key } }], ...size });
    same(transaction.ItemCollectionMetrics[table][0].ItemCollectionKey, { pk: key.pk });
});
