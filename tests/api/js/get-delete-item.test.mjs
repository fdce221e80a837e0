// GetItem with its projections, and DeleteItem.
import { test } from 'node:test';
import {
    assert, B, BOOL, call, CONDITION, errorCases, fails, get, L, M, makeTable, N, NOT_FOUND, NULL, put, raw, S, same, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable({ key: ['pk', 'sk:N'] });
const key = { pk: S('p'), sk: N(1) };
const item = {
    ...key,
    a: S('x'),
    l: L(S('zero'), N(1), M({ k: S('in list'), oth: N(2) }), L(S('nested'), S('more'))),
    m: M({ a: S('ma'), b: N(2), deep: M({ x: L(N(1), N(2), N(3)), y: S('y') }) }),
    ss: SS('a', 'b'),
    'dotted.name': S('dotted'),
    nul: NULL,
};
await put(table, item);

test('GetItem gives the item; no Item when there is none', async () => {
    same((await call('GetItem', { TableName: table, Key: key })).Item, item);
    same((await call('GetItem', { TableName: table, Key: key, ConsistentRead: true })).Item, item);
    const none = await raw('GetItem', { TableName: table, Key: { pk: { S: 'none' }, sk: { N: '1' } } });
    assert.equal(none.body.toString(), '{}');
});

const PROJECTIONS = [
    ['a', { a: item.a }],
    ['pk, sk', key],
    ['a, m', { a: item.a, m: item.m }],
    ['gone', {}],
    ['gone, a', { a: item.a }],
    ['m.a', { m: M({ a: S('ma') }) }],
    ['m.a, m.b', { m: M({ a: S('ma'), b: N(2) }) }],
    ['m.deep.x[1]', { m: M({ deep: M({ x: L(N(2)) }) }) }],
    ['m.deep.x[2], m.deep.x[0]', { m: M({ deep: M({ x: L(N(1), N(3)) }) }) }],
    ['m.gone', {}],
    ['m.gone.further', {}],
    ['a.x', {}],
    ['a[0]', {}],
    ['l[0]', { l: L(S('zero')) }],
    ['l[1], l[0]', { l: L(S('zero'), N(1)) }],
    ['l[9]', {}],
    ['l[2].k', { l: L(M({ k: S('in list') })) }],
    ['l[3][1], l[2].oth', { l: L(M({ oth: N(2) }), L(S('more'))) }],
    ['#d', { 'dotted.name': S('dotted') }, { '#d': 'dotted.name' }],
    ['#m.#a', { m: M({ a: S('ma') }) }, { '#m': 'm', '#a': 'a' }],
    [' a ,\n nul ', { a: item.a, nul: NULL }],
];
for (const [ProjectionExpression, expected, ExpressionAttributeNames] of PROJECTIONS) {
    test('projection: ' + ProjectionExpression, async () => {
        const { Item } = await call('GetItem', { TableName: table, Key: key, ProjectionExpression, ExpressionAttributeNames });
        same(Item, expected);
    });
}

const INVALID = 'Invalid ProjectionExpression: ';
const bad = (ProjectionExpression, ExpressionAttributeNames) => ({ TableName: table, Key: key, ProjectionExpression, ExpressionAttributeNames });
const one = '1 validation error detected: ';
const overlap = (a, b) =>
    INVALID + `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${a}, path two: ${b}`;
const KEY = 'The provided key element does not match the schema';
const COUNT = KEY;
const EMPTY = 'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ';

errorCases('GetItem', [
    ['an empty projection', bad(''), VALIDATION, INVALID + 'The expression can not be empty;'],
    ['a trailing comma', bad('a,'), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: ","'],
    ['a bad character', bad('a!'), VALIDATION, INVALID + 'Syntax error; token: "!", near: "a!"'],
    ['only punctuation', bad('!!!'), VALIDATION, INVALID + 'Syntax error; token: "!", near: "!!"'],
    ['a function', bad('size(a)'), VALIDATION, INVALID + 'Syntax error; token: "(", near: "size(a"'],
    ['a value', bad(':v'), VALIDATION, INVALID + 'Syntax error; token: ":v", near: ":v"'],
    ['a reserved word', bad('a, status'), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: status'],
    ['a name that is not defined', bad('#x'), VALIDATION,
        INVALID + 'An expression attribute name used in the document path is not defined; attribute name: #x'],
    ['a name too many', bad('a', { '#x': 'x' }), VALIDATION, 'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}'],
    ['names without an expression', { TableName: table, Key: key, ExpressionAttributeNames: { '#a': 'a' } }, VALIDATION,
        'ExpressionAttributeNames can only be specified when using expressions'],
    ['the same path twice', bad('a, a'), VALIDATION, overlap('[a]', '[a]')],
    ['the same path by two names', bad('#a, #b', { '#a': 'a', '#b': 'a' }), VALIDATION, overlap('[a]', '[a]')],
    ['a path inside another', bad('m, m.a'), VALIDATION, overlap('[m]', '[m, a]')],
    ['a path around another', bad('m.deep.x[0], m.deep'), VALIDATION, overlap('[m, deep, x, [0]]', '[m, deep]')],
    ['one element twice', bad('l[0], l[0]'), VALIDATION, overlap('[l, [0]]', '[l, [0]]')],
    ['a list and a map', bad('m[0], m.a'), VALIDATION,
        INVALID + 'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, [0]], path two: [m, a]'],
    ['both styles', { ...bad('a'), AttributesToGet: ['a'] }, VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} ' +
        'Expression parameters: {ProjectionExpression}'],
    // Keys.
    ['no key', { TableName: table }, VALIDATION, one + "Value null at 'key' failed to satisfy constraint: Member must not be null", { real: true }],
    ['no table', { Key: key }, VALIDATION, one + "Value null at 'tableName' failed to satisfy constraint: Member must not be null", { real: true }],
    ['an empty key', { TableName: table, Key: {} }, VALIDATION, COUNT, { bare: true }],
    ['half a key', { TableName: table, Key: { pk: S('p') } }, VALIDATION, COUNT],
    ['the other half', { TableName: table, Key: { sk: N(1) } }, VALIDATION, COUNT],
    ['too much of a key', { TableName: table, Key: { ...key, a: S('x') } }, VALIDATION, COUNT],
    ['another attribute', { TableName: table, Key: { pk: S('p'), other: N(1) } }, VALIDATION, KEY],
    ['another type', { TableName: table, Key: { pk: S('p'), sk: S('1') } }, VALIDATION, KEY],
    ['a map as a key', { TableName: table, Key: { pk: M({}), sk: N(1) } }, VALIDATION, KEY],
    ['a boolean as a key', { TableName: table, Key: { pk: BOOL(true), sk: N(1) } }, VALIDATION, KEY],
    ['binary as a key', { TableName: table, Key: { pk: B('x'), sk: N(1) } }, VALIDATION, KEY],
    ['an empty string as a key', { TableName: table, Key: { pk: S(''), sk: N(1) } }, VALIDATION, EMPTY + 'pk'],
    ['a number that is none', { TableName: table, Key: { pk: S('p'), sk: N('x') } }, VALIDATION,
        'The parameter cannot be converted to a numeric value: x'],
    ['a key of 2049 bytes', { TableName: table, Key: { pk: S('x'.repeat(2049)), sk: N(1) } }, VALIDATION,
        'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes'],
    ['a value of two types', { TableName: table, Key: { pk: { S: 'a', N: '1' }, sk: { N: '1' } } }, VALIDATION,
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes', { raw: true }],
    ['a table that is not there', { TableName: 'js-no-such-table', Key: key }, NOT_FOUND, 'Requested resource not found'],
    ['a short table name that is not there', { TableName: 'ab', Key: key }, NOT_FOUND, 'Requested resource not found', { real: true }],
    ['an unknown ReturnConsumedCapacity', { TableName: table, Key: key, ReturnConsumedCapacity: 'X' }, VALIDATION,
        one + "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]", { real: true }],
    ['ConsistentRead that is a string', { TableName: table, Key: key, ConsistentRead: 'perhaps' }, 'SerializationException',
        'Unexpected token received from parser', { raw: true, real: true }],
]);

// ---- DeleteItem ---------------------------------------------------------------------

test('DeleteItem deletes, and deletes again', async () => {
    const target = { pk: S('delete'), sk: N(1) };
    await put(table, { ...target, a: S('x') });
    const answer = await call('DeleteItem', { TableName: table, Key: target });
    assert.equal(answer.Attributes, undefined);
    assert.equal(await get(table, target), undefined);
    await call('DeleteItem', { TableName: table, Key: target });
    const empty = await call('DeleteItem', { TableName: table, Key: target, ReturnValues: 'ALL_OLD' });
    assert.equal(empty.Attributes, undefined);
});

test('DeleteItem with ReturnValues ALL_OLD', async () => {
    const target = { pk: S('delete'), sk: N(2) };
    await put(table, { ...target, a: S('x'), m: M({ b: N(1) }) });
    const { Attributes } = await call('DeleteItem', { TableName: table, Key: target, ReturnValues: 'ALL_OLD' });
    same(Attributes, { ...target, a: S('x'), m: M({ b: N(1) }) });
});

test('DeleteItem with a condition', async () => {
    const target = { pk: S('delete'), sk: N(3) };
    await put(table, { ...target, a: N(5) });
    const request = { TableName: table, Key: target, ConditionExpression: 'a > :v', ExpressionAttributeValues: { ':v': N(5) } };
    const error = await fails(call('DeleteItem', { ...request, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }), CONDITION, 'The conditional request failed');
    same(error.Item, { ...target, a: N(5) });
    assert.ok(await get(table, target));
    await call('DeleteItem', { ...request, ExpressionAttributeValues: { ':v': N(4) } });
    assert.equal(await get(table, target), undefined);
    await fails(call('DeleteItem', { ...request, ConditionExpression: 'attribute_exists(pk)', ExpressionAttributeValues: undefined }), CONDITION);
});

errorCases('DeleteItem', [
    ['no key', { TableName: table }, VALIDATION, one + "Value null at 'key' failed to satisfy constraint: Member must not be null", { real: true }],
    ['half a key', { TableName: table, Key: { pk: S('p') } }, VALIDATION, COUNT, { bare: true }],
    ['another attribute', { TableName: table, Key: { pk: S('p'), other: N(1) } }, VALIDATION, KEY, { bare: true }],
    ['another type', { TableName: table, Key: { pk: S('p'), sk: S('1') } }, VALIDATION, KEY, { bare: true }],
    ['an empty string as a key', { TableName: table, Key: { pk: S(''), sk: N(1) } }, VALIDATION, EMPTY + 'pk', { bare: true }],
    ['ReturnValues of an update', { TableName: table, Key: key, ReturnValues: 'ALL_NEW' }, VALIDATION, 'ReturnValues can only be ALL_OLD or NONE'],
    ['an unknown ReturnValues', { TableName: table, Key: key, ReturnValues: 'X' }, VALIDATION,
        'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]', { real: true }],
    ['an unknown ReturnValuesOnConditionCheckFailure', { TableName: table, Key: key, ReturnValuesOnConditionCheckFailure: 'X' }, VALIDATION,
        /Value 'X' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: \[(ALL_OLD, NONE|NONE, ALL_OLD)\]$/, { real: true }],
    ['both styles', {
        TableName: table, Key: key, Expected: { a: { Exists: false } }, ConditionExpression: 'attribute_exists(a)',
    }, VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} ' +
        'Expression parameters: {ConditionExpression}'],
    ['a table that is not there', { TableName: 'js-no-such-table', Key: key }, NOT_FOUND, 'Requested resource not found'],
]);
