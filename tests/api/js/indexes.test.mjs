// Secondary indexes: projections, sparse entries, equal keys, keys of several attributes.
import { test } from 'node:test';
import { allPages, assert, call, errorCases, get, M, makeTable, N, put, putAll, S, same, SS, VALIDATION } from './lib.mjs';

const table = await makeTable({
    key: ['pk', 'sk'],
    gsi: {
        all: ['g', 'n:N'],
        keys: { key: ['g'], projection: 'KEYS_ONLY' },
        some: { key: ['h', 'sk'], projection: ['x', 'm'] },
        swapped: ['sk', 'pk'],
    },
    lsi: { local: ['pk', 'n:N'], localKeys: { key: ['pk', 'h'], projection: 'KEYS_ONLY' } },
});
const full = { pk: S('p'), sk: S('full'), g: S('g'), n: N(1), h: S('h'), x: S('x'), y: S('y'), m: M({ a: N(1) }) };
await put(table, full);
await put(table, { pk: S('p'), sk: S('no n'), g: S('g'), h: S('h') });
await put(table, { pk: S('p'), sk: S('no g'), n: N(2), x: S('only x') });

const scan = async (IndexName) => (await call('Scan', { TableName: table, IndexName })).Items.sort((a, b) => (a.sk.S < b.sk.S ? -1 : 1));

test('projections and sparse entries', async () => {
    same(await scan('all'), [full]);
    same(await scan('keys'), [
        { pk: S('p'), sk: S('full'), g: S('g') },
        { pk: S('p'), sk: S('no n'), g: S('g') },
    ]);
    same(await scan('some'), [
        { pk: S('p'), sk: S('full'), h: S('h'), x: S('x'), m: M({ a: N(1) }) },
        { pk: S('p'), sk: S('no n'), h: S('h') },
    ]);
    assert.equal((await scan('swapped')).length, 3);
    same((await scan('local')).map((i) => i.sk.S), ['full', 'no g']);
    same(await scan('localKeys'), [
        { pk: S('p'), sk: S('full'), h: S('h') },
        { pk: S('p'), sk: S('no n'), h: S('h') },
    ]);
});

test('an entry goes when its attribute goes, and comes back', async () => {
    const key = { pk: S('come'), sk: S('and go') };
    const count = async () => (await call('Query', {
        TableName: table, IndexName: 'keys', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': S('here') },
    })).Count;
    await put(table, { ...key, g: S('here') });
    assert.equal(await count(), 1);
    await put(table, key);
    assert.equal(await count(), 0);
    await call('UpdateItem', { TableName: table, Key: key, UpdateExpression: 'SET g = :g', ExpressionAttributeValues: { ':g': S('here') } });
    assert.equal(await count(), 1);
    await call('DeleteItem', { TableName: table, Key: key });
    assert.equal(await count(), 0);
});

test('many items may have the same index key', async () => {
    await putAll(table, Array.from({ length: 40 }, (_, i) => ({ pk: S('same' + (i % 4)), sk: S('s' + i), g: S('same'), n: N(7) })));
    const request = {
        TableName: table, IndexName: 'all', KeyConditionExpression: 'g = :g AND n = :n',
        ExpressionAttributeValues: { ':g': S('same'), ':n': N('7.0') },
    };
    assert.equal((await call('Query', request)).Count, 40);
    for (const Limit of [1, 3, 39, 40]) {
        for (const ScanIndexForward of [true, false]) {
            const { items } = await allPages('Query', { ...request, Limit, ScanIndexForward });
            assert.equal(new Set(items.map((i) => i.pk.S + i.sk.S)).size, 40);
            assert.equal(items.length, 40);
        }
    }
});

test('a set or map may be projected, and changes with its item', async () => {
    const key = { pk: S('nested'), sk: S('x') };
    await put(table, { ...key, h: S('nested'), m: M({ tags: SS('a') }), x: S('x'), z: S('not projected') });
    await call('UpdateItem', {
        TableName: table, Key: key, UpdateExpression: 'ADD m.tags :t SET z = :z', ExpressionAttributeValues: { ':t': SS('b'), ':z': S('zz') },
    });
    const { Items } = await call('Query', {
        TableName: table, IndexName: 'some', KeyConditionExpression: 'h = :h', ExpressionAttributeValues: { ':h': S('nested') },
    });
    same(Items, [{ ...key, h: S('nested'), m: M({ tags: SS('a', 'b') }), x: S('x') }]);
});

errorCases('Query', [
    ['all attributes of an index that has not all', {
        TableName: table, IndexName: 'some', Select: 'ALL_ATTRIBUTES',
        KeyConditionExpression: 'h = :h', ExpressionAttributeValues: { ':h': S('h') },
    }, VALIDATION, 'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index some ' +
        'because its projection type is not ALL'],
    ['an attribute the index does not have', {
        TableName: table, IndexName: 'some', ProjectionExpression: 'x, y',
        KeyConditionExpression: 'h = :h', ExpressionAttributeValues: { ':h': S('h') },
    }, VALIDATION, 'One or more parameter values were invalid: Global secondary index some does not project [y]'],
    ['a filter on an index key', {
        TableName: table, IndexName: 'all', FilterExpression: 'n = :n',
        KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': S('h'), ':n': N(1) },
    }, VALIDATION, 'Filter Expression can only contain non-primary key attributes: Primary key attribute: n'],
]);

test('a filter on an index may name the keys of the table', async () => {
    const { Count } = await call('Query', {
        TableName: table, IndexName: 'all', FilterExpression: 'pk = :p AND sk = :s', KeyConditionExpression: 'g = :g',
        ExpressionAttributeValues: { ':g': S('g'), ':p': S('p'), ':s': S('full') },
    });
    assert.equal(Count, 1);
});

// ---- Keys of several attributes -----------------------------------------------------

const wide = await makeTable({ gsi: { wide: { hash: ['tenant', 'area:N'], range: ['status2', 'num:N', 'who'] } } });
const entry = (pk, tenant, area, status2, num, who) => ({
    pk: S(pk), tenant: S(tenant), area: N(area), status2: S(status2), num: N(num), ...(who !== undefined && { who: S(who) }),
});
await putAll(wide, [
    entry('1', 't', 1, 'live', 10, 'b'),
    entry('2', 't', 1, 'live', 9, 'a'),
    entry('3', 't', 1, 'live', 9, 'ab'),
    entry('4', 't', 1, 'draft', 100, 'c'),
    entry('5', 't', 2, 'live', 1, 'x'),
    entry('6', 'u', 1, 'live', 1, 'x'),
    entry('7', 't', 1, 'live', 1), // No `who`: not in the index.
    entry('8', 't', 1, 'live', -5, 'z'),
]);
const wideValues = {
    ':t': S('t'), ':r': N(1), ':l': S('live'), ':d': N(9), ':w': S('a'), ':x': N(9), ':y': N(10),
};
const wideQuery = (KeyConditionExpression, rest = {}) =>
    call('Query', {
        TableName: wide,
        IndexName: 'wide',
        KeyConditionExpression,
        ExpressionAttributeValues: Object.fromEntries(Object.entries(wideValues).filter(([k]) => KeyConditionExpression.includes(k))),
        ...rest,
    });
const base = 'tenant = :t AND area = :r';
const WIDE = [
    [base, ['4', '8', '2', '3', '1']],
    [`area = :r AND tenant = :t`, ['4', '8', '2', '3', '1']],
    [`${base} AND status2 = :l`, ['8', '2', '3', '1']],
    [`status2 = :l AND ${base}`, ['8', '2', '3', '1']],
    [`${base} AND status2 < :l`, ['4']],
    [`${base} AND begins_with(status2, :l)`, ['8', '2', '3', '1']],
    [`${base} AND status2 = :l AND num >= :d`, ['2', '3', '1']],
    [`${base} AND status2 = :l AND num BETWEEN :x AND :y`, ['2', '3', '1']],
    [`${base} AND status2 = :l AND num = :d AND who > :w`, ['3']],
    [`${base} AND status2 = :l AND num = :d AND begins_with(who, :w)`, ['2', '3']],
    [`${base} AND status2 = :l AND num = :d AND who = :w`, ['2']],
];
for (const [expression, expected] of WIDE) {
    test('several attributes: ' + expression, async () => {
        assert.deepEqual((await wideQuery(expression)).Items.map((i) => i.pk.S), expected);
        assert.deepEqual((await wideQuery(expression, { ScanIndexForward: false })).Items.map((i) => i.pk.S), [...expected].reverse());
        for (const Limit of [1, 2]) {
            const found = [];
            let ExclusiveStartKey;
            do {
                const page = await wideQuery(expression, { Limit, ExclusiveStartKey });
                found.push(...page.Items.map((i) => i.pk.S));
                ExclusiveStartKey = page.LastEvaluatedKey;
                if (ExclusiveStartKey) {
                    assert.deepEqual(Object.keys(ExclusiveStartKey).sort(), ['area', 'num', 'pk', 'status2', 'tenant', 'who']);
                }
            } while (ExclusiveStartKey);
            assert.deepEqual(found, expected);
        }
    });
}

test('several attributes: entries follow updates, and a scan pages', async () => {
    await put(wide, entry('9', 'v', 1, 's', 1, 'w'));
    await call('UpdateItem', { TableName: wide, Key: { pk: S('9') }, UpdateExpression: 'REMOVE who' });
    assert.ok((await get(wide, { pk: S('9') })).tenant);
    const { items } = await allPages('Scan', { TableName: wide, IndexName: 'wide', Limit: 1 });
    assert.deepEqual(items.map((i) => i.pk.S).sort(), ['1', '2', '3', '4', '5', '6', '8']);
});

const wideBad = (KeyConditionExpression) => ({
    TableName: wide, IndexName: 'wide', KeyConditionExpression,
    ExpressionAttributeValues: Object.fromEntries(Object.entries(wideValues).filter(([k]) => KeyConditionExpression.includes(k))),
});
const GAP = (missing, present) =>
    `RANGE key attributes ${missing} must have equality conditions specified in the query because a condition is present on key attribute ${present}`;
errorCases('Query', [
    ['a partition key of several without one of them', wideBad('tenant = :t'), VALIDATION, 'HASH key attributes area must have equality conditions specified in the query'],
    ['a gap in the sort key', wideBad(`${base} AND num = :d`), VALIDATION, GAP('status2', 'num')],
    ['two gaps in the sort key', wideBad(`${base} AND who = :w`), VALIDATION, GAP('status2, num', 'who'), { real: true }],
    ['an inequality before the last', wideBad(`${base} AND status2 > :l AND num = :d`), VALIDATION, GAP('status2', 'num')],
    ['a partition key by inequality', wideBad('tenant = :t AND area > :r'), VALIDATION, 'HASH key attributes area must have equality conditions specified in the query'],
]);
