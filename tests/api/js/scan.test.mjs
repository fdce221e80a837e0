// Scan: order, segments, filters, Select, errors. Paging has its own file.
import { test } from 'node:test';
import { allPages, assert, call, errorCases, makeTable, N, NOT_FOUND, putAll, raw, REAL, S, same, VALIDATION } from './lib.mjs';

const table = await makeTable({ key: ['pk', 'sk:N'], gsi: { byA: { key: ['a'], projection: 'KEYS_ONLY' } }, lsi: { byB: ['pk', 'b'] } });
const items = [];
for (let p = 0; p < 20; p++) {
    for (let s = 0; s < 5; s++) {
        items.push({ pk: S('p' + p), sk: N(s), n: N(p * 5 + s), x: S('x'), ...(s % 2 ? { a: S('a' + p) } : {}), ...(s === 4 ? { b: S('b') } : {}) });
    }
}
await putAll(table, items);
const empty = await makeTable();
const id = (item) => `${item.pk.S}/${item.sk.N}`;
const everyone = items.map(id).sort();

test('a scan gives every item once', async () => {
    const answer = await call('Scan', { TableName: table });
    assert.equal(answer.Count, 100);
    assert.equal(answer.ScannedCount, 100);
    assert.equal(answer.LastEvaluatedKey, undefined);
    assert.deepEqual(answer.Items.map(id).sort(), everyone);
});

test('an empty table', async () => {
    const answer = await raw('Scan', { TableName: empty });
    assert.deepEqual(answer.json, { Items: [], Count: 0, ScannedCount: 0 });
});

test('items of one partition come together and in order', async () => {
    const { Items } = await call('Scan', { TableName: table });
    const seen = [];
    for (const item of Items) {
        if (seen.at(-1)?.pk !== item.pk.S) {
            assert.ok(!seen.some((s) => s.pk === item.pk.S), 'the partition came twice');
            seen.push({ pk: item.pk.S, sks: [] });
        }
        seen.at(-1).sks.push(Number(item.sk.N));
    }
    for (const { sks } of seen) assert.deepEqual(sks, [0, 1, 2, 3, 4]);
});

test('partitions come in the order of the service', REAL, async () => {
    // The order of the digest of the key, as the service hashes it.
    const { createHash } = await import('node:crypto');
    const digest = (text) => createHash('md5').update('Outliers').update(text).digest('hex');
    const { Items } = await call('Scan', { TableName: table });
    const order = [...new Set(Items.map((i) => i.pk.S))];
    assert.deepEqual(order, [...order].sort((a, b) => (digest(a) < digest(b) ? -1 : 1)));
});

for (const total of [1, 2, 3, 7, 64]) {
    test(`a parallel scan of ${total} segments gives every item once`, async () => {
        const parts = await Promise.all(
            Array.from({ length: total }, (_, Segment) => allPages('Scan', { TableName: table, Segment, TotalSegments: total, Limit: 7 })),
        );
        assert.deepEqual(parts.flatMap((p) => p.items.map(id)).sort(), everyone);
    });
}

test('a parallel scan of an index', async () => {
    const parts = await Promise.all(
        [0, 1, 2].map((Segment) => allPages('Scan', { TableName: table, IndexName: 'byA', Segment, TotalSegments: 3, Limit: 3 })),
    );
    assert.deepEqual(parts.flatMap((p) => p.items.map(id)).sort(), items.filter((i) => i.a).map(id).sort());
});

test('a filter, and Limit before it', async () => {
    const request = { TableName: table, FilterExpression: 'n < :n', ExpressionAttributeValues: { ':n': N(10) } };
    const answer = await call('Scan', request);
    assert.equal(answer.Count, 10);
    assert.equal(answer.ScannedCount, 100);
    const page = await call('Scan', { ...request, Limit: 30 });
    assert.equal(page.ScannedCount, 30);
    assert.ok(page.LastEvaluatedKey);
    const { items: found } = await allPages('Scan', { ...request, Limit: 30 });
    assert.equal(found.length, 10);
});

test('a filter may name keys', async () => {
    const answer = await call('Scan', { TableName: table, FilterExpression: 'pk = :p AND sk > :s', ExpressionAttributeValues: { ':p': S('p3'), ':s': N(2) } });
    assert.deepEqual(answer.Items.map(id).sort(), ['p3/3', 'p3/4']);
});

test('projection and Select', async () => {
    const { Items } = await call('Scan', { TableName: table, ProjectionExpression: 'x' });
    assert.ok(Items.length === 100 && Items.every((i) => Object.keys(i).join() === 'x'));
    const count = await raw('Scan', { TableName: table, Select: 'COUNT' });
    assert.deepEqual(count.json, { Count: 100, ScannedCount: 100 });
    const keysOnly = await call('Scan', { TableName: table, IndexName: 'byA' });
    assert.equal(keysOnly.Count, 40);
    assert.ok(keysOnly.Items.every((i) => Object.keys(i).sort().join() === 'a,pk,sk'));
    const sparse = await call('Scan', { TableName: table, IndexName: 'byB' });
    assert.equal(sparse.Count, 20);
    same(Object.keys(sparse.Items[0]).sort(), ['b', 'n', 'pk', 'sk', 'x']);
});

test('consistent scans', async () => {
    assert.equal((await call('Scan', { TableName: table, ConsistentRead: true })).Count, 100);
    assert.equal((await call('Scan', { TableName: table, IndexName: 'byB', ConsistentRead: true })).Count, 20);
});

const one = '1 validation error detected: ';
errorCases('Scan', [
    ['no table', {}, VALIDATION, one + "Value null at 'tableName' failed to satisfy constraint: Member must not be null", { real: true }],
    ['a table that is not there', { TableName: 'js-no-such-table' }, NOT_FOUND, 'Requested resource not found'],
    ['an index that is not there', { TableName: table, IndexName: 'none' }, VALIDATION, 'The table does not have the specified index: none'],
    ['a segment without a total', { TableName: table, Segment: 0 }, VALIDATION,
        'The TotalSegments parameter is required but was not present in the request when Segment parameter is present'],
    ['a total without a segment', { TableName: table, TotalSegments: 4 }, VALIDATION,
        'The Segment parameter is required but was not present in the request when parameter TotalSegments is present'],
    ['a segment beyond the total', { TableName: table, Segment: 5, TotalSegments: 5 }, VALIDATION,
        'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5'],
    ['a negative segment', { TableName: table, Segment: -1, TotalSegments: 5 }, VALIDATION,
        one + "Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0", { real: true }],
    ['no segments at all', { TableName: table, Segment: 0, TotalSegments: 0 }, VALIDATION,
        one + "Value '0' at 'totalSegments' failed to satisfy constraint: Member must have value greater than or equal to 1", { real: true }],
    ['too many segments', { TableName: table, Segment: 0, TotalSegments: 1000001 }, VALIDATION,
        one + "Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000", { real: true }],
    ['a limit of 0', { TableName: table, Limit: 0 }, VALIDATION,
        one + "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", { real: true }],
    ['an unknown Select', { TableName: table, Select: 'X' }, VALIDATION,
        one + "Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]", { real: true }],
    ['Select ALL_PROJECTED_ATTRIBUTES without an index', { TableName: table, Select: 'ALL_PROJECTED_ATTRIBUTES' }, VALIDATION,
        'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName'],
    ['Select SPECIFIC_ATTRIBUTES alone', { TableName: table, Select: 'SPECIFIC_ATTRIBUTES' }, VALIDATION,
        'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES'],
    ['Select COUNT with a projection', { TableName: table, Select: 'COUNT', ProjectionExpression: 'x' }, VALIDATION,
        'Cannot specify the ProjectionExpression when choosing to get only the Count'],
    ['all attributes of a keys-only index', { TableName: table, IndexName: 'byA', Select: 'ALL_ATTRIBUTES' }, VALIDATION,
        'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index byA ' +
        'because its projection type is not ALL'],
    ['attributes that are not projected', { TableName: table, IndexName: 'byA', ProjectionExpression: 'x' }, VALIDATION,
        'One or more parameter values were invalid: Global secondary index byA does not project [x]'],
    ['a consistent scan of a global index', { TableName: table, IndexName: 'byA', ConsistentRead: true }, VALIDATION,
        'Consistent reads are not supported on global secondary indexes'],
    ['a bad filter', { TableName: table, FilterExpression: 'a b' }, VALIDATION, 'Invalid FilterExpression: Syntax error; token: "b", near: "a b"'],
    ['values without an expression', { TableName: table, ExpressionAttributeValues: { ':v': S('x') } }, VALIDATION,
        'ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null'],
    ['both styles', { TableName: table, FilterExpression: 'attribute_exists(x)', ScanFilter: { x: { ComparisonOperator: 'NULL' } } }, VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {ScanFilter} ' +
        'Expression parameters: {FilterExpression}'],
    ['half a start key', { TableName: table, ExclusiveStartKey: { pk: S('p1') } }, VALIDATION,
        'The provided starting key is invalid: The provided key element does not match the schema'],
    ['a start key of another type', { TableName: table, ExclusiveStartKey: { pk: S('p1'), sk: S('1') } }, VALIDATION,
        'The provided starting key is invalid: The provided key element does not match the schema'],
    ['a start key of another segment', () => ({ TableName: table, Segment: 0, TotalSegments: 1000000, ExclusiveStartKey: { pk: S('p1'), sk: N(1) } }), VALIDATION,
        'The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 1000000 Segment: 0', { real: true }],
]);
