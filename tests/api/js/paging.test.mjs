// Paging: 1 MB pages, Limit, start keys on tables and indexes, both directions, deleted start items, paginators.
import { test } from 'node:test';
import { allPages, assert, call, client, makeTable, N, putAll, REAL, S, same, sdk } from './lib.mjs';

const table = await makeTable({
    key: ['pk', 'sk:N'],
    gsi: { byG: ['g', 'r:N'], byH: ['h'] },
    lsi: { byL: { key: ['pk', 'l'], projection: 'KEYS_ONLY' } },
});
const items = [];
for (let i = 0; i < 60; i++) {
    items.push({ pk: S('p' + (i % 3)), sk: N(i - 30), g: S('g' + (i % 2)), r: N(i % 5), h: S('h'), ...(i % 4 ? { l: S('l' + (i % 6)) } : {}) });
}
await putAll(table, items);
const id = (item) => `${item.pk.S}/${item.sk.N}`;

const WAYS = [
    ['the table', { KeyConditionExpression: 'pk = :v', ExpressionAttributeValues: { ':v': S('p1') } }, ['pk', 'sk'], 20],
    ['the table with a range', { KeyConditionExpression: 'pk = :v AND sk BETWEEN :a AND :b', ExpressionAttributeValues: { ':v': S('p1'), ':a': N(-10), ':b': N(11) } }, ['pk', 'sk'], 7],
    ['a global index', { IndexName: 'byG', KeyConditionExpression: 'g = :v', ExpressionAttributeValues: { ':v': S('g1') } }, ['g', 'pk', 'r', 'sk'], 30],
    ['a global index with a range', { IndexName: 'byG', KeyConditionExpression: 'g = :v AND r >= :r', ExpressionAttributeValues: { ':v': S('g0'), ':r': N(2) } }, ['g', 'pk', 'r', 'sk'], 18],
    ['a global index without a sort key', { IndexName: 'byH', KeyConditionExpression: 'h = :v', ExpressionAttributeValues: { ':v': S('h') } }, ['h', 'pk', 'sk'], 60],
    ['a local index', { IndexName: 'byL', KeyConditionExpression: 'pk = :v', ExpressionAttributeValues: { ':v': S('p2') } }, ['l', 'pk', 'sk'], 15],
];
for (const [title, request, keyNames, total] of WAYS) {
    for (const ScanIndexForward of [true, false]) {
        test(`Query over ${title}, ${ScanIndexForward ? 'forward' : 'backward'}`, async () => {
            const whole = await call('Query', { TableName: table, ...request, ScanIndexForward });
            assert.equal(whole.Count, total);
            for (const Limit of [1, 2, 7, total - 1, total, total + 1]) {
                const found = [];
                let ExclusiveStartKey;
                let pages = 0;
                do {
                    const page = await call('Query', { TableName: table, ...request, ScanIndexForward, Limit, ExclusiveStartKey });
                    found.push(...page.Items.map(id));
                    pages++;
                    ExclusiveStartKey = page.LastEvaluatedKey;
                    if (ExclusiveStartKey) {
                        assert.equal(page.Count, Limit);
                        assert.deepEqual(Object.keys(ExclusiveStartKey).sort(), keyNames);
                        for (const name of keyNames) same(ExclusiveStartKey[name], page.Items.at(-1)[name]);
                    }
                } while (ExclusiveStartKey);
                assert.deepEqual(found, whole.Items.map(id), 'Limit ' + Limit);
                // A full last page does not know that it is the last.
                assert.equal(pages, Math.floor(total / Limit) + 1);
            }
        });
    }
}

for (const [title, IndexName, keyNames] of [
    ['the table', undefined, ['pk', 'sk']],
    ['a global index', 'byG', ['g', 'pk', 'r', 'sk']],
    ['a global index without a sort key', 'byH', ['h', 'pk', 'sk']],
    ['a local index', 'byL', ['l', 'pk', 'sk']],
]) {
    test('Scan over ' + title, async () => {
        const whole = await call('Scan', { TableName: table, IndexName });
        for (const Limit of [1, 4, 13, 59, 60, 100]) {
            const { items: found } = await allPages('Scan', { TableName: table, IndexName, Limit });
            assert.deepEqual(found.map(id), whole.Items.map(id));
        }
        const page = await call('Scan', { TableName: table, IndexName, Limit: 5 });
        assert.deepEqual(Object.keys(page.LastEvaluatedKey).sort(), keyNames);
    });
}

test('a start item that is deleted in the meantime', async () => {
    const name = await makeTable({ key: ['pk', 'sk:N'], gsi: { byG: ['g', 'r:N'] } });
    const fill = () => putAll(name, Array.from({ length: 20 }, (_, i) => ({ pk: S('p' + (i % 2)), sk: N(i), g: S('g'), r: N(i % 4) })));
    const requests = [
        ['Query', { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p0') } }, 10],
        ['Query', { IndexName: 'byG', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': S('g') } }, 20],
        ['Scan', {}, 20],
        ['Scan', { IndexName: 'byG' }, 20],
    ];
    for (const [operation, request, total] of requests) {
        for (const ScanIndexForward of operation === 'Query' ? [true, false] : [undefined]) {
            await fill();
            const found = [];
            let ExclusiveStartKey;
            do {
                const page = await call(operation, { TableName: name, ...request, ScanIndexForward, Limit: 3, ExclusiveStartKey });
                found.push(...page.Items.map(id));
                for (const { pk, sk } of page.Items) await call('DeleteItem', { TableName: name, Key: { pk, sk } });
                ExclusiveStartKey = page.LastEvaluatedKey;
            } while (ExclusiveStartKey);
            assert.equal(new Set(found).size, total, `${operation} ${JSON.stringify(request)} ${ScanIndexForward}`);
            assert.equal(found.length, total);
        }
    }
});

test('a start key that never was an item', async () => {
    const { Items } = await call('Query', {
        TableName: table, KeyConditionExpression: 'pk = :v', ExpressionAttributeValues: { ':v': S('p1') },
        ExclusiveStartKey: { pk: S('p1'), sk: N('0.5') },
    });
    assert.deepEqual(Items.map((i) => Number(i.sk.N)), items.filter((i) => i.pk.S === 'p1' && Number(i.sk.N) > 0.5).map((i) => Number(i.sk.N)));
});

test('pages of 1 MB', REAL, async () => {
    const name = await makeTable({ key: ['pk', 'sk:N'], gsi: { keys: { key: ['pk', 'sk:N'], projection: 'KEYS_ONLY' } } });
    // 2 + 1 + 2 + 2 (3 from 100 on) + 1 + 102389: all but the first hundred one byte more; ten are just below 1 MB.
    await putAll(name, Array.from({ length: 25 }, (_, i) => ({ pk: S('p'), sk: N(i + 1), d: S('x'.repeat(100 * 1024 - 10)) })));
    const request = { TableName: name, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p') } };
    const first = await call('Query', request);
    // The item that crosses 1 MB is part of the page.
    assert.equal(first.Count, 11);
    same(first.LastEvaluatedKey, { pk: S('p'), sk: N(11) });
    const { items: all, pages } = await allPages('Query', request);
    assert.equal(all.length, 25);
    assert.equal(pages, 3);
    const scan = await call('Scan', { TableName: name });
    assert.equal(scan.Count, 11);
    // The size read counts, not the size returned.
    const projected = await call('Query', { ...request, ProjectionExpression: 'sk' });
    assert.equal(projected.Count, 11);
    const filtered = await call('Query', { ...request, FilterExpression: 'attribute_not_exists(d)' });
    assert.equal(filtered.Count, 0);
    assert.equal(filtered.ScannedCount, 11);
    assert.ok(filtered.LastEvaluatedKey);
    // In the index there are only keys.
    assert.equal((await call('Query', { ...request, IndexName: 'keys' })).Count, 25);
});

test('paging by size ends, and gives all (any page size)', async () => {
    const name = await makeTable({ key: ['pk', 'sk:N'] });
    await putAll(name, Array.from({ length: 25 }, (_, i) => ({ pk: S('p'), sk: N(i), d: S('x'.repeat(150000)) })));
    const request = { TableName: name, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p') } };
    for (const ScanIndexForward of [true, false]) {
        const { items: all, pages } = await allPages('Query', { ...request, ScanIndexForward });
        assert.deepEqual(all.map((i) => Number(i.sk.N)), Array.from({ length: 25 }, (_, i) => (ScanIndexForward ? i : 24 - i)));
        assert.ok(pages >= 4 && pages <= 5);
    }
});

test('the paginators of Query and Scan', async () => {
    const found = [];
    const query = { TableName: table, IndexName: 'byH', KeyConditionExpression: 'h = :v', ExpressionAttributeValues: { ':v': S('h') } };
    for await (const page of sdk.paginateQuery({ client, pageSize: 11 }, query)) found.push(...page.Items.map(id));
    assert.equal(new Set(found).size, 60);
    let count = 0;
    for await (const page of sdk.paginateScan({ client, pageSize: 17 }, { TableName: table })) count += page.Count;
    assert.equal(count, 60);
});
