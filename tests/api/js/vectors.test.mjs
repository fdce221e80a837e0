// Vector indexes and SearchVectors, against a reference in plain JavaScript.
import { test } from 'node:test';
import { assert, call, fails, L, makeTable, N, put, putAll, S, same, uniqueName, VALIDATION, waitFor } from './lib.mjs';

const DIMENSIONS = 24;
let seed = 12345;
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const vector = (n = DIMENSIONS) => Array.from({ length: n }, () => Math.fround(random() * 2 - 1));
const list = (v) => L(...v.map(N));

const scores = {
    EUCLIDEAN: (a, b) => Math.hypot(...a.map((x, i) => x - b[i])),
    DOT_PRODUCT: (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0),
    COSINE: (a, b) => 1 - scores.DOT_PRODUCT(a, b) / Math.hypot(...a) / Math.hypot(...b),
};
// The best k of items { pk, v } by the reference, as [pk, score].
function nearest(items, fn, query, k) {
    const all = items.map(({ pk, v }) => [pk, scores[fn](query, v)]);
    all.sort((a, b) => (fn === 'DOT_PRODUCT' ? b[1] - a[1] : a[1] - b[1]));
    return all.slice(0, k);
}

const index = (IndexName, DistanceFunction, rest = {}) => ({
    IndexName,
    VectorAttribute: { AttributeName: 'v' },
    Dimensions: DIMENSIONS,
    DistanceFunction,
    Projection: { ProjectionType: 'ALL' },
    ...rest,
});
const schema = (...rows) => rows.map(([AttributeName, SearchSchemaElementType]) => ({ AttributeName, SearchSchemaElementType }));
const definitions = (...names) => names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }));

const table = await makeTable({
    AttributeDefinitions: definitions('pk', 'tenant', 'colour'),
    VectorIndexes: [
        index('COSINE', 'COSINE'),
        index('EUCLIDEAN', 'EUCLIDEAN', { Projection: { ProjectionType: 'KEYS_ONLY' } }),
        index('DOT_PRODUCT', 'DOT_PRODUCT'),
        index('tenant', 'COSINE', { SearchSchema: schema(['tenant', 'HASH'], ['colour', 'INLINE_FILTER']) }),
    ],
});
const items = Array.from({ length: 300 }, (_, i) => ({
    pk: `item ${i}`,
    v: vector(),
    tenant: `tenant ${i % 3}`,
    colour: ['red', 'green'][i % 2],
}));
const toItem = ({ pk, v, tenant, colour }) => ({ pk: S(pk), v: list(v), tenant: S(tenant), colour: S(colour) });
await putAll(table, items.map(toItem));

const search = (IndexName, query, TopK, rest = {}) =>
    call('SearchVectors', { TableName: table, IndexName, SearchVector: query.map(N), TopK, ...rest });
function check(results, expected) {
    same(results.map((r) => r.Item.pk.S), expected.map(([pk]) => pk));
    results.forEach((r, i) => assert.ok(Math.abs(r.Score - expected[i][1]) < 1e-9, `${r.Score} is not ${expected[i][1]}`));
}

for (const fn of Object.keys(scores)) {
    test(`${fn} finds the nearest`, async () => {
        for (const k of [1, 7, 100]) {
            const query = vector();
            const { SearchResults, ConsumedCapacity } = await search(fn, query, k);
            check(SearchResults, nearest(items, fn, query, k));
            assert.equal(ConsumedCapacity, undefined);
        }
    });
}

test('a partition and an inline filter', async () => {
    const query = vector();
    const { SearchResults, ConsumedCapacity } = await search('tenant', query, 20, {
        SearchConditionExpression: 'tenant = :t AND #c = :c',
        ExpressionAttributeNames: { '#c': 'colour' },
        ExpressionAttributeValues: { ':t': S('tenant 1'), ':c': S('red') },
        ProjectionExpression: 'pk, #c',
        ReturnConsumedCapacity: 'INDEXES',
    });
    const mine = items.filter((i) => i.tenant === 'tenant 1' && i.colour === 'red');
    check(SearchResults, nearest(mine, 'COSINE', query, 20));
    same(SearchResults[0].Item.colour, S('red'));
    assert.equal(Object.keys(SearchResults[0].Item).length, 2);
    assert.ok(ConsumedCapacity.VectorSearchRequestBytes >= mine.length * DIMENSIONS * 4);
});

test('projections', async () => {
    const [{ Item }] = (await search('EUCLIDEAN', items[3].v, 1)).SearchResults;
    same(Item, { pk: S(items[3].pk), v: list(items[3].v) });
    const [all] = (await search('COSINE', items[3].v, 1)).SearchResults;
    same(all.Item, toItem(items[3]));
});

test('the index follows updates, deletes and transactions', async () => {
    const query = vector();
    await put(table, { pk: S('new'), v: list(query) });
    assert.equal((await search('EUCLIDEAN', query, 1)).SearchResults[0].Score, 0);
    const other = vector();
    const { ConsumedCapacity } = await call('UpdateItem', {
        TableName: table,
        Key: { pk: S('new') },
        UpdateExpression: 'SET v = :v, tenant = :t',
        ExpressionAttributeValues: { ':v': list(other), ':t': S('tenant new') },
        ReturnConsumedCapacity: 'INDEXES',
    });
    same(Object.keys(ConsumedCapacity.VectorIndexes).sort(), ['COSINE', 'DOT_PRODUCT', 'EUCLIDEAN', 'tenant']);
    const inTenant = (t) =>
        search('tenant', other, 1, { SearchConditionExpression: 'tenant = :t', ExpressionAttributeValues: { ':t': S(t) } });
    assert.equal((await inTenant('tenant new')).SearchResults[0].Item.pk.S, 'new');
    await call('TransactWriteItems', { TransactItems: [{ Delete: { TableName: table, Key: { pk: S('new') } } }] });
    same((await inTenant('tenant new')).SearchResults, []);
    check((await search('EUCLIDEAN', other, 3)).SearchResults, nearest(items, 'EUCLIDEAN', other, 3));
});

test('an index is created online, described and deleted', async () => {
    const name = await makeTable({ AttributeDefinitions: definitions('pk') });
    await putAll(name, items.map(({ pk, v }) => ({ pk: S(pk), v: list(v) })));
    await put(name, { pk: S('no vector'), v: S('text') });
    const update = (...VectorIndexUpdates) => call('UpdateTable', { TableName: name, VectorIndexUpdates });
    const { TableDescription } = await update({ Create: index('late', 'EUCLIDEAN') });
    assert.equal(TableDescription.VectorIndexes[0].IndexStatus, 'CREATING');
    assert.equal(TableDescription.VectorIndexes[0].Backfilling, false);
    const described = async () => (await call('DescribeTable', { TableName: name })).Table.VectorIndexes;
    const [late] = await waitFor('the index', async () => {
        const found = await described();
        return found[0].IndexStatus === 'ACTIVE' && found;
    });
    assert.equal(late.ItemCount, items.length);
    assert.equal(late.Dimensions, DIMENSIONS);
    assert.equal(late.DistanceFunction, 'EUCLIDEAN');
    assert.match(late.IndexArn, /:table\/.*\/index\/late$/);
    const query = vector();
    const { SearchResults } = await call('SearchVectors', { TableName: name, IndexName: 'late', SearchVector: query.map(N), TopK: 9 });
    check(SearchResults, nearest(items, 'EUCLIDEAN', query, 9));
    await update({ Delete: { IndexName: 'late' } });
    await waitFor('the index to go', async () => (await described()) === undefined);
});

test('a large index is searched beside other requests', async () => {
    const name = await makeTable({
        AttributeDefinitions: definitions('pk'),
        VectorIndexes: [index('large', 'COSINE', { Dimensions: 1024, Projection: { ProjectionType: 'KEYS_ONLY' } })],
    });
    const many = Array.from({ length: 1200 }, (_, i) => ({ pk: `${i}`, v: vector(1024) }));
    await putAll(name, many.map(({ pk, v }) => ({ pk: S(pk), v: list(v) })));
    const queries = Array.from({ length: 4 }, () => vector(1024));
    const one = (query) =>
        call('SearchVectors', {
            TableName: name,
            IndexName: 'large',
            SearchVector: query.map(N),
            TopK: 10,
            ProjectionExpression: 'pk',
        });
    const answers = await Promise.all(queries.map(one));
    answers.forEach((a, i) => check(a.SearchResults, nearest(many, 'COSINE', queries[i], 10)));
});

test('limits', async () => {
    await fails(search('COSINE', vector(), 101), VALIDATION, /topK/);
    await fails(search('COSINE', vector(5), 1), VALIDATION, /Dimension mismatch for SearchVector Expected: 24 Actual: 5/);
    await fails(search('tenant', vector(), 1), VALIDATION, 'Search condition missed search schema element: tenant');
    await fails(search('none', vector(), 1), VALIDATION, 'The table does not have the specified index: none');
    await fails(put(table, { pk: S('bad'), v: list(vector(3)) }), VALIDATION, /Dimension mismatch for Vector Attribute v/);
    await fails(put(table, { pk: S('bad'), v: list(vector()), colour: N(1) }), VALIDATION, /Type mismatch for Index Key colour/);
    await fails(
        call('CreateTable', {
            TableName: uniqueName(),
            AttributeDefinitions: definitions('pk'),
            KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
            BillingMode: 'PAY_PER_REQUEST',
            VectorIndexes: Array.from({ length: 6 }, (_, i) => index(`index${i}`, 'COSINE')),
        }),
        VALIDATION,
        /limit of 5/,
    );
});

test('a restore brings the vector indexes, or those that it names', async () => {
    const source = await makeTable({
        AttributeDefinitions: definitions('pk', 'tenant'),
        VectorIndexes: [index('one', 'COSINE'), index('two', 'EUCLIDEAN', { SearchSchema: schema(['tenant', 'HASH']) })],
    });
    await putAll(source, items.slice(0, 50).map(toItem));
    await call('UpdateContinuousBackups', {
        TableName: source,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
    const { BackupDetails } = await call('CreateBackup', { TableName: source, BackupName: 'vectors' });
    const { BackupArn } = BackupDetails;
    await waitFor('the backup', async () =>
        (await call('DescribeBackup', { BackupArn })).BackupDescription.BackupDetails.BackupStatus === 'AVAILABLE');
    const ways = {
        RestoreTableFromBackup: { BackupArn },
        RestoreTableToPointInTime: { SourceTableName: source, UseLatestRestorableTime: true },
    };
    for (const [operation, from] of Object.entries(ways)) {
        const restore = (TargetTableName, VectorIndexOverride) => call(operation, { ...from, TargetTableName, VectorIndexOverride });
        const restored = async (override) => {
            const name = uniqueName('restored');
            await restore(name, override);
            const described = await waitFor('the table', async () => {
                const { Table } = await call('DescribeTable', { TableName: name });
                return Table.TableStatus === 'ACTIVE' && Table;
            });
            const names = (described.VectorIndexes ?? []).map((i) => i.IndexName).sort();
            if (names.includes('one')) {
                const query = vector();
                const found = await call('SearchVectors', { TableName: name, IndexName: 'one', SearchVector: query.map(N), TopK: 5 });
                check(found.SearchResults, nearest(items.slice(0, 50), 'COSINE', query, 5));
            }
            await call('DeleteTable', { TableName: name });
            return names;
        };
        same(await restored(undefined), ['one', 'two']);
        same(await restored([index('one', 'COSINE')]), ['one']);
        same(await restored([]), []);
        const text = (name) => 'One or more parameter values were invalid: Vector index override must match an index of the source table: ' + name;
        await fails(restore(uniqueName(), [index('one', 'COSINE'), index('none', 'COSINE')]), VALIDATION, text('none'));
        await fails(restore(uniqueName(), [index('one', 'EUCLIDEAN')]), VALIDATION, text('one'));
        await fails(restore(uniqueName(), [index('one', 'COSINE', { Dimensions: 3 })]), VALIDATION, text('one'));
        await fails(restore(uniqueName(), [{ IndexName: 'one' }]), VALIDATION, /vectorIndexOverride\.1\.member/);
    }
    await call('DeleteBackup', { BackupArn });
});
