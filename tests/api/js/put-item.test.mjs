// PutItem, and with it the rules of values: types, numbers, keys, sizes.
import { test } from 'node:test';
import {
    assert, B, BOOL, BS, CONDITION, ENVELOPE, errorCases, fails, get, INVALID, L, M, makeTable, N, NOT_FOUND, NS, NULL, put,
    raw, REAL, S, same, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable();
const ranged = await makeTable({ key: ['pk', 'sk'] });
const numeric = await makeTable({ key: ['pk:N', 'sk:B'] });
const indexed = await makeTable({ key: ['pk', 'sk'], gsi: { byA: ['a', 'n:N'] }, lsi: { byB: ['pk', 'b:B'] } });

// ---- Types --------------------------------------------------------------------

const VALUES = [
    ['a string', S('hello')],
    ['an empty string', S('')],
    ['a string of many planes', S('ß∂\u{1f9ff}\u0000')],
    ['binary', B([0, 1, 255])],
    ['empty binary', B([])],
    ['true', BOOL(true)],
    ['false', BOOL(false)],
    ['null', NULL],
    ['a string set', SS('b', 'a', '')],
    ['a number set', NS(3, -1, '2.5')],
    ['a binary set', BS('b', 'a', '')],
    ['a list', L(S('a'), N(1), L(), M({}), NULL)],
    ['an empty list', L()],
    ['a map', M({ a: S('x'), b: M({ c: L(N(1)) }) })],
    ['an empty map', M({})],
    ['a name with dots and spaces', M({ 'a.b[0] c#': N(1) })],
];
for (const [title, value] of VALUES) {
    test('round trip: ' + title, async () => {
        await put(table, { pk: S('trip ' + title), value });
        same(await get(table, { pk: S('trip ' + title) }), { pk: S('trip ' + title), value });
    });
}

test('sets come back in order: text and bytes bytewise, numbers by value', REAL, async () => {
    const item = { pk: S('order of sets'), ss: SS('b', 'é', '', 'a', 'B'), ns: NS(10, 9, -1, '0.5', -20), bs: BS('z', 'aa', '', 'a') };
    await put(table, item);
    const stored = await get(table, { pk: S('order of sets') });
    assert.deepEqual(stored.ss.SS, ['', 'B', 'a', 'b', 'é']);
    assert.deepEqual(stored.ns.NS, ['-20', '-1', '0.5', '9', '10']);
    assert.deepEqual(stored.bs.BS.map((b) => Buffer.from(b).toString()), ['', 'a', 'aa', 'z']);
});

// ---- Numbers --------------------------------------------------------------------

const NUMBERS = [
    ['0', '0'], ['-0', '0'], ['0.0', '0'], ['00012', '12'], ['+5', '5'], ['1.0', '1'], ['3.1400', '3.14'],
    ['-1.50', '-1.5'], ['.5', '0.5'], ['5.', '5'], ['1e2', '100'], ['1.5E2', '150'], ['12E-3', '0.012'], ['1e-5', '0.00001'],
    ['1E20', '1' + '0'.repeat(20)],
    ['1E125', '1' + '0'.repeat(125)],
    ['1E-130', '0.' + '0'.repeat(129) + '1'],
    ['9.9999999999999999999999999999999999999E+125', '9'.repeat(38) + '0'.repeat(88)],
    ['-9.9999999999999999999999999999999999999E+125', '-' + '9'.repeat(38) + '0'.repeat(88)],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
    ['0.12345678901234567890123456789012345678', '0.12345678901234567890123456789012345678'],
    ['1' + '0'.repeat(60), '1' + '0'.repeat(60)],
    ['0.' + '0'.repeat(100) + '1', '0.' + '0'.repeat(100) + '1'],
    ['0E125', '0'],
];
for (const [given, stored] of NUMBERS) {
    test(`number ${given.slice(0, 50)}`, given === '0E125' ? REAL : {}, async () => {
        await put(table, { pk: S('number'), n: N(given) });
        assert.equal((await get(table, { pk: S('number') })).n.N, stored);
    });
}

const OVERFLOW = 'Number overflow. Attempting to store a number with magnitude larger than supported range';
const UNDERFLOW = 'Number underflow. Attempting to store a number with magnitude smaller than supported range';
const DIGITS = 'Attempting to store more than 38 significant digits in a Number';
const BAD_NUMBERS = [
    ['1E126', OVERFLOW], ['-1E126', OVERFLOW], ['1E1000', OVERFLOW], ['9'.repeat(38) + 'E100', OVERFLOW],
    ['1E-131', UNDERFLOW], ['-1E-131', UNDERFLOW],
    ['123456789012345678901234567890123456789', DIGITS],
    ['0.123456789012345678901234567890123456789', DIGITS],
    ['1.00000000000000000000000000000000000001E10', DIGITS],
    ...['abc', '1a', '1 2', '0x10', 'NaN', 'Infinity', '1e', '--1', '1.2.3', ',1'].map((text) => [
        text, 'The parameter cannot be converted to a numeric value: ' + text,
    ]),
    ['', 'The parameter cannot be converted to a numeric value: '],
    ['0E126', OVERFLOW], ['0E-131', UNDERFLOW],
];
errorCases('PutItem', BAD_NUMBERS.map(([text, message]) => [
    `the number '${text.slice(0, 45)}'`, () => ({ TableName: table, Item: { pk: S('x'), n: N(text) } }), VALIDATION, message,
]));

test('set members of equal value are duplicates, however written', async () => {
    await fails(put(table, { pk: S('x'), n: NS('1', '1.0') }), VALIDATION, ENVELOPE + INVALID + 'Input collection contains duplicates.');
});

test('numbers are keys by value', async () => {
    await put(numeric, { pk: N('1.0'), sk: B('a'), v: S('first') });
    await put(numeric, { pk: N('1'), sk: B('a'), v: S('second') });
    same(await get(numeric, { pk: N('10E-1'), sk: B('a') }), { pk: N(1), sk: B('a'), v: S('second') });
});

// ---- Replacing, conditions, ReturnValues ----------------------------------------

test('a put replaces the whole item', async () => {
    const key = { pk: S('replace') };
    const first = await put(table, { ...key, a: N(1), b: N(2) });
    assert.equal(first.Attributes, undefined);
    await put(table, { ...key, c: N(3) });
    same(await get(table, key), { ...key, c: N(3) });
});

test('ReturnValues ALL_OLD gives the item that was there, if any', async () => {
    const key = { pk: S('old') };
    const first = await put(table, { ...key, a: N(1) }, { ReturnValues: 'ALL_OLD' });
    assert.equal(first.Attributes, undefined);
    const second = await put(table, { ...key, a: N(2) }, { ReturnValues: 'ALL_OLD' });
    same(second.Attributes, { ...key, a: N(1) });
    const third = await put(table, { ...key, a: N(3) }, { ReturnValues: 'NONE' });
    assert.equal(third.Attributes, undefined);
});

test('a condition guards the put; the old item comes with the error on ALL_OLD', async () => {
    const key = { pk: S('guarded') };
    const condition = { ConditionExpression: 'attribute_not_exists(pk)' };
    await put(table, { ...key, a: N(1) }, condition);
    const error = await fails(put(table, { ...key, a: N(2) }, condition), CONDITION, 'The conditional request failed');
    assert.equal(error.Item, undefined);
    const withItem = await fails(
        put(table, { ...key, a: N(2) }, { ...condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        CONDITION,
        'The conditional request failed',
    );
    same(withItem.Item, { ...key, a: N(1) });
    same(await get(table, key), { ...key, a: N(1) });
});

test('a failed condition on an item that is not there has no Item', async () => {
    const error = await fails(
        put(table, { pk: S('absent') }, {
            ConditionExpression: 'attribute_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
        CONDITION,
    );
    assert.equal(error.Item, undefined);
});

test('the raw answer of a put is an empty object', async () => {
    const answer = await raw('PutItem', { TableName: table, Item: { pk: { S: 'raw' } } });
    assert.equal(answer.body.toString(), '{}');
});

test('composite keys do not collide', async () => {
    for (const [pk, sk] of [['A#', 'B'], ['A', '#B'], ['A#B', 'x'], ['A', 'B'], ['AB', 'x'], ['A\u0000', 'B'], ['A', '\u0000B']]) {
        await put(ranged, { pk: S(pk), sk: S(sk), is: S(`${pk}|${sk}`) });
    }
    for (const [pk, sk] of [['A#', 'B'], ['A', '#B'], ['A\u0000', 'B'], ['A', '\u0000B']]) {
        assert.equal((await get(ranged, { pk: S(pk), sk: S(sk) })).is.S, `${pk}|${sk}`);
    }
});

// ---- Sizes ------------------------------------------------------------------------

const TOO_BIG = 'Item size has exceeded the maximum allowed size';
// { pk: 'sized', value: … } is 2 + 5 + 5 bytes and the value's own.
const SIZED = [
    ['a string', (n) => S('x'.repeat(n)), 0],
    ['binary', (n) => B(Buffer.alloc(n)), 0],
    ['a string of two-byte characters', (n) => S('é'.repeat(n / 2)), 0],
    ['a list', (n) => L(S('x'.repeat(n))), 4],
    ['a map', (n) => M({ ab: S('x'.repeat(n)) }), 6],
    ['a list of two', (n) => L(S('x'.repeat(n)), BOOL(true)), 6],
    ['a string set', (n) => SS('x'.repeat(n), 'ab'), 2],
];
for (const [title, make, overhead] of SIZED) {
    test('409,600 bytes are taken and one more is not: ' + title, async () => {
        const room = 409600 - 12 - overhead;
        await put(table, { pk: S('sized'), value: make(room) });
        const over = title.includes('two-byte') ? make(room + 2) : make(room + 1);
        await fails(put(table, { pk: S('sized'), value: over }), VALIDATION, TOO_BIG);
    });
}

// Bytes of numbers: a byte, one per two digits on each side of the point, one for a minus.
for (const [number, bytes] of [['1', 2], ['12', 2], ['123', 3], ['100', 2], ['-1', 3], ['3.14', 3], ['3.14159', 5], ['123456', 4], ['1E125', 2]]) {
    test(`the number ${number} takes ${bytes} bytes`, REAL, async () => {
        const room = 409600 - 12 - 1 - bytes;
        await put(table, { pk: S('sized'), value: S('x'.repeat(room)), n: N(number) });
        await fails(put(table, { pk: S('sized'), value: S('x'.repeat(room + 1)), n: N(number) }), VALIDATION, TOO_BIG);
    });
}

test('key sizes: 2048 and 1024 bytes', async () => {
    const item = { pk: S('p'.repeat(2048)), sk: S('s'.repeat(1024)) };
    await put(ranged, item);
    same(await get(ranged, item), item);
});

function nested(depth) {
    let value = S('bottom');
    for (let i = 0; i < depth; i++) value = i % 2 ? M({ a: value }) : L(value);
    return value;
}
test('nesting of 32 levels, the innermost value counted', async () => {
    await put(table, { pk: S('deep'), value: nested(31) });
    same(await get(table, { pk: S('deep') }), { pk: S('deep'), value: nested(31) });
    await fails(put(table, { pk: S('deep'), value: nested(32) }), VALIDATION, /Nesting Levels have exceeded supported limits/);
});

// ---- Errors -------------------------------------------------------------------------

const EMPTY = 'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ';
const one = '1 validation error detected: ';
const item = (rest) => ({ TableName: table, Item: { pk: S('x'), ...rest } });

errorCases('PutItem', [
    // Values.
    ['no type', item({ a: {} }), VALIDATION, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes', { raw: true }],
    ['two types', item({ a: { S: 'a', N: '1' } }), VALIDATION,
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes', { raw: true }],
    ['an unknown type', item({ a: { X: 'a' } }), VALIDATION,
        'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes', { raw: true }],
    ['NULL that is false', item({ a: { NULL: false } }), VALIDATION,
        INVALID + 'Null attribute value types must have the value of true', { raw: true }],
    ['an empty string set', item({ a: SS() }), VALIDATION, INVALID + 'An string set  may not be empty'],
    ['an empty number set', item({ a: NS() }), VALIDATION, INVALID + 'An number set  may not be empty'],
    ['an empty binary set', item({ a: { BS: [] } }), VALIDATION, INVALID + 'Binary sets should not be empty'],
    ['an empty set inside a list', item({ a: L(SS()) }), VALIDATION, INVALID + 'An string set  may not be empty'],
    ['a string twice in a set', item({ a: SS('a', 'b', 'a') }), VALIDATION, INVALID + 'Input collection ["a", "a"] contains duplicates.'],
    ['a number twice in a set', item({ a: NS(1, 2, 1) }), VALIDATION, INVALID + 'Input collection contains duplicates.'],
    ['bytes twice in a set', item({ a: { BS: ['Yg==', 'Yg=='] } }), VALIDATION,
        INVALID + 'Input collection ["Yg==","Yg=="]of type BS contains duplicates.', { raw: true, real: true }],
    ['bytes twice in a set (any text)', item({ a: BS('b', 'b') }), VALIDATION, /^One or more parameter values were invalid: Input collection .*of type BS contains duplicates\.$/],
    ['a number that is no number', item({ a: N('x') }), VALIDATION, 'The parameter cannot be converted to a numeric value: x'],
    ['a member of a set that is no number', item({ a: NS(1, 'x') }), VALIDATION, 'The parameter cannot be converted to a numeric value: x'],
    // Keys.
    ['no key', { TableName: table, Item: { a: S('x') } }, VALIDATION, INVALID + 'Missing the key pk in the item', { bare: true }],
    ['no sort key', { TableName: ranged, Item: { pk: S('x') } }, VALIDATION, INVALID + 'Missing the key sk in the item', { bare: true }],
    ['an empty item', { TableName: table, Item: {} }, VALIDATION, INVALID + 'Missing the key pk in the item', { bare: true }],
    ['a key of another type', { TableName: table, Item: { pk: N(1) } }, VALIDATION, INVALID + 'Type mismatch for key pk expected: S actual: N', { bare: true }],
    ['a sort key of another type', { TableName: ranged, Item: { pk: S('x'), sk: B('x') } }, VALIDATION, INVALID + 'Type mismatch for key sk expected: S actual: B', { bare: true }],
    ['a key that is a list', { TableName: table, Item: { pk: L(S('x')) } }, VALIDATION, INVALID + 'Type mismatch for key pk expected: S actual: L', { bare: true }],
    ['a key that is a null', { TableName: table, Item: { pk: NULL } }, VALIDATION, INVALID + 'Type mismatch for key pk expected: S actual: NULL', { bare: true }],
    ['a key that is a boolean', { TableName: table, Item: { pk: BOOL(true) } }, VALIDATION, INVALID + 'Type mismatch for key pk expected: S actual: BOOL', { bare: true }],
    ['a key that is a set', { TableName: table, Item: { pk: SS('a') } }, VALIDATION, INVALID + 'Type mismatch for key pk expected: S actual: SS', { bare: true }],
    ['an empty key', { TableName: table, Item: { pk: S('') } }, VALIDATION, EMPTY + 'string value. Key: pk', { bare: true }],
    ['an empty sort key', { TableName: ranged, Item: { pk: S('x'), sk: S('') } }, VALIDATION, EMPTY + 'string value. Key: sk', { bare: true }],
    ['an empty binary key', { TableName: numeric, Item: { pk: N(1), sk: B('') } }, VALIDATION, EMPTY + 'binary value. Key: sk', { bare: true }],
    ['a partition key of 2049 bytes', { TableName: table, Item: { pk: S('x'.repeat(2049)) } }, VALIDATION,
        INVALID + 'Size of hashkey has exceeded the maximum size limit of2048 bytes', { bare: true }],
    ['a sort key of 1025 bytes', { TableName: ranged, Item: { pk: S('x'), sk: S('x'.repeat(1025)) } }, VALIDATION,
        INVALID + 'Aggregated size of all range keys has exceeded the size limit of 1024 bytes', { bare: true }],
    // Index keys.
    ['an index key of another type', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), a: N(1) } }, VALIDATION,
        INVALID + 'Type mismatch for Index Key a Expected: S Actual: N IndexName: byA', { bare: true }],
    ['an index key that is a map', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), b: M({}) } }, VALIDATION,
        INVALID + 'Type mismatch for Index Key b Expected: B Actual: M IndexName: byB', { bare: true }],
    ['an empty index key', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), a: S(''), n: N(1) } }, VALIDATION,
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        'The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byA, IndexKey: a', { bare: true }],
    ['an empty index key of an index the item is not in', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), a: S('') } }, VALIDATION,
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        'The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byA, IndexKey: a', { bare: true }],
    ['an index key of 2049 bytes', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), a: S('x'.repeat(2049)), n: N(1) } }, VALIDATION,
        /^One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of ?2048 bytes/, { bare: true }],
    ['a local index key of 1025 bytes', { TableName: indexed, Item: { pk: S('x'), sk: S('y'), b: B('x'.repeat(1025)) } }, VALIDATION,
        /^One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes/, { bare: true }],
    // The request.
    ['no table', { Item: { pk: S('x') } }, VALIDATION, one + "Value null at 'tableName' failed to satisfy constraint: Member must not be null", { real: true }],
    ['an empty table name', { TableName: '', Item: { pk: S('x') } }, VALIDATION,
        "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1", { real: true }],
    ['a table name with other characters', { TableName: 'bad table!@#', Item: { pk: S('x') } }, VALIDATION,
        "Value at 'TableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", { real: true }],
    ['a long table name', { TableName: 'a'.repeat(256), Item: { pk: S('x') } }, VALIDATION,
        "Value at 'TableName' failed to satisfy constraint: Member must have length less than or equal to 255", { real: true }],
    ['no item', { TableName: table }, VALIDATION, one + "Value null at 'item' failed to satisfy constraint: Member must not be null", { real: true }],
    ['neither', {}, VALIDATION, /^2 validation errors detected: .*'(tableName|item)'.*Member must not be null; .*'(tableName|item)'.*Member must not be null$/, { real: true, bare: true }],
    ['a table that is not there', { TableName: 'js-no-such-table', Item: { pk: S('x') } }, NOT_FOUND, 'Requested resource not found', { real: true }],
    ['a table that is not there (any text)', { TableName: 'js-no-such-table', Item: { pk: S('x') } }, NOT_FOUND],
    ['an unknown ReturnValues', { ...item(), ReturnValues: 'SOME' }, VALIDATION,
        'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]', { real: true }],
    ['three bad enums', { ...item(), ReturnValues: 'A', ReturnConsumedCapacity: 'B', ReturnItemCollectionMetrics: 'C' }, VALIDATION,
        /^3 validation errors detected: /, { real: true, bare: true }],
    ['ReturnValues of an update', { ...item(), ReturnValues: 'ALL_NEW' }, VALIDATION, 'ReturnValues can only be ALL_OLD or NONE'],
    ['ReturnValues UPDATED_OLD', { ...item(), ReturnValues: 'UPDATED_OLD' }, VALIDATION, 'ReturnValues can only be ALL_OLD or NONE'],
    ['an unknown ReturnConsumedCapacity', { ...item(), ReturnConsumedCapacity: 'SOME' }, VALIDATION,
        one + "Value 'SOME' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]", { real: true }],
    ['an unknown ReturnItemCollectionMetrics', { ...item(), ReturnItemCollectionMetrics: 'SOME' }, VALIDATION,
        one + "Value 'SOME' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]", { real: true }],
    // The order of checks: values before the table, expressions before keys.
    ['a bad value for a table that is not there', { TableName: 'js-no-such-table', Item: { pk: N('x') } }, VALIDATION,
        'The parameter cannot be converted to a numeric value: x', { real: true }],
    ['a bad expression for a table that is not there', { TableName: 'js-no-such-table', Item: { pk: S('x') }, ConditionExpression: 'a =' }, VALIDATION,
        /^Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="$/, { real: true }],
    ['a bad index key where the condition fails, too', {
        TableName: indexed, Item: { pk: S('order'), sk: S('y'), a: N(1) }, ConditionExpression: 'attribute_exists(pk)',
    }, VALIDATION, INVALID + 'Type mismatch for Index Key a Expected: S Actual: N IndexName: byA', { bare: true }],
    // Shapes the SDK would not send.
    ['a string for a map', { TableName: table, Item: 'x' }, 'SerializationException', /.*/, { raw: true, real: true }],
    ['a number where a string must be', { TableName: table, Item: { pk: { S: 5 } } }, 'SerializationException', 'NUMBER_VALUE cannot be converted to String', { raw: true, real: true }],
    ['a JSON number for N', { TableName: table, Item: { pk: { S: 'x' }, n: { N: 5 } } }, 'SerializationException', 'NUMBER_VALUE cannot be converted to String', { raw: true, real: true }],
    ['a string for a set', { TableName: table, Item: { pk: { S: 'x' }, n: { SS: 'x' } } }, 'SerializationException', /.*/, { raw: true, real: true }],
    ['a boolean where a string must be', { TableName: table, Item: { pk: { S: true } } }, 'SerializationException', 'TRUE_VALUE cannot be converted to String', { raw: true, real: true }],
    ['a string where a boolean must be', { TableName: table, Item: { pk: { S: 'x' }, a: { BOOL: 'maybe' } } }, 'SerializationException', 'Unexpected token received from parser', { raw: true, real: true }],
    ['bad base64', { TableName: table, Item: { pk: { S: 'x' }, a: { B: 'x' } } }, 'SerializationException',
        'Base64 encoded length is expected a multiple of 4 bytes but found: 1', { raw: true, real: true }],
    ['a map where a list must be', { TableName: table, Item: { pk: { S: 'x' }, a: { L: {} } } }, 'SerializationException',
        'Start of structure or map found where not expected', { raw: true, real: true }],
    ['a list where a map must be', { TableName: table, Item: { pk: { S: 'x' }, a: { M: [] } } }, 'SerializationException', /.*/, { raw: true, real: true }],
    ['a table name that is a number', { TableName: 5, Item: {} }, 'SerializationException', 'NUMBER_VALUE cannot be converted to String', { raw: true, real: true }],
]);

test('an item that failed is not there', async () => {
    await fails(put(indexed, { pk: S('never'), sk: S('x'), a: N(1) }), VALIDATION);
    assert.equal(await get(indexed, { pk: S('never'), sk: S('x') }), undefined);
});

test('a name above 64 KB is refused', REAL, async () => {
    await put(table, { pk: S('long name'), ['n'.repeat(65535)]: S('x') });
    await fails(put(table, { pk: S('long name'), ['n'.repeat(65536)]: S('x') }), VALIDATION, /Attribute name is too large, must be less than 65536/);
});

test('duplicate names in an item: the last one counts, or it is refused', async () => {
    const answer = await raw('PutItem', `{"TableName":"${table}","Item":{"pk":{"S":"dup"},"a":{"S":"1"},"a":{"S":"2"}}}`);
    assert.ok(answer.status === 200 || answer.error === 'SerializationException');
});
