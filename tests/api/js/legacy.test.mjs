// The parameters of old: Expected, AttributeUpdates, AttributesToGet, KeyConditions, QueryFilter, ScanFilter, ConditionalOperator.
import { test } from 'node:test';
import {
    assert, B, call, CONDITION, errorCases, fails, get, INVALID, L, M, makeTable, N, NS, NULL, put, putAll, REAL, S, same, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable({ key: ['pk', 'sk:N'], gsi: { byA: ['a'] } });
await putAll(table, Array.from({ length: 10 }, (_, i) => ({ pk: S('p'), sk: N(i), n: N(i * 10), s: S('s' + i), a: S('a'), ss: SS('x', 'y' + i) })));
const key = { pk: S('legacy'), sk: N(1) };
const item = { ...key, n: N(5), s: S('hello'), ss: SS('a', 'b'), ns: NS(1, 2), b: B('bytes'), l: L(S('x'), N(1)), nul: NULL, m: M({ k: S('v') }) };
await put(table, item);
const compare = (ComparisonOperator, ...AttributeValueList) => ({ ComparisonOperator, AttributeValueList });

// ---- Expected and ConditionalOperator -------------------------------------------------------

const EXPECTED = [
    [{ n: { Value: N(5) } }, true],
    [{ n: { Value: N(6) } }, false],
    [{ n: { Exists: true, Value: N('5.0') } }, true],
    [{ zz: { Exists: false } }, true],
    [{ n: { Exists: false } }, false],
    [{ n: compare('EQ', N(5)) }, true],
    [{ n: compare('NE', N(5)) }, false],
    [{ n: compare('NE', S('5')) }, true],
    [{ n: compare('LT', N(6)) }, true],
    [{ n: compare('LE', N(5)) }, true],
    [{ n: compare('GT', N(5)) }, false],
    [{ n: compare('GE', N(5)) }, true],
    [{ n: compare('BETWEEN', N(1), N(5)) }, true],
    [{ n: compare('IN', N(1), N(5)) }, true],
    [{ n: compare('IN', N(1), N(2)) }, false],
    [{ s: compare('BEGINS_WITH', S('he')) }, true],
    [{ s: compare('CONTAINS', S('ell')) }, true],
    [{ s: compare('NOT_CONTAINS', S('ell')) }, false],
    [{ ss: compare('CONTAINS', S('a')) }, true],
    [{ ss: compare('NOT_CONTAINS', S('z')) }, true],
    [{ ns: compare('CONTAINS', N(2)) }, true],
    [{ l: compare('CONTAINS', N(1)) }, true],
    [{ zz: { ComparisonOperator: 'NULL' } }, true],
    [{ n: { ComparisonOperator: 'NULL' } }, false],
    [{ nul: { ComparisonOperator: 'NOT_NULL' } }, true],
    [{ zz: { ComparisonOperator: 'NOT_NULL' } }, false],
    [{ m: compare('EQ', M({ k: S('v') })) }, true],
    [{ n: { Value: N(5) }, s: { Value: S('x') } }, false],
    [{ n: { Value: N(5) }, s: { Value: S('x') } }, true, 'OR'],
    [{ n: { Value: N(5) }, s: { Value: S('hello') } }, true, 'AND'],
];
for (const [Expected, outcome, ConditionalOperator] of EXPECTED) {
    test(`Expected ${JSON.stringify(Expected)} ${ConditionalOperator ?? ''}`, async () => {
        const request = call('PutItem', { TableName: table, Item: item, Expected, ConditionalOperator });
        if (outcome) await request;
        else await fails(request, CONDITION, 'The conditional request failed');
    });
}

test('Expected in UpdateItem and DeleteItem', REAL, async () => {
    const target = { pk: S('legacy'), sk: N(2) };
    await put(table, { ...target, v: N(1) });
    const Expected = { v: { Value: N(1) } };
    await call('UpdateItem', { TableName: table, Key: target, Expected, AttributeUpdates: { v: { Value: N(2) } } });
    await fails(call('UpdateItem', { TableName: table, Key: target, Expected, AttributeUpdates: { v: { Value: N(3) } } }), CONDITION);
    await fails(call('DeleteItem', { TableName: table, Key: target, Expected }), CONDITION);
    await call('DeleteItem', { TableName: table, Key: target, Expected: { v: { Value: N(2) } } });
    assert.equal(await get(table, target), undefined);
});

// ---- AttributeUpdates ------------------------------------------------------------------------

const UPDATES = [
    [{ x: { Value: S('new') } }, { x: S('new') }],
    [{ x: { Action: 'PUT', Value: S('new') }, n: { Action: 'PUT', Value: N(0) } }, { x: S('new'), n: N(0) }],
    [{ n: { Action: 'DELETE' } }, { n: null }],
    [{ zz: { Action: 'DELETE' } }, {}],
    [{ ss: { Action: 'DELETE', Value: SS('a') } }, { ss: SS('b') }],
    [{ ss: { Action: 'DELETE', Value: SS('a', 'b') } }, { ss: null }],
    [{ n: { Action: 'ADD', Value: N(3) } }, { n: N(8) }],
    [{ x: { Action: 'ADD', Value: N(3) } }, { x: N(3) }],
    [{ ss: { Action: 'ADD', Value: SS('c') } }, { ss: SS('a', 'b', 'c') }],
    [{ ns: { Action: 'ADD', Value: NS(3) } }, { ns: NS(1, 2, 3) }],
    [{ l: { Action: 'ADD', Value: L(S('end')) } }, { l: L(S('x'), N(1), S('end')) }],
];
for (const [AttributeUpdates, changes] of UPDATES) {
    // PUT is the default action.
    test('AttributeUpdates ' + JSON.stringify(AttributeUpdates), AttributeUpdates.x && !AttributeUpdates.x.Action ? REAL : {}, async () => {
        const target = { pk: S('legacy'), sk: N(3) };
        await put(table, { ...item, ...target });
        const { Attributes } = await call('UpdateItem', { TableName: table, Key: target, AttributeUpdates, ReturnValues: 'ALL_NEW' });
        const expected = { ...item, ...target, ...changes };
        for (const name of Object.keys(expected)) if (expected[name] === null) delete expected[name];
        same(Attributes, expected);
    });
}

test('AttributeUpdates on an item that is not there', REAL, async () => {
    const target = { pk: S('legacy'), sk: N(4) };
    await call('UpdateItem', { TableName: table, Key: target, AttributeUpdates: { a: { Value: S('x') }, n: { Action: 'ADD', Value: N(1) } } });
    same(await get(table, target), { ...target, a: S('x'), n: N(1) });
    const another = { pk: S('legacy'), sk: N(5) };
    await call('UpdateItem', { TableName: table, Key: another, AttributeUpdates: { n: { Action: 'DELETE' } } });
    assert.equal(await get(table, another), undefined);
});

// ---- Reading ---------------------------------------------------------------------------------

test('AttributesToGet', async () => {
    same((await call('GetItem', { TableName: table, Key: key, AttributesToGet: ['n', 's', 'zz'] })).Item, { n: N(5), s: S('hello') });
    const scan = await call('Scan', { TableName: table, AttributesToGet: ['sk'] });
    assert.ok(scan.Items.every((i) => Object.keys(i).join() === 'sk'));
    const query = await call('Query', { TableName: table, KeyConditions: { pk: compare('EQ', S('p')) }, AttributesToGet: ['n'] });
    assert.deepEqual(query.Items.map((i) => Number(i.n.N)), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    const batch = await call('BatchGetItem', { RequestItems: { [table]: { Keys: [key], AttributesToGet: ['n'] } } });
    same(batch.Responses[table], [{ n: N(5) }]);
});

const query = async (sk, rest = {}) => (await call('Query', {
    TableName: table, KeyConditions: { pk: compare('EQ', S('p')), ...(sk && { sk }) }, ...rest,
})).Items.map((i) => Number(i.sk.N));

test('KeyConditions', async () => {
    assert.deepEqual(await query(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual(await query(compare('EQ', N(3))), [3]);
    assert.deepEqual(await query(compare('LT', N(3))), [0, 1, 2]);
    assert.deepEqual(await query(compare('LE', N(3))), [0, 1, 2, 3]);
    assert.deepEqual(await query(compare('GT', N(7))), [8, 9]);
    assert.deepEqual(await query(compare('GE', N(7))), [7, 8, 9]);
    assert.deepEqual(await query(compare('BETWEEN', N(2), N(4)), { ScanIndexForward: false }), [4, 3, 2]);
    const text = await makeTable({ key: ['pk', 'sk'] });
    await putAll(text, ['a1', 'a2', 'b'].map((s) => ({ pk: S('p'), sk: S(s) })));
    const { Count } = await call('Query', { TableName: text, KeyConditions: { pk: compare('EQ', S('p')), sk: compare('BEGINS_WITH', S('a')) } });
    assert.equal(Count, 2);
});

test('QueryFilter and ScanFilter', async () => {
    assert.deepEqual(await query(undefined, { QueryFilter: { n: compare('GE', N(70)) } }), [7, 8, 9]);
    assert.deepEqual(await query(undefined, { QueryFilter: { n: compare('GE', N(70)), s: compare('NE', S('s8')) } }), [7, 9]);
    assert.deepEqual(await query(undefined, { QueryFilter: { n: compare('GE', N(80)), s: compare('EQ', S('s1')) }, ConditionalOperator: 'OR' }), [1, 8, 9]);
    assert.deepEqual(await query(undefined, { QueryFilter: { ss: compare('CONTAINS', S('y5')) } }), [5]);
    const scan = async (ScanFilter, rest) => (await call('Scan', { TableName: table, ScanFilter, ...rest })).Items.map((i) => Number(i.sk.N)).sort();
    assert.deepEqual(await scan({ pk: compare('EQ', S('p')), n: compare('IN', N(10), N(20)) }), [1, 2]);
    assert.deepEqual(await scan({ b: { ComparisonOperator: 'NOT_NULL' }, sk: compare('EQ', N(1)) }), [1]);
});

// ---- Errors ------------------------------------------------------------------------------------

const both = (non, expression) =>
    `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {${non}} Expression parameters: {${expression}}`;
const putOf = (Expected, rest = {}) => ({ TableName: table, Item: key, Expected, ...rest });
errorCases('PutItem', [
    ['Expected and ConditionExpression', putOf({ a: { Exists: false } }, { ConditionExpression: 'attribute_exists(a)' }), VALIDATION, both('Expected', 'ConditionExpression')],
    ['ConditionalOperator alone', { TableName: table, Item: key, ConditionalOperator: 'OR' }, VALIDATION,
        'ConditionalOperator cannot be used without Filter or Expected'],
    ['ConditionalOperator for one', putOf({ a: { Exists: false } }, { ConditionalOperator: 'OR' }), VALIDATION,
        'ConditionalOperator can only be used when Filter or Expected has two or more elements'],
    ['an unknown ConditionalOperator', putOf({ a: { Exists: false }, b: { Exists: false } }, { ConditionalOperator: 'XOR' }), VALIDATION,
        'Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]', { real: true }],
    ['no value', putOf({ a: {} }), VALIDATION, INVALID + 'Value must be provided when Exists is null for Attribute: a'],
    ['Exists without a value', putOf({ a: { Exists: true } }), VALIDATION, INVALID + 'Value must be provided when Exists is true for Attribute: a'],
    ['a value that is not to exist', putOf({ a: { Exists: false, Value: S('x') } }), VALIDATION,
        INVALID + 'Value cannot be used when Exists is false for Attribute: a'],
    ['Value and AttributeValueList', putOf({ a: { ComparisonOperator: 'EQ', Value: S('x'), AttributeValueList: [S('x')] } }), VALIDATION,
        INVALID + 'Value and AttributeValueList cannot be used together for Attribute: a'],
    ['a list without an operator', putOf({ a: { AttributeValueList: [S('x')] } }), VALIDATION,
        INVALID + 'AttributeValueList can only be used with a ComparisonOperator for Attribute: a'],
    ['Exists with an operator', putOf({ a: { Exists: true, ComparisonOperator: 'EQ', Value: S('x') } }), VALIDATION,
        INVALID + 'Exists and ComparisonOperator cannot be used together for Attribute: a'],
    ['an operator without a value', putOf({ a: { ComparisonOperator: 'EQ' } }), VALIDATION,
        INVALID + 'Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a'],
    ['two values for EQ', putOf({ a: compare('EQ', S('x'), S('y')) }), VALIDATION, INVALID + 'Invalid number of argument(s) for the EQ ComparisonOperator'],
    ['one value for BETWEEN', putOf({ a: compare('BETWEEN', S('x')) }), VALIDATION, INVALID + 'Invalid number of argument(s) for the BETWEEN ComparisonOperator'],
    ['a value for NULL', putOf({ a: compare('NULL', S('x')) }), VALIDATION, INVALID + 'Invalid number of argument(s) for the NULL ComparisonOperator'],
    ['BETWEEN of two types', putOf({ a: compare('BETWEEN', S('x'), N(1)) }), VALIDATION,
        INVALID + 'AttributeValues inside AttributeValueList must be of same type'],
    ['BETWEEN turned around', putOf({ a: compare('BETWEEN', N(2), N(1)) }), VALIDATION,
        'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound'],
    ['LT of a set', putOf({ a: compare('LT', SS('x')) }), VALIDATION, INVALID + 'ComparisonOperator LT is not valid for SS AttributeValue type'],
    ['BEGINS_WITH of a number', putOf({ a: compare('BEGINS_WITH', N(1)) }), VALIDATION,
        INVALID + 'ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type'],
    ['an unknown operator', putOf({ a: compare('LIKE', S('x')) }), VALIDATION,
        /Value 'LIKE' at 'expected\.a\.member\.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: \[/, { real: true }],
]);
errorCases('UpdateItem', [
    ['AttributeUpdates and UpdateExpression', { TableName: table, Key: key, AttributeUpdates: { a: { Value: S('x') } }, UpdateExpression: 'REMOVE a' }, VALIDATION,
        both('AttributeUpdates', 'UpdateExpression')],
    ['AttributeUpdates and ConditionExpression', { TableName: table, Key: key, AttributeUpdates: { a: { Value: S('x') } }, ConditionExpression: 'attribute_exists(a)' }, VALIDATION,
        both('AttributeUpdates', 'ConditionExpression')],
    ['PUT without a value', { TableName: table, Key: key, AttributeUpdates: { a: { Action: 'PUT' } } }, VALIDATION,
        INVALID + 'Only DELETE action is allowed when no attribute value is specified'],
    ['DELETE of a string', { TableName: table, Key: key, AttributeUpdates: { a: { Action: 'DELETE', Value: S('x') } } }, VALIDATION,
        INVALID + 'DELETE action with value is not supported for the type S'],
    ['ADD of a string', { TableName: table, Key: key, AttributeUpdates: { a: { Action: 'ADD', Value: S('x') } } }, VALIDATION,
        INVALID + 'ADD action is not supported for the type S'],
    ['ADD to another type', { TableName: table, Key: key, AttributeUpdates: { s: { Action: 'ADD', Value: N(1) } } }, VALIDATION,
        'Type mismatch for attribute to update', { bare: true }],
    ['a key', { TableName: table, Key: key, AttributeUpdates: { sk: { Value: N(1) } } }, VALIDATION,
        INVALID + 'Cannot update attribute sk. This attribute is part of the key', { bare: true }],
    ['an unknown action', { TableName: table, Key: key, AttributeUpdates: { a: { Action: 'SET', Value: S('x') } } }, VALIDATION,
        /Value 'SET' at 'attributeUpdates\.a\.member\.action' failed to satisfy constraint: Member must satisfy enum value set: \[/, { real: true }],
]);
const q = (KeyConditions, rest = {}) => ({ TableName: table, KeyConditions, ...rest });
errorCases('Query', [
    ['no hash key', q({ sk: compare('EQ', N(1)) }), VALIDATION, 'Query condition missed key schema element: pk'],
    ['another attribute', q({ pk: compare('EQ', S('p')), n: compare('EQ', N(1)) }), VALIDATION, 'Query condition missed key schema element: sk'],
    ['three conditions', q({ pk: compare('EQ', S('p')), sk: compare('EQ', N(1)), n: compare('EQ', N(1)) }), VALIDATION,
        'Conditions can be of length 1 or 2 only'],
    ['no conditions', q({}), VALIDATION, 'Conditions can be of length 1 or 2 only'],
    ['a hash key by LT', q({ pk: compare('LT', S('p')) }), VALIDATION, 'Query key condition not supported'],
    ['a range key by NE', q({ pk: compare('EQ', S('p')), sk: compare('NE', N(1)) }), VALIDATION, 'Attempted conditional constraint is not an indexable operation', { real: true }],
    ['another type', q({ pk: compare('EQ', N(1)) }), VALIDATION, INVALID + 'Condition parameter type does not match schema type'],
    ['QueryFilter on a key', q({ pk: compare('EQ', S('p')) }, { QueryFilter: { sk: compare('EQ', N(1)) } }), VALIDATION,
        'QueryFilter can only contain non-primary key attributes: Primary key attribute: sk'],
    ['QueryFilter and FilterExpression', q({ pk: compare('EQ', S('p')) }, { QueryFilter: { n: compare('EQ', N(1)) }, FilterExpression: 'attribute_exists(n)' }), VALIDATION,
        both('QueryFilter', 'FilterExpression')],
    ['AttributesToGet and ProjectionExpression', q({ pk: compare('EQ', S('p')) }, { AttributesToGet: ['a'], ProjectionExpression: 'a' }), VALIDATION,
        both('AttributesToGet', 'ProjectionExpression')],
    ['AttributesToGet for COUNT', q({ pk: compare('EQ', S('p')) }, { AttributesToGet: ['a'], Select: 'COUNT' }), VALIDATION,
        'Cannot specify the AttributesToGet when choosing to get only the Count'],
    ['an attribute twice', q({ pk: compare('EQ', S('p')) }, { AttributesToGet: ['a', 'a'] }), VALIDATION,
        INVALID + 'Duplicate value in attribute name: a'],
    ['no attributes', q({ pk: compare('EQ', S('p')) }, { AttributesToGet: [] }), VALIDATION,
        "Value at 'AttributesToGet' failed to satisfy constraint: Member must have length greater than or equal to 1", { real: true }],
]);
