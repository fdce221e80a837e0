// UpdateItem: every form of the update expression, ReturnValues, conditions, errors.
import { test } from 'node:test';
import {
    assert, B, BS, call, CONDITION, errorCases, fails, get, L, M, makeTable, N, NOT_FOUND, NS, put, REAL, S, same, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable({ key: ['pk', 'sk'], gsi: { byA: ['ia', 'in:N'] }, lsi: { byL: ['pk', 'il'] } });
let count = 0;
const freshKey = () => ({ pk: S('p'), sk: S('u' + ++count) });
const update = (Key, UpdateExpression, values, rest = {}) =>
    call('UpdateItem', { TableName: table, Key, UpdateExpression, ExpressionAttributeValues: values, ...rest });

const start = {
    n: N(10),
    s: S('text'),
    ss: SS('a', 'b'),
    ns: NS(1, 2),
    bs: BS('x', 'y'),
    l: L(N(1), N(2), N(3)),
    m: M({ a: S('x'), c: N(1), deep: M({ z: N(0) }) }),
};

// [expression, values, what changes (null: removed), names]
const CASES = [
    // SET.
    ['SET x = :v', { ':v': S('new') }, { x: S('new') }],
    ['SET s = :v, n = :w', { ':v': N(1), ':w': S('y') }, { s: N(1), n: S('y') }],
    ['set s = :v', { ':v': S('lower case') }, { s: S('lower case') }],
    ['SET x = n', undefined, { x: N(10) }],
    ['SET n = s, s = n', undefined, { n: S('text'), s: N(10) }],
    ['SET n = n + :v', { ':v': N(5) }, { n: N(15) }],
    ['SET n = n - :v', { ':v': N('0.5') }, { n: N('9.5') }],
    ['SET n = :v - n', { ':v': N(1) }, { n: N(-9) }],
    ['SET x = :a + :b', { ':a': N('1E20'), ':b': N(1) }, { x: N('100000000000000000001') }],
    ['SET n = n + n', undefined, { n: N(20) }],
    ['SET n = if_not_exists(n, :z) + :v', { ':z': N(0), ':v': N(1) }, { n: N(11) }],
    ['SET x = if_not_exists(x, :z) + :v', { ':z': N(0), ':v': N(1) }, { x: N(1) }],
    ['SET x = if_not_exists(x, :z)', { ':z': S('default') }, { x: S('default') }],
    ['SET s = if_not_exists(s, :z)', { ':z': S('default') }, {}],
    ['SET x = if_not_exists(gone, s)', undefined, { x: S('text') }],
    ['SET l = list_append(l, :v)', { ':v': L(N(4)) }, { l: L(N(1), N(2), N(3), N(4)) }],
    ['SET l = list_append(:v, l)', { ':v': L(N(0)) }, { l: L(N(0), N(1), N(2), N(3)) }],
    ['SET x = list_append(if_not_exists(x, :e), :v)', { ':e': L(), ':v': L(S('a')) }, { x: L(S('a')) }],
    ['SET l = list_append(l, l)', undefined, { l: L(N(1), N(2), N(3), N(1), N(2), N(3)) }],
    ['SET m.a = :v', { ':v': S('y') }, { m: M({ ...start.m.M, a: S('y') }) }],
    ['SET m.new = :v', { ':v': S('y') }, { m: M({ ...start.m.M, new: S('y') }) }, { '#new': 'new' }],
    ['SET m.deep.z = m.deep.z + :v', { ':v': N(3) }, { m: M({ ...start.m.M, deep: M({ z: N(3) }) }) }],
    ['SET m.deep.y = :v, m.c = :w', { ':v': N(1), ':w': N(2) }, { m: M({ a: S('x'), c: N(2), deep: M({ z: N(0), y: N(1) }) }) }],
    ['SET l[1] = :v', { ':v': S('mid') }, { l: L(N(1), S('mid'), N(3)) }],
    ['SET l[9] = :v', { ':v': S('end') }, { l: L(N(1), N(2), N(3), S('end')) }],
    ['SET l[5] = :v, l[4] = :w', { ':v': S('five'), ':w': S('four') }, { l: L(N(1), N(2), N(3), S('four'), S('five')) }],
    ['SET #x = :v', { ':v': N(1) }, { 'a.b': N(1) }, { '#x': 'a.b' }],
    ['SET #m.#x = :v', { ':v': N(1) }, { m: M({ ...start.m.M, 'dot.ted': N(1) }) }, { '#m': 'm', '#x': 'dot.ted' }],
    ['SET x = m.deep', undefined, { x: M({ z: N(0) }) }],
    ['SET x = l[2]', undefined, { x: N(3) }],
    ['SET x = (:a)', { ':a': N(1) }, { x: N(1) }],
    ['SET x = (n + :a)', { ':a': N(1) }, { x: N(11) }],
    // REMOVE.
    ['REMOVE s', undefined, { s: null }],
    ['REMOVE s, n, gone', undefined, { s: null, n: null }],
    ['REMOVE m.a', undefined, { m: M({ c: N(1), deep: M({ z: N(0) }) }) }],
    ['REMOVE m.gone', undefined, {}],
    ['REMOVE l[0]', undefined, { l: L(N(2), N(3)) }],
    ['REMOVE l[0], l[2]', undefined, { l: L(N(2)) }],
    ['REMOVE l[0], l[1], l[2]', undefined, { l: L() }],
    ['REMOVE l[7]', undefined, {}],
    ['REMOVE l[1] SET l[0] = :v', { ':v': S('x') }, { l: L(S('x'), N(3)) }],
    // ADD.
    ['ADD n :v', { ':v': N(-3) }, { n: N(7) }],
    ['ADD x :v', { ':v': N(5) }, { x: N(5) }],
    ['ADD ss :v', { ':v': SS('b', 'c') }, { ss: SS('a', 'b', 'c') }],
    ['ADD ns :v', { ':v': NS('2.0', 3) }, { ns: NS(1, 2, 3) }],
    ['ADD bs :v', { ':v': BS('z') }, { bs: BS('x', 'y', 'z') }],
    ['ADD x :v', { ':v': SS('n') }, { x: SS('n') }],
    ['ADD m.c :v', { ':v': N(4) }, { m: M({ ...start.m.M, c: N(5) }) }],
    ['ADD n :v, x :v', { ':v': N(1) }, { n: N(11), x: N(1) }],
    // DELETE.
    ['DELETE ss :v', { ':v': SS('a', 'z') }, { ss: SS('b') }],
    ['DELETE ss :v', { ':v': SS('a', 'b') }, { ss: null }],
    ['DELETE ns :v', { ':v': NS('1.0') }, { ns: NS(2) }],
    ['DELETE gone :v', { ':v': SS('a') }, {}],
    // All together, in any order.
    ['SET s = :s REMOVE l ADD n :n DELETE ss :d', { ':s': S('1'), ':n': N(1), ':d': SS('a') }, { s: S('1'), l: null, n: N(11), ss: SS('b') }],
    ['DELETE ss :d ADD n :n REMOVE l SET s = :s', { ':s': S('1'), ':n': N(1), ':d': SS('a') }, { s: S('1'), l: null, n: N(11), ss: SS('b') }],
];
for (const [expression, values, changes, names] of CASES) {
    test(expression + (values ? ' ' + JSON.stringify(values) : ''), async () => {
        const key = freshKey();
        await put(table, { ...key, ...start });
        const text = names?.['#new'] ? expression.replace('.new', '.#new') : expression;
        const answer = await update(key, text, values, { ExpressionAttributeNames: names, ReturnValues: 'ALL_NEW' });
        const expected = { ...key, ...start, ...changes };
        for (const name of Object.keys(expected)) if (expected[name] === null) delete expected[name];
        same(answer.Attributes, expected);
        same(await get(table, key), expected);
    });
}

test('an update of nothing that is there creates the item', async () => {
    for (const [expression, values, expected] of [
        ['SET a = :v', { ':v': N(1) }, { a: N(1) }],
        ['ADD a :v', { ':v': N(1) }, { a: N(1) }],
        ['REMOVE a SET b = :v', { ':v': N(1) }, { b: N(1) }],
        [undefined, undefined, {}],
    ]) {
        const key = freshKey();
        await update(key, expression, values);
        same(await get(table, key), { ...key, ...expected });
    }
});

test('what only removes creates nothing', REAL, async () => {
    for (const [expression, values] of [
        ['REMOVE a'],
        ['REMOVE a.b, c[0]'],
        ['DELETE a :v', { ':v': SS('x') }],
    ]) {
        const key = freshKey();
        await update(key, expression, values);
        assert.equal(await get(table, key), undefined);
    }
});

// ---- ReturnValues -------------------------------------------------------------------

const RETURNS = [
    // [expression, values, UPDATED_OLD, UPDATED_NEW]
    ['SET n = :v', { ':v': N(1) }, { n: N(10) }, { n: N(1) }],
    ['SET x = :v', { ':v': N(1) }, undefined, { x: N(1) }],
    ['SET x = :v, s = :v', { ':v': N(1) }, { s: S('text') }, { x: N(1), s: N(1) }],
    ['REMOVE s', undefined, { s: S('text') }, undefined],
    ['REMOVE gone', undefined, undefined, undefined],
    ['ADD n :v', { ':v': N(1) }, { n: N(10) }, { n: N(11) }],
    ['DELETE ss :v', { ':v': SS('a') }, { ss: SS('a', 'b') }, { ss: SS('b') }],
    ['SET m.a = :v', { ':v': S('y') }, { m: M({ a: S('x') }) }, { m: M({ a: S('y') }) }],
    ['SET m.a = :v, m.c = :v', { ':v': S('y') }, { m: M({ a: S('x'), c: N(1) }) }, { m: M({ a: S('y'), c: S('y') }) }],
    ['SET l[1] = :v', { ':v': S('y') }, { l: L(N(2)) }, { l: L(S('y')) }],
    ['SET n = n', undefined, { n: N(10) }, { n: N(10) }],
];
for (const [expression, values, old, fresh] of RETURNS) {
    // Of a nested path only that path is returned.
    test('ReturnValues: ' + expression, /[.[]/.test(expression) ? REAL : {}, async () => {
        for (const [ReturnValues, expected] of [
            ['NONE', () => undefined],
            [undefined, () => undefined],
            ['ALL_OLD', (key) => ({ ...key, ...start })],
            ['UPDATED_OLD', () => old],
            ['UPDATED_NEW', () => fresh],
        ]) {
            const key = freshKey();
            await put(table, { ...key, ...start });
            const { Attributes } = await update(key, expression, values, { ReturnValues });
            same({ Attributes }, { Attributes: expected(key) }, ReturnValues);
        }
    });
}

test('ReturnValues of a new item', async () => {
    assert.equal((await update(freshKey(), 'SET a = :v', { ':v': N(1) }, { ReturnValues: 'ALL_OLD' })).Attributes, undefined);
    assert.equal((await update(freshKey(), 'SET a = :v', { ':v': N(1) }, { ReturnValues: 'UPDATED_OLD' })).Attributes, undefined);
    const key = freshKey();
    same((await update(key, 'SET a = :v', { ':v': N(1) }, { ReturnValues: 'ALL_NEW' })).Attributes, { ...key, a: N(1) });
});

// ---- Conditions and indexes -----------------------------------------------------------

test('a condition guards the update', async () => {
    const key = freshKey();
    await put(table, { ...key, version: N(1) });
    const bump = (from, rest) =>
        update(key, 'SET version = version + :one', { ':one': N(1), ':from': N(from) }, { ConditionExpression: 'version = :from', ...rest });
    await bump(1);
    const error = await fails(bump(1, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }), CONDITION, 'The conditional request failed');
    same(error.Item, { ...key, version: N(2) });
    await fails(update(freshKey(), 'SET a = :v', { ':v': N(1) }, { ConditionExpression: 'attribute_exists(pk)' }), CONDITION);
});

test('an update that fails creates nothing', async () => {
    const key = freshKey();
    await fails(update(key, 'SET a = b + :v', { ':v': N(1) }), VALIDATION);
    await fails(update(key, 'SET ia = :v', { ':v': N(1) }), VALIDATION);
    assert.equal(await get(table, key), undefined);
});

test('concurrent counters lose nothing', async () => {
    const key = freshKey();
    await Promise.all(Array.from({ length: 100 }, () => update(key, 'ADD counter :one', { ':one': N(1) }, {
        UpdateExpression: 'ADD #c :one', ExpressionAttributeNames: { '#c': 'counter' },
    })));
    same((await get(table, key)).counter, N(100));
});

test('index entries follow the update', async () => {
    const key = freshKey();
    const find = async (value) => (await call('Query', {
        TableName: table, IndexName: 'byA', KeyConditionExpression: 'ia = :a', ExpressionAttributeValues: { ':a': S(value) },
    })).Count;
    await update(key, 'SET ia = :a, #n = :n', { ':a': S('follow'), ':n': N(1) }, { ExpressionAttributeNames: { '#n': 'in' } });
    assert.equal(await find('follow'), 1);
    await update(key, 'SET ia = :a', { ':a': S('moved') });
    assert.equal(await find('follow'), 0);
    assert.equal(await find('moved'), 1);
    await update(key, 'REMOVE #n', undefined, { ExpressionAttributeNames: { '#n': 'in' } });
    assert.equal(await find('moved'), 0);
});

// ---- Errors ---------------------------------------------------------------------------

const key = { pk: S('p'), sk: S('errors') };
await put(table, { ...key, ...start });
const INVALID = 'Invalid UpdateExpression: ';
const PARAMETER = 'One or more parameter values were invalid: ';
const PATH = 'The document path provided in the update expression is invalid for update';
const TYPE = 'An operand in the update expression has an incorrect data type';
const NO_ATTRIBUTE = 'The provided expression refers to an attribute that does not exist in the item';
const bad = (UpdateExpression, ExpressionAttributeValues, rest = {}) => ({
    TableName: table, Key: key, UpdateExpression, ExpressionAttributeValues, ...rest,
});
const v = { ':v': S('x') };
const n = { ':n': N(1) };
const overlap = (a, b) =>
    INVALID + `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${a}, path two: ${b}`;

errorCases('UpdateItem', [
    ['an empty expression', bad(''), VALIDATION, INVALID + 'The expression can not be empty;'],
    ['no clause', bad('hello'), VALIDATION, INVALID + 'Syntax error; token: "hello", near: "hello"'],
    ['unknown words', bad('INVALID SYNTAX HERE', v), VALIDATION, INVALID + 'Syntax error; token: "INVALID", near: "INVALID SYNTAX"'],
    ['an empty clause', bad('SET'), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: "SET"'],
    ['a trailing comma', bad('SET a = :v,', v), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: ","'],
    ['no value', bad('SET a'), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: "a"'],
    ['a multiplication', bad('SET a = a * :n', n), VALIDATION, INVALID + 'Syntax error; token: "*", near: "a * :n"'],
    ['three terms', bad('SET a = b + :n + :n', n), VALIDATION, INVALID + 'Syntax error; token: "+", near: ":n + :n"'],
    ['a value on the left', bad('SET :v = a', v), VALIDATION, INVALID + 'Syntax error; token: ":v", near: "SET :v ="'],
    ['ADD of a path', bad('ADD a b'), VALIDATION, INVALID + 'Syntax error; token: "b", near: "a b"'],
    ['REMOVE of a value', bad('REMOVE :v', v), VALIDATION, INVALID + 'Syntax error; token: ":v", near: "REMOVE :v"'],
    ['a clause twice', bad('SET a = :v SET b = :v', v), VALIDATION,
        INVALID + 'The "SET" section can only be used once in an update expression;'],
    ['a reserved word', bad('SET name = :v', v), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['a function of conditions', bad('SET a = size(b)'), VALIDATION, INVALID + 'The function is not allowed in an update expression; function: size'],
    ['an unknown function', bad('SET a = foo(b)'), VALIDATION, INVALID + 'Invalid function name; function: foo'],
    ['too few operands', bad('SET a = if_not_exists(b)'), VALIDATION,
        INVALID + 'Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1'],
    ['too many operands', bad('SET a = list_append(b, c, d)'), VALIDATION,
        INVALID + 'Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 3'],
    ['if_not_exists of a value', bad('SET a = if_not_exists(:v, :v)', v), VALIDATION,
        INVALID + 'Operator or function requires a document path; operator or function: if_not_exists'],
    ['+ of a string', bad('SET a = b + :v', v), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: +, operand type: S'],
    ['list_append of a string', bad('SET a = list_append(a, :v)', v), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: list_append, operand type: S'],
    ['ADD of a string', bad('ADD a :v', v), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND'],
    ['ADD of a list', bad('ADD a :v', { ':v': L() }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND'],
    ['DELETE of a number', bad('DELETE a :n', n), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND'],
    ['one path twice', bad('SET a = :v, a = :v', v), VALIDATION, overlap('[a]', '[a]')],
    ['one path in two clauses', bad('SET a = :v REMOVE a', v), VALIDATION, overlap('[a]', '[a]')],
    ['a path inside another', bad('SET m = :v, m.a = :v', v), VALIDATION, overlap('[m]', '[m, a]')],
    ['a list and a map', bad('SET m[0] = :v, m.a = :v', v), VALIDATION,
        INVALID + 'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, [0]], path two: [m, a]'],
    ['a value that is not defined', bad('SET a = :x', v), VALIDATION,
        INVALID + 'An expression attribute value used in expression is not defined; attribute value: :x'],
    ['a name that is not defined', bad('SET #x = :v', v), VALIDATION,
        INVALID + 'An expression attribute name used in the document path is not defined; attribute name: #x'],
    ['a value too many', bad('SET a = :v', { ...v, ...n }), VALIDATION, 'Value provided in ExpressionAttributeValues unused in expressions: keys: {:n}'],
    ['a name too many', bad('SET a = :v', v, { ExpressionAttributeNames: { '#x': 'x' } }), VALIDATION,
        'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}'],
    ['values without an expression', bad(undefined, v), VALIDATION,
        'ExpressionAttributeValues can only be specified when using expressions'],
    ['both styles', bad('SET a = :v', v, { AttributeUpdates: { a: { Value: S('x') } } }), VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributeUpdates} ' +
        'Expression parameters: {UpdateExpression}'],
    // What depends on the item.
    ['an attribute that is not there', bad('SET a = b'), VALIDATION, NO_ATTRIBUTE, { bare: true }],
    ['+ of an attribute that is not there', bad('SET a = b + :n', n), VALIDATION, NO_ATTRIBUTE, { bare: true }],
    ['list_append to nothing', bad('SET a = list_append(a, :l)', { ':l': L() }), VALIDATION, NO_ATTRIBUTE, { bare: true }],
    ['+ of a stored string', bad('SET a = s + :n', n), VALIDATION, TYPE, { bare: true }],
    ['list_append to a string', bad('SET s = list_append(s, :l)', { ':l': L() }), VALIDATION, TYPE, { bare: true }],
    ['ADD to a string', bad('ADD s :n', n), VALIDATION, TYPE, { bare: true }],
    ['ADD of a set to a number', bad('ADD n :v', { ':v': SS('x') }), VALIDATION, TYPE, { bare: true }],
    ['ADD of strings to numbers', bad('ADD ns :v', { ':v': SS('x') }), VALIDATION, TYPE, { bare: true }],
    ['DELETE from a number', bad('DELETE n :v', { ':v': SS('x') }), VALIDATION, TYPE, { bare: true }],
    ['DELETE of numbers from strings', bad('DELETE ss :v', { ':v': NS(1) }), VALIDATION, TYPE, { bare: true }],
    ['a path through nothing', bad('SET gone.a = :v', v), VALIDATION, PATH, { bare: true }],
    ['a path through a string', bad('SET s.a = :v', v), VALIDATION, PATH, { bare: true }],
    ['an index of a map', bad('SET m[0] = :v', v), VALIDATION, PATH, { bare: true }],
    ['a name in a list', bad('SET l.a = :v', v), VALIDATION, PATH, { bare: true }],
    ['an index of nothing', bad('SET gone[0] = :v', v), VALIDATION, PATH, { bare: true }],
    ['REMOVE through nothing', bad('REMOVE gone.a'), VALIDATION, PATH, { bare: true }],
    ['a sum above the range', bad('SET x = :a + :b', { ':a': N('9E125'), ':b': N('9E125') }), VALIDATION,
        'Number overflow. Attempting to store a number with magnitude larger than supported range', { bare: true }],
    // Keys.
    ['the partition key', bad('SET pk = :v', v), VALIDATION, PARAMETER + 'Cannot update attribute pk. This attribute is part of the key', { bare: true }],
    ['the sort key', bad('REMOVE sk'), VALIDATION, PARAMETER + 'Cannot update attribute sk. This attribute is part of the key', { bare: true }],
    ['ADD to the sort key', bad('ADD sk :n', n), VALIDATION, PARAMETER + 'Cannot update attribute sk. This attribute is part of the key', { bare: true }],
    ['inside an index key', bad('SET ia.x = :v', v), VALIDATION,
        'Key attributes must be scalars; list random access \'[]\' and map lookup \'.\' are not allowed: IndexKey: ia', { bare: true, real: true }],
    ['an index key of another type', bad('SET ia = :n', n), VALIDATION,
        PARAMETER + 'Type mismatch for Index Key ia Expected: S Actual: N IndexName: byA', { bare: true }],
    ['an empty index key', bad('SET ia = :e', { ':e': S('') }), VALIDATION,
        'One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. ' +
        'The AttributeValue for a key attribute cannot contain an empty string value.', { bare: true }],
    ['half a key', { TableName: table, Key: { pk: S('p') }, UpdateExpression: 'REMOVE a' }, VALIDATION, 'The provided key element does not match the schema', { bare: true }],
    ['a key of another type', { TableName: table, Key: { pk: N(1), sk: S('x') }, UpdateExpression: 'REMOVE a' }, VALIDATION,
        'The provided key element does not match the schema', { bare: true }],
    ['no key', { TableName: table, UpdateExpression: 'REMOVE a' }, VALIDATION,
        "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null", { bare: true, real: true }],
    ['an unknown ReturnValues', bad('REMOVE a', undefined, { ReturnValues: 'X' }), VALIDATION,
        'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]', { real: true }],
    ['a table that is not there', { ...bad('REMOVE a'), TableName: 'js-no-such-table' }, NOT_FOUND, 'Requested resource not found'],
    // Sizes.
    ['an item that grows too big', () => bad('SET a = :v', { ':v': S('x'.repeat(409600)) }), VALIDATION, 'Item size to update has exceeded the maximum allowed size', { bare: true }],
    ['4097 bytes', () => bad('REMOVE a' + ' '.repeat(4089)), VALIDATION, /^Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;/],
]);

test('a number keeps 38 digits in arithmetic, or it is refused', async () => {
    const target = freshKey();
    const { Attributes } = await update(target, 'SET a = :a + :b', {
        ':a': N('99999999999999999999999999999999999998'), ':b': N(1),
    }, { ReturnValues: 'ALL_NEW' });
    assert.equal(Attributes.a.N, '99999999999999999999999999999999999999');
    const binary = B([1]);
    same((await update(target, 'SET a = :b', { ':b': binary }, { ReturnValues: 'UPDATED_NEW' })).Attributes, { a: binary });
});
