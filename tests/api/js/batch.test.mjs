// BatchGetItem and BatchWriteItem.
import { test } from 'node:test';
import {
    assert, call, errorCases, fails, get, INVALID, L, makeTable, N, NOT_FOUND, put, putAll, raw, REAL, S, same, VALIDATION,
} from './lib.mjs';

const table = await makeTable();
const ranged = await makeTable({ key: ['pk', 'sk:N'], gsi: { byA: ['a'] } });
await putAll(table, Array.from({ length: 110 }, (_, i) => ({ pk: S('k' + i), n: N(i), x: S('x') })));
await putAll(ranged, Array.from({ length: 10 }, (_, i) => ({ pk: S('p'), sk: N(i), v: N(i * i) })));
const byPk = (a, b) => (a.pk.S + a.sk?.N < b.pk.S + b.sk?.N ? -1 : 1);

// ---- BatchGetItem ---------------------------------------------------------------------

test('items of two tables', async () => {
    const { Responses, UnprocessedKeys } = await call('BatchGetItem', {
        RequestItems: {
            [table]: { Keys: [{ pk: S('k1') }, { pk: S('none') }, { pk: S('k2') }] },
            [ranged]: { Keys: [{ pk: S('p'), sk: N(3) }], ConsistentRead: true },
        },
    });
    same(Responses[table].sort(byPk), [{ pk: S('k1'), n: N(1), x: S('x') }, { pk: S('k2'), n: N(2), x: S('x') }]);
    same(Responses[ranged], [{ pk: S('p'), sk: N(3), v: N(9) }]);
    assert.deepEqual(UnprocessedKeys, {});
});

test('nothing found is an empty list', async () => {
    const answer = await raw('BatchGetItem', { RequestItems: { [table]: { Keys: [{ pk: { S: 'none' } }] } } });
    assert.deepEqual(answer.json, { Responses: { [table]: [] }, UnprocessedKeys: {} });
});

test('projections, one for each table', async () => {
    const { Responses } = await call('BatchGetItem', {
        RequestItems: {
            [table]: { Keys: [{ pk: S('k1') }], ProjectionExpression: 'n' },
            [ranged]: { Keys: [{ pk: S('p'), sk: N(3) }], ProjectionExpression: '#v, sk', ExpressionAttributeNames: { '#v': 'v' } },
        },
    });
    same(Responses, { [table]: [{ n: N(1) }], [ranged]: [{ v: N(9), sk: N(3) }] });
});

test('100 keys are allowed', async () => {
    const Keys = Array.from({ length: 100 }, (_, i) => ({ pk: S('k' + i) }));
    assert.equal((await call('BatchGetItem', { RequestItems: { [table]: { Keys } } })).Responses[table].length, 100);
});

test('16 MB at most are answered, the rest is unprocessed', REAL, async () => {
    const name = await makeTable();
    for (let i = 0; i < 50; i++) await put(name, { pk: S('k' + i), d: S('x'.repeat(400000)) });
    let keys = Array.from({ length: 50 }, (_, i) => ({ pk: S('k' + i) }));
    const first = await call('BatchGetItem', { RequestItems: { [name]: { Keys: keys, ProjectionExpression: 'pk, d' } } });
    assert.ok(first.Responses[name].length >= 40 && first.Responses[name].length <= 42);
    const rest = first.UnprocessedKeys[name];
    assert.equal(rest.Keys.length + first.Responses[name].length, 50);
    assert.equal(rest.ProjectionExpression, 'pk, d');
    const second = await call('BatchGetItem', { RequestItems: first.UnprocessedKeys });
    const seen = new Set([...first.Responses[name], ...second.Responses[name]].map((i) => i.pk.S));
    assert.equal(seen.size, 50);
    keys = undefined;
});

const one = '1 validation error detected: ';
const SCHEMA = 'The provided key element does not match the schema';
const EMPTY = 'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk';
errorCases('BatchGetItem', [
    ['nothing at all', {}, VALIDATION, one + "Value null at 'requestItems' failed to satisfy constraint: Member must not be null", { real: true }],
    ['no tables', { RequestItems: {} }, VALIDATION,
        "Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1", { real: true }],
    ['no keys', { RequestItems: { [table]: { Keys: [] } } }, VALIDATION,
        `Value at 'RequestItems.${table}.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1`, { real: true }],
    ['keys that are null', { RequestItems: { [table]: {} } }, VALIDATION,
        one + `Value null at 'requestItems.${table}.member.keys' failed to satisfy constraint: Member must not be null`, { real: true }],
    ['101 keys', () => ({ RequestItems: { [table]: { Keys: Array.from({ length: 101 }, (_, i) => ({ pk: S('k' + i) })) } } }), VALIDATION,
        /at '[rR]equestItems\..*\.member\.[kK]eys' failed to satisfy constraint: Member must have length less than or equal to 100$/, { real: true }],
    ['101 keys of two tables', () => ({
        RequestItems: {
            [table]: { Keys: Array.from({ length: 60 }, (_, i) => ({ pk: S('k' + i) })) },
            [ranged]: { Keys: Array.from({ length: 41 }, (_, i) => ({ pk: S('p'), sk: N(i) })) },
        },
    }), VALIDATION, 'Too many items requested for the BatchGetItem call'],
    ['a key twice', { RequestItems: { [table]: { Keys: [{ pk: S('k1') }, { pk: S('k2') }, { pk: S('k1') }] } } }, VALIDATION,
        'Provided list of item keys contains duplicates'],
    ['a number key twice, written in two ways', { RequestItems: { [ranged]: { Keys: [{ pk: S('p'), sk: N('1') }, { pk: S('p'), sk: N('1.0') }] } } }, VALIDATION,
        'Provided list of item keys contains duplicates', { real: true }],
    ['a table that is not there', { RequestItems: { 'js-no-such-table': { Keys: [{ pk: S('k') }] } } }, NOT_FOUND, 'Requested resource not found'],
    ['half a key', { RequestItems: { [ranged]: { Keys: [{ pk: S('k') }] } } }, VALIDATION, SCHEMA],
    ['a key of another type', { RequestItems: { [table]: { Keys: [{ pk: N(1) }] } } }, VALIDATION, SCHEMA],
    ['an empty key', { RequestItems: { [table]: { Keys: [{ pk: S('') }] } } }, VALIDATION, EMPTY],
    ['a bad projection', { RequestItems: { [table]: { Keys: [{ pk: S('k') }], ProjectionExpression: 'a,' } } }, VALIDATION,
        'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","'],
    ['overlapping paths', { RequestItems: { [table]: { Keys: [{ pk: S('k') }], ProjectionExpression: 'a, a.b' } } }, VALIDATION,
        'Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]'],
    ['both styles', { RequestItems: { [table]: { Keys: [{ pk: S('k') }], ProjectionExpression: 'a', AttributesToGet: ['a'] } } }, VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} ' +
        'Expression parameters: {ProjectionExpression}'],
    ['names without an expression', { RequestItems: { [table]: { Keys: [{ pk: S('k') }], ExpressionAttributeNames: { '#a': 'a' } } } }, VALIDATION,
        'ExpressionAttributeNames can only be specified when using expressions'],
    ['a table name with other characters', { RequestItems: { 'a;b': { Keys: [{ pk: S('k') }] } } }, VALIDATION,
        /at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: \[.*\]$/, { real: true }],
]);

// ---- BatchWriteItem -----------------------------------------------------------------------

test('puts and deletes in two tables', async () => {
    await put(table, { pk: S('to delete') });
    const answer = await call('BatchWriteItem', {
        RequestItems: {
            [table]: [{ PutRequest: { Item: { pk: S('written'), n: N(1) } } }, { DeleteRequest: { Key: { pk: S('to delete') } } }, { DeleteRequest: { Key: { pk: S('never was') } } }],
            [ranged]: [{ PutRequest: { Item: { pk: S('p'), sk: N(100), a: S('indexed') } } }],
        },
    });
    assert.deepEqual(answer.UnprocessedItems, {});
    same(await get(table, { pk: S('written') }), { pk: S('written'), n: N(1) });
    assert.equal(await get(table, { pk: S('to delete') }), undefined);
    assert.equal((await call('Scan', { TableName: ranged, IndexName: 'byA' })).Count, 1);
});

test('a put replaces the whole item', async () => {
    await put(table, { pk: S('replaced'), a: N(1), b: N(2) });
    await call('BatchWriteItem', { RequestItems: { [table]: [{ PutRequest: { Item: { pk: S('replaced'), c: N(3) } } }] } });
    same(await get(table, { pk: S('replaced') }), { pk: S('replaced'), c: N(3) });
});

test('25 writes of 400 KB are allowed', async () => {
    const name = await makeTable();
    const writes = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { pk: S('k' + i), d: S('x'.repeat(400000)) } } }));
    assert.deepEqual((await call('BatchWriteItem', { RequestItems: { [name]: writes } })).UnprocessedItems, {});
    assert.equal((await call('Scan', { TableName: name, Select: 'COUNT', Limit: 1 })).Count, 1);
});

test('a batch with one bad write writes nothing', async () => {
    await fails(call('BatchWriteItem', {
        RequestItems: { [table]: [{ PutRequest: { Item: { pk: S('half') } } }, { PutRequest: { Item: { nokey: S('x') } } }] },
    }), VALIDATION);
    assert.equal(await get(table, { pk: S('half') }), undefined);
});

const writes = (...list) => ({ RequestItems: { [table]: list } });
const putOf = (Item) => ({ PutRequest: { Item } });
errorCases('BatchWriteItem', [
    ['nothing at all', {}, VALIDATION, one + "Value null at 'requestItems' failed to satisfy constraint: Member must not be null", { real: true }],
    ['no tables', { RequestItems: {} }, VALIDATION, 'The requestItems parameter is required for BatchWriteItem', { real: true }],
    ['no writes', writes(), VALIDATION, /at 'requestItems.*' failed to satisfy constraint: .*Member must have length (less|greater) than or equal to/, { real: true }],
    ['26 writes', () => writes(...Array.from({ length: 26 }, (_, i) => putOf({ pk: S('k' + i) }))), VALIDATION,
        /at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/, { real: true }],
    ['26 writes to two tables', () => ({
        RequestItems: {
            [table]: Array.from({ length: 20 }, (_, i) => putOf({ pk: S('k' + i) })),
            [ranged]: Array.from({ length: 6 }, (_, i) => putOf({ pk: S('p'), sk: N(i) })),
        },
    }), VALIDATION, 'Too many items requested for the BatchWriteItem call'],
    ['an empty write', writes({}), VALIDATION,
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes', { real: true }],
    ['a put and a delete in one', writes({ PutRequest: { Item: { pk: S('a') } }, DeleteRequest: { Key: { pk: S('b') } } }), VALIDATION,
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes', { real: true }],
    ['one key twice', writes(putOf({ pk: S('a') }), putOf({ pk: S('a'), b: N(1) })), VALIDATION, 'Provided list of item keys contains duplicates'],
    ['a put and a delete of one key', writes(putOf({ pk: S('a') }), { DeleteRequest: { Key: { pk: S('a') } } }), VALIDATION,
        'Provided list of item keys contains duplicates'],
    ['a table that is not there', { RequestItems: { 'js-no-such-table': [putOf({ pk: S('a') })] } }, NOT_FOUND, 'Requested resource not found'],
    ['no key', writes(putOf({ a: S('a') })), VALIDATION, SCHEMA],
    ['a key of another type', writes(putOf({ pk: N(1) })), VALIDATION, SCHEMA],
    ['a key that is a list', writes(putOf({ pk: L() })), VALIDATION, SCHEMA],
    ['an empty key', writes(putOf({ pk: S('') })), VALIDATION, EMPTY],
    ['a delete with half a key', { RequestItems: { [ranged]: [{ DeleteRequest: { Key: { pk: S('p') } } }] } }, VALIDATION, SCHEMA],
    ['a bad value', writes(putOf({ pk: S('a'), n: N('x') })), VALIDATION, 'The parameter cannot be converted to a numeric value: x'],
    ['an index key of another type', { RequestItems: { [ranged]: [putOf({ pk: S('p'), sk: N(1), a: N(1) })] } }, VALIDATION,
        INVALID + 'Type mismatch for Index Key a Expected: S Actual: N IndexName: byA'],
    ['an empty index key', { RequestItems: { [ranged]: [putOf({ pk: S('p'), sk: N(1), a: S('') })] } }, VALIDATION,
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        'The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byA, IndexKey: a'],
    ['an item that is too big', () => writes(putOf({ pk: S('a'), d: S('x'.repeat(409600)) })), VALIDATION, 'Item size has exceeded the maximum allowed size'],
]);
