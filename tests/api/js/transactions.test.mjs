// TransactWriteItems and TransactGetItems.
import { test } from 'node:test';
import { randomUUID } from 'node:crypto';
import {
    assert, call, CANCELED, errorCases, fails, foreign, get, INVALID, M, makeTable, N, NOT_FOUND, put, raw, REAL, S, same, VALIDATION,
} from './lib.mjs';

const table = await makeTable({ gsi: { byA: ['a'] } });
const ranged = await makeTable({ key: ['pk', 'sk:N'] });
let count = 0;
const fresh = () => ({ pk: S('t' + ++count) });
const write = (...TransactItems) => call('TransactWriteItems', { TransactItems });
const Put = (Item, rest = {}) => ({ Put: { TableName: table, Item, ...rest } });
const Delete = (Key, rest = {}) => ({ Delete: { TableName: table, Key, ...rest } });
const Update = (Key, UpdateExpression, ExpressionAttributeValues, rest = {}) => ({
    Update: { TableName: table, Key, UpdateExpression, ExpressionAttributeValues, ...rest },
});
const Check = (Key, ConditionExpression, ExpressionAttributeValues, rest = {}) => ({
    ConditionCheck: { TableName: table, Key, ConditionExpression, ExpressionAttributeValues, ...rest },
});
const Get = (Key, rest = {}) => ({ Get: { TableName: table, Key, ...rest } });
const cancelled = (...codes) => `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`;

test('put, update, delete and check in two tables, all at once', async () => {
    const [a, b, c, d] = [fresh(), fresh(), fresh(), fresh()];
    await put(table, { ...b, n: N(1) });
    await put(table, { ...c, n: N(1) });
    await put(table, { ...d, n: N(1) });
    const answer = await write(
        Put({ ...a, v: S('new') }),
        Update(b, 'SET n = n + :one', { ':one': N(1) }),
        Delete(c),
        Check(d, 'n = :one', { ':one': N(1) }),
        { Put: { TableName: ranged, Item: { pk: S('p'), sk: N(1) } } },
    );
    assert.deepEqual(Object.keys(answer), ['$metadata']);
    same(await get(table, a), { ...a, v: S('new') });
    same(await get(table, b), { ...b, n: N(2) });
    assert.equal(await get(table, c), undefined);
    same(await get(table, d), { ...d, n: N(1) });
    same(await get(ranged, { pk: S('p'), sk: N(1) }), { pk: S('p'), sk: N(1) });
});

test('a failed condition cancels all; reasons come in the order of the actions', async () => {
    const [a, b, c, d] = [fresh(), fresh(), fresh(), fresh()];
    await put(table, { ...b, n: N(1) });
    await put(table, { ...c, n: N(2) });
    const error = await fails(
        write(
            Put(a),
            Update(b, 'SET n = :n', { ':n': N(9), ':one': N(1) }, { ConditionExpression: 'n <> :one', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
            Delete(c, { ConditionExpression: 'attribute_not_exists(pk)' }),
            Check(d, 'attribute_exists(pk)', undefined, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        ),
        CANCELED,
        cancelled('None', 'ConditionalCheckFailed', 'ConditionalCheckFailed', 'ConditionalCheckFailed'),
    );
    if (foreign) for (const reason of error.CancellationReasons) reason.Message &&= 'The conditional request failed';
    same(error.CancellationReasons, [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', Item: { ...b, n: N(1) } },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
    ]);
    assert.equal(await get(table, a), undefined);
    same(await get(table, b), { ...b, n: N(1) });
    same(await get(table, c), { ...c, n: N(2) });
});

test('each action sees the items as they were before', async () => {
    const [a, b] = [fresh(), fresh()];
    await put(table, { ...a, n: N(1) });
    await write(Update(a, 'SET n = n + :x', { ':x': N(1) }), Put({ ...b, n: N(5) }, { ConditionExpression: 'attribute_not_exists(pk)' }));
    same((await get(table, a)).n, N(2));
});

test('index entries are part of the transaction', async () => {
    const [a, b] = [fresh(), fresh()];
    const find = async (value) => (await call('Query', {
        TableName: table, IndexName: 'byA', KeyConditionExpression: 'a = :a', ExpressionAttributeValues: { ':a': S(value) },
    })).Count;
    const value = 'indexed ' + a.pk.S;
    await write(Put({ ...a, a: S(value) }), Update(b, 'SET a = :a', { ':a': S(value) }));
    assert.equal(await find(value), 2);
    await fails(write(Delete(a), Check(b, 'attribute_not_exists(pk)')), CANCELED);
    assert.equal(await find(value), 2);
    await write(Delete(a), Delete(b));
    assert.equal(await find(value), 0);
});

test('100 actions are allowed', async () => {
    const keys = Array.from({ length: 100 }, fresh);
    await write(...keys.map((k) => Put({ ...k, n: N(1) })));
    const { Responses } = await call('TransactGetItems', { TransactItems: keys.map((k) => Get(k)) });
    assert.equal(Responses.length, 100);
    assert.ok(Responses.every((r, i) => r.Item.pk.S === keys[i].pk.S));
});

test('concurrent transactions on the same items stay whole', async () => {
    const [a, b] = [fresh(), fresh()];
    let succeeded = 0;
    await Promise.all(Array.from({ length: 50 }, async () => {
        try {
            await write(Update(a, 'ADD n :one', { ':one': N(1) }), Update(b, 'ADD n :one', { ':one': N(1) }));
            succeeded++;
        } catch (error) {
            assert.equal(error.name, CANCELED);
            assert.ok(error.CancellationReasons.some((r) => r.Code === 'TransactionConflict'));
        }
    }));
    assert.ok(succeeded > 0);
    same((await get(table, a)).n, N(succeeded));
    same((await get(table, b)).n, N(succeeded));
});

// ---- Idempotency ------------------------------------------------------------------------

test('a ClientRequestToken makes a transaction happen once', async () => {
    const a = fresh();
    const request = { ClientRequestToken: randomUUID(), TransactItems: [Update(a, 'ADD n :one', { ':one': N(1) })] };
    await call('TransactWriteItems', request);
    await call('TransactWriteItems', request);
    same((await get(table, a)).n, N(1));
    await fails(
        call('TransactWriteItems', { ...request, TransactItems: [Update(a, 'ADD n :one', { ':one': N(2) })] }),
        'IdempotentParameterMismatchException',
    );
    await call('TransactWriteItems', { ...request, ClientRequestToken: randomUUID() });
    same((await get(table, a)).n, N(2));
});

test('a token of a transaction that failed may be used again', async () => {
    const a = fresh();
    const ClientRequestToken = randomUUID();
    const request = { ClientRequestToken, TransactItems: [Update(a, 'SET n = :n', { ':n': N(1) }, { ConditionExpression: 'attribute_exists(pk)' })] };
    await fails(call('TransactWriteItems', request), CANCELED);
    await put(table, a);
    await call('TransactWriteItems', request);
    same((await get(table, a)).n, N(1));
});

test('the same token at the same time', async () => {
    const a = fresh();
    const request = { ClientRequestToken: randomUUID(), TransactItems: [Update(a, 'ADD n :one', { ':one': N(1) })] };
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => call('TransactWriteItems', request)));
    for (const { status, reason } of answers) {
        if (status === 'rejected') assert.equal(reason.name, 'TransactionInProgressException');
    }
    same((await get(table, a)).n, N(1));
});

test('capacity of a repeated token is that of a read', REAL, async () => {
    const a = fresh();
    const request = { ClientRequestToken: randomUUID(), ReturnConsumedCapacity: 'TOTAL', TransactItems: [Put(a)] };
    const first = await call('TransactWriteItems', request);
    assert.equal(first.ConsumedCapacity[0].CapacityUnits, 2);
    const second = await call('TransactWriteItems', request);
    assert.equal(second.ConsumedCapacity[0].CapacityUnits, 2);
    assert.equal(second.ConsumedCapacity[0].ReadCapacityUnits, 2);
});

// ---- Errors -----------------------------------------------------------------------------

const one = '1 validation error detected: ';
const items = (...TransactItems) => ({ TransactItems });
const a = { pk: S('errors') };
const EMPTY = 'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk';

errorCases('TransactWriteItems', [
    ['nothing at all', {}, VALIDATION, one + "Value null at 'transactItems' failed to satisfy constraint: Member must not be null", { real: true }],
    ['no actions', items(), VALIDATION, one + "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1", { real: true }],
    ['101 actions', () => items(...Array.from({ length: 101 }, () => Put(fresh()))), VALIDATION,
        /^1 validation error detected: Value '\[.*\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/, { real: true }],
    ['an item twice', items(Put(a), Delete(a)), VALIDATION, 'Transaction request cannot include multiple operations on one item'],
    ['an item twice, one a check', items(Put(a), Check(a, 'attribute_exists(pk)')), VALIDATION, 'Transaction request cannot include multiple operations on one item'],
    ['an action of nothing', items({}), VALIDATION,
        /TransactItems can only contain one of Check, Put, Update or Delete|TransactWriteRequest should contain Delete or Put or Update request/, { real: true }],
    ['two actions in one', items({ ...Put(a), ...Delete({ pk: S('b') }) }), VALIDATION, /TransactItems can only contain one of Check, Put, Update or Delete/],
    ['a table that is not there', items({ Put: { TableName: 'js-no-such-table', Item: a } }), NOT_FOUND, 'Requested resource not found', { real: true }],
    ['a table that is not there (any text)', items({ Put: { TableName: 'js-no-such-table', Item: a } }), NOT_FOUND],
    ['a bad expression', items(Update(a, 'SET a')), VALIDATION, 'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "a"'],
    ['a bad condition', items(Check(a, 'foo(a)')), VALIDATION, 'Invalid ConditionExpression: Invalid function name; function: foo'],
    ['a check without a condition', items({ ConditionCheck: { TableName: table, Key: a } }), VALIDATION,
        one + "Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null", { real: true }],
    ['an update without an expression', items({ Update: { TableName: table, Key: a } }), VALIDATION,
        one + "Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: Member must not be null", { real: true }],
    ['a value too many', items(Update(a, 'SET b = :v', { ':v': S('x'), ':w': S('x') })), VALIDATION,
        'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}'],
    ['an empty key', items(Put({ pk: S('') })), VALIDATION, EMPTY],
    ['an empty key of a delete', items(Delete({ pk: S('') })), VALIDATION, EMPTY],
    ['an empty index key', items(Put({ ...a, a: S('') })), VALIDATION,
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        'The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byA, IndexKey: a', { real: true }],
    ['a bad number', items(Put({ ...a, n: N('x') })), VALIDATION, 'The parameter cannot be converted to a numeric value: x'],
    ['an item that is too big', () => items(Put({ ...a, d: S('x'.repeat(409600)) })), VALIDATION, 'Item size has exceeded the maximum allowed size'],
    ['more than 4 MB', () => items(...Array.from({ length: 11 }, () => Put({ ...fresh(), d: S('x'.repeat(400000)) }))), VALIDATION,
        /^Transaction payload size cannot exceed 4MB\. Payload Size: : Transaction payload size cannot exceed 4MB\. Payload Size: \d+$/, { real: true }],
    ['a long token', { ...items(Put(a)), ClientRequestToken: 'x'.repeat(37) }, VALIDATION,
        one + `Value '${'x'.repeat(37)}' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36`, { real: true }],
]);

// What is found out only when the transaction runs is a reason for cancellation.
const REASONS = [
    ['a key of another type', Put({ pk: N(5) }), INVALID + 'Type mismatch for key pk expected: S actual: N'],
    ['no key', Put({ a: S('x') }), INVALID + 'Missing the key pk in the item'],
    ['an index key of another type', Put({ ...a, a: N(5) }), INVALID + 'Type mismatch for Index Key a Expected: S Actual: N IndexName: byA'],
    ['an index key of another type by update', Update(a, 'SET a = :v', { ':v': N(5) }), INVALID + 'Type mismatch for Index Key a Expected: S Actual: N IndexName: byA'],
    ['a delete by a key of another type', Delete({ pk: N(5) }), 'The provided key element does not match the schema'],
    ['a check by too many key attributes', Check({ ...a, b: S('x') }, 'attribute_exists(pk)'), 'The provided key element does not match the schema'],
    ['an update of the key', Update(a, 'SET pk = :v', { ':v': S('x') }), INVALID + 'Cannot update attribute pk. This attribute is part of the key'],
    ['+ of nothing', Update(a, 'SET z = z + :v', { ':v': N(5) }), 'The provided expression refers to an attribute that does not exist in the item'],
    ['a path through nothing', Update(a, 'SET z.y = :v', { ':v': N(5) }), 'The document path provided in the update expression is invalid for update'],
];
for (const [title, action, message] of REASONS) {
    test('TransactWriteItems is cancelled: ' + title, REAL, async () => {
        const other = fresh();
        const error = await fails(write(Put(other), action), CANCELED, cancelled('None', 'ValidationError'));
        same(error.CancellationReasons, [{ Code: 'None' }, { Code: 'ValidationError', Message: message }]);
        assert.equal(await get(table, other), undefined);
    });
}

test('an update that makes an item too big cancels', REAL, async () => {
    const error = await fails(write(Update(fresh(), 'SET d = :d', { ':d': S('x'.repeat(409600)) })), CANCELED, cancelled('ValidationError'));
    assert.equal(error.CancellationReasons[0].Message, 'Item size to update has exceeded the maximum allowed size');
});

// ---- TransactGetItems ---------------------------------------------------------------------

test('TransactGetItems gives items in order, and an empty answer for what is not there', async () => {
    const [x, y] = [fresh(), fresh()];
    await put(table, { ...x, m: M({ k: N(1) }), b: S('b') });
    await put(ranged, { pk: S('get'), sk: N(1), v: S('v') });
    const answer = await raw('TransactGetItems', {
        TransactItems: [
            { Get: { TableName: ranged, Key: { pk: { S: 'get' }, sk: { N: '1' } } } },
            { Get: { TableName: table, Key: y } },
            { Get: { TableName: table, Key: x, ProjectionExpression: '#m.k, b', ExpressionAttributeNames: { '#m': 'm' } } },
        ],
    });
    assert.deepEqual(answer.json, {
        Responses: [{ Item: { pk: S('get'), sk: N(1), v: S('v') } }, {}, { Item: { m: M({ k: N(1) }), b: S('b') } }],
    });
});

errorCases('TransactGetItems', [
    ['no actions', items(), VALIDATION, one + "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1", { real: true }],
    ['101 actions', () => items(...Array.from({ length: 101 }, () => Get(fresh()))), VALIDATION,
        /at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/, { real: true }],
    ['an item twice', items(Get(a), Get(a)), VALIDATION, 'Transaction request cannot include multiple operations on one item'],
    ['a table that is not there', items({ Get: { TableName: 'js-no-such-table', Key: a } }), NOT_FOUND, 'Requested resource not found', { real: true }],
    ['a bad projection', items(Get(a, { ProjectionExpression: '!!!' })), VALIDATION, 'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'],
    ['an empty key value', items(Get({ pk: S('') })), VALIDATION, EMPTY],
    ['an action of nothing', items({}), VALIDATION,
        one + "Value null at 'transactItems.1.member.get' failed to satisfy constraint: Member must not be null", { real: true }],
]);

test('TransactGetItems is cancelled for a bad key', REAL, async () => {
    for (const key of [{}, { pk: N(1) }, { pk: S('x'), more: S('y') }]) {
        const error = await fails(call('TransactGetItems', { TransactItems: [Get(fresh()), Get(key)] }), CANCELED, cancelled('None', 'ValidationError'));
        same(error.CancellationReasons, [{ Code: 'None' }, { Code: 'ValidationError', Message: 'The provided key element does not match the schema' }]);
    }
});
