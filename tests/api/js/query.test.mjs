// Query on a table: key conditions, order, filter, Select, errors. Indexes and paging have their own files.
import { test } from 'node:test';
import { assert, B, call, errorCases, makeTable, N, NOT_FOUND, put, putAll, raw, S, same, VALIDATION } from './lib.mjs';

const table = await makeTable({ key: ['pk', 'sk'], gsi: { byA: ['a', 'n:N'] }, lsi: { byN: { key: ['pk', 'n:N'], projection: ['x'] } } });
const numbers = await makeTable({ key: ['pk', 'sk:N'] });
const binary = await makeTable({ key: ['pk', 'sk:B'] });
const simple = await makeTable();

const words = ['a', 'aa', 'ab', 'b', 'ba', 'c#1', 'c#2', 'c$', 'd'];
await putAll(table, words.map((w, i) => ({ pk: S('p'), sk: S(w), n: N(i), a: S(i % 2 ? 'odd' : 'even'), x: S('x' + i), y: S('y') })));
await put(table, { pk: S('q'), sk: S('a'), n: N(99) });
const values = ['-1E125', '-100', '-99.5', '-1', '-0.001', '0', '1E-130', '0.5', '1', '9', '10', '100', '1E125'];
await putAll(numbers, values.map((v) => ({ pk: S('p'), sk: N(v) })));
await putAll(binary, [[0], [0, 0], [0, 1], [1], [127], [128], [255], [255, 0]].map((bytes) => ({ pk: S('p'), sk: B(bytes) })));
await putAll(simple, [{ pk: S('one'), v: N(1) }, { pk: S('two'), v: N(2) }]);

const query = (KeyConditionExpression, more, rest = {}) =>
    call('Query', {
        TableName: table,
        KeyConditionExpression,
        ExpressionAttributeValues: { ':p': S('p'), ...more },
        ...rest,
    });
const keys = ({ Items }) => Items.map((item) => item.sk.S);

const CASES = [
    ['pk = :p', {}, words],
    ['pk = :p AND sk = :v', { ':v': S('b') }, ['b']],
    ['sk = :v AND pk = :p', { ':v': S('b') }, ['b']],
    ['pk = :p and sk < :v', { ':v': S('b') }, ['a', 'aa', 'ab']],
    ['pk = :p AND sk <= :v', { ':v': S('b') }, ['a', 'aa', 'ab', 'b']],
    ['pk = :p AND sk > :v', { ':v': S('c#1') }, ['c#2', 'c$', 'd']],
    ['pk = :p AND sk >= :v', { ':v': S('c#1') }, ['c#1', 'c#2', 'c$', 'd']],
    ['pk = :p AND :v <= sk', { ':v': S('c$') }, ['c$', 'd']],
    [':p = pk AND :v > sk', { ':v': S('aa') }, ['a']],
    ['pk = :p AND sk BETWEEN :v AND :w', { ':v': S('aa'), ':w': S('b') }, ['aa', 'ab', 'b']],
    ['pk = :p AND sk BETWEEN :v AND :v', { ':v': S('aa') }, ['aa']],
    ['pk = :p AND begins_with(sk, :v)', { ':v': S('c#') }, ['c#1', 'c#2']],
    ['pk = :p AND begins_with(sk, :v)', { ':v': S('a') }, ['a', 'aa', 'ab']],
    ['begins_with(sk, :v) AND pk = :p', { ':v': S('zz') }, []],
    ['(pk = :p) AND (sk = :v)', { ':v': S('b') }, ['b']],
    ['(pk = :p AND sk = :v)', { ':v': S('b') }, ['b']],
    ['pk = :p AND sk = :v', { ':v': S('nothing') }, []],
];
for (const [expression, more, expected] of CASES) {
    test(`${expression} ${JSON.stringify(more)}`, async () => {
        const forward = await query(expression, more);
        assert.deepEqual(keys(forward), expected);
        assert.equal(forward.Count, expected.length);
        assert.equal(forward.ScannedCount, expected.length);
        assert.equal(forward.LastEvaluatedKey, undefined);
        const backward = await query(expression, more, { ScanIndexForward: false });
        assert.deepEqual(keys(backward), [...expected].reverse());
    });
}

test('names in key conditions', async () => {
    const answer = await query('#p = :p AND begins_with(#s, :v)', { ':v': S('c$') }, { ExpressionAttributeNames: { '#p': 'pk', '#s': 'sk' } });
    assert.deepEqual(keys(answer), ['c$']);
});

test('numbers are ordered by value', async () => {
    const all = await call('Query', { TableName: numbers, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p') } });
    assert.deepEqual(all.Items.map((i) => Number(i.sk.N)), values.map(Number));
    const some = await call('Query', {
        TableName: numbers,
        KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b',
        ExpressionAttributeValues: { ':p': S('p'), ':a': N('-1'), ':b': N('9.0') },
    });
    assert.deepEqual(some.Items.map((i) => Number(i.sk.N)), [-1, -0.001, 0, 1e-130, 0.5, 1, 9]);
});

test('bytes are ordered unsigned', async () => {
    const all = await call('Query', { TableName: binary, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('p') } });
    assert.deepEqual(all.Items.map((i) => [...i.sk.B]), [[0], [0, 0], [0, 1], [1], [127], [128], [255], [255, 0]]);
    const prefixed = await call('Query', {
        TableName: binary,
        KeyConditionExpression: 'pk = :p AND begins_with(sk, :b)',
        ExpressionAttributeValues: { ':p': S('p'), ':b': B([255]) },
    });
    assert.equal(prefixed.Count, 2);
});

test('strings are ordered by their UTF-8 bytes', async () => {
    const texts = ['Z', 'a', 'z', 'é', '\uffff', '\u{10000}'];
    await putAll(table, texts.map((t) => ({ pk: S('utf8'), sk: S(t) })));
    const { Items } = await query('pk = :p', { ':p': S('utf8') });
    assert.deepEqual(Items.map((i) => i.sk.S), texts);
});

test('a table without a sort key', async () => {
    const { Items } = await call('Query', { TableName: simple, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('two') } });
    same(Items, [{ pk: S('two'), v: N(2) }]);
});

test('a filter, and what Limit means with it', async () => {
    const filter = { FilterExpression: 'n >= :n' };
    const all = await query('pk = :p', { ':n': N(5) }, filter);
    assert.equal(all.Count, 4);
    assert.equal(all.ScannedCount, 9);
    const page = await query('pk = :p', { ':n': N(5) }, { ...filter, Limit: 3 });
    assert.equal(page.Count, 0);
    assert.equal(page.ScannedCount, 3);
    same(page.LastEvaluatedKey, { pk: S('p'), sk: S('ab') });
});

test('a projection', async () => {
    const { Items } = await query('pk = :p AND sk = :v', { ':v': S('a') }, { ProjectionExpression: 'sk, x' });
    same(Items, [{ sk: S('a'), x: S('x0') }]);
});

test('Select', async () => {
    const count = await raw('Query', {
        TableName: table, Select: 'COUNT', KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } },
    });
    assert.deepEqual(count.json, { Count: 9, ScannedCount: 9 });
    const all = await query('pk = :p AND sk = :v', { ':v': S('a') }, { Select: 'ALL_ATTRIBUTES' });
    assert.equal(Object.keys(all.Items[0]).length, 6);
    const specific = await query('pk = :p AND sk = :v', { ':v': S('a') }, { Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression: 'x' });
    same(specific.Items, [{ x: S('x0') }]);
    const index = await query('pk = :p AND n = :n', { ':n': N(3) }, { IndexName: 'byN', Select: 'ALL_PROJECTED_ATTRIBUTES' });
    same(index.Items, [{ pk: S('p'), sk: S('b'), n: N(3), x: S('x3') }]);
    const fetched = await query('pk = :p AND n = :n', { ':n': N(3) }, { IndexName: 'byN', Select: 'ALL_ATTRIBUTES' });
    same(fetched.Items, [{ pk: S('p'), sk: S('b'), n: N(3), x: S('x3'), y: S('y'), a: S('odd') }]);
    const other = await query('pk = :p AND n = :n', { ':n': N(3) }, { IndexName: 'byN', ProjectionExpression: 'y, x' });
    same(other.Items, [{ x: S('x3'), y: S('y') }]);
});

test('consistent reads on a table and a local index', async () => {
    assert.equal((await query('pk = :p', {}, { ConsistentRead: true })).Count, 9);
    assert.equal((await query('pk = :p', {}, { ConsistentRead: true, IndexName: 'byN' })).Count, 9);
});

// ---- Errors ---------------------------------------------------------------------

const INVALID = 'Invalid KeyConditionExpression: ';
const p = { ':p': S('p') };
const v = { ...p, ':v': S('x') };
const bad = (KeyConditionExpression, ExpressionAttributeValues = p, rest = {}) => ({
    TableName: table, KeyConditionExpression, ExpressionAttributeValues, ...rest,
});
const one = '1 validation error detected: ';

errorCases('Query', [
    ['no condition', { TableName: table }, VALIDATION, 'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.'],
    ['an empty condition', { TableName: table, KeyConditionExpression: '' }, VALIDATION, INVALID + 'The expression can not be empty;'],
    ['no partition key', bad('sk = :p'), VALIDATION, 'Query condition missed key schema element: pk'],
    ['another attribute', bad('x = :p'), VALIDATION, 'Query condition missed key schema element: pk'],
    ['another attribute too', bad('pk = :p AND x = :v', v), VALIDATION, 'Query condition missed key schema element: sk'],
    ['a partition key by <', bad('pk < :p'), VALIDATION, 'Query key condition not supported'],
    ['a partition key by begins_with', bad('begins_with(pk, :p)'), VALIDATION, 'Query key condition not supported'],
    ['a partition key by BETWEEN', bad('pk BETWEEN :p AND :v', v), VALIDATION, 'Query key condition not supported'],
    ['OR', bad('pk = :p OR sk = :v', v), VALIDATION, 'Invalid operator used in KeyConditionExpression: OR'],
    ['NOT', bad('pk = :p AND NOT sk = :v', v), VALIDATION, /Invalid operator used in KeyConditionExpression: NOT/],
    ['<>', bad('pk = :p AND sk <> :v', v), VALIDATION, /Invalid operator used in KeyConditionExpression: <>/],
    ['IN', bad('pk = :p AND sk IN (:v)', v), VALIDATION, /Invalid operator used in KeyConditionExpression: IN/],
    ['contains', bad('pk = :p AND contains(sk, :v)', v), VALIDATION, /Invalid operator used in KeyConditionExpression: contains/],
    ['attribute_exists', bad('pk = :p AND attribute_exists(sk)'), VALIDATION, /Invalid operator used in KeyConditionExpression: attribute_exists/],
    ['size', bad('pk = :p AND size(sk) = :v', v), VALIDATION, /KeyConditionExpressions cannot contain nested operations/],
    ['two conditions on one key', bad('pk = :p AND sk > :v AND sk < :w', { ...v, ':w': S('z') }), VALIDATION,
        /KeyConditionExpressions must only contain one condition per key/],
    ['the partition key twice', bad('pk = :p AND pk = :v', v), VALIDATION, /KeyConditionExpressions must only contain one condition per key/],
    ['a path into a key', bad('pk = :p AND sk.x = :v', v), VALIDATION, /KeyConditionExpressions cannot have conditions on nested attributes/],
    ['two attributes', bad('pk = :p AND sk = x'), VALIDATION, /Multiple attribute names used in one condition/],
    ['no attribute', bad(':p = :v', v), VALIDATION, /No key attribute specified/],
    ['a value as the first operand of begins_with', bad('pk = :p AND begins_with(:v, sk)', v), VALIDATION,
        /begins_with operator must have the key attribute as its first operand/],
    ['three conditions', bad('pk = :p AND sk = :v AND x = :w', { ...v, ':w': S('z') }), VALIDATION, 'The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)'],
    ['another type of sort key', bad('pk = :p AND sk = :n', { ...p, ':n': N(1) }), VALIDATION,
        'One or more parameter values were invalid: Condition parameter type does not match schema type'],
    ['another type of partition key', bad('pk = :n', { ':n': N(1) }), VALIDATION,
        'One or more parameter values were invalid: Condition parameter type does not match schema type'],
    ['an empty partition key', bad('pk = :p', { ':p': S('') }), VALIDATION,
        /^One or more parameter values (are not valid\.|were invalid:) The AttributeValue for a key attribute cannot contain an empty string value\. Key: pk$/],
    ['BETWEEN turned around', bad('pk = :p AND sk BETWEEN :v AND :w', { ...p, ':v': S('b'), ':w': S('a') }), VALIDATION,
        INVALID + 'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ' +
        'lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}'],
    ['begins_with of a number', { ...bad('pk = :p AND begins_with(sk, :n)', { ...p, ':n': N(1) }), TableName: numbers }, VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N'],
    ['a syntax error', bad('pk = :p AND'), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: "AND"'],
    ['a reserved word', bad('pk = :p AND name = :p'), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['a value that is not defined', bad('pk = :x'), VALIDATION,
        INVALID + 'An expression attribute value used in expression is not defined; attribute value: :x'],
    ['a value too many', bad('pk = :p', v), VALIDATION, 'Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}'],
    ['a name too many', bad('pk = :p', p, { ExpressionAttributeNames: { '#x': 'x' } }), VALIDATION,
        'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}'],
    ['a filter on a key', bad('pk = :p', v, { FilterExpression: 'sk = :v' }), VALIDATION,
        'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk'],
    ['a filter on the partition key', bad('pk = :p', v, { FilterExpression: 'x = :v AND pk <> :v' }), VALIDATION,
        'Filter Expression can only contain non-primary key attributes: Primary key attribute: pk'],
    ['a bad filter', bad('pk = :p', p, { FilterExpression: 'a ==' }), VALIDATION, /^Invalid FilterExpression: Syntax error; /],
    ['an empty filter', bad('pk = :p', p, { FilterExpression: '' }), VALIDATION, 'Invalid FilterExpression: The expression can not be empty;'],
    ['a filter name that is not defined', bad('pk = :p', v, { FilterExpression: '#missing = :v' }), VALIDATION,
        'Invalid FilterExpression: An expression attribute name used in the document path is not defined; attribute name: #missing'],
    ['Select SPECIFIC_ATTRIBUTES alone', bad('pk = :p', p, { Select: 'SPECIFIC_ATTRIBUTES' }), VALIDATION,
        one + 'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES'],
    ['Select ALL_ATTRIBUTES with a projection', bad('pk = :p', p, { Select: 'ALL_ATTRIBUTES', ProjectionExpression: 'x' }), VALIDATION,
        'Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES'],
    ['Select COUNT with a projection', bad('pk = :p', p, { Select: 'COUNT', ProjectionExpression: 'x' }), VALIDATION,
        'Cannot specify the ProjectionExpression when choosing to get only the Count'],
    ['Select ALL_PROJECTED_ATTRIBUTES without an index', bad('pk = :p', p, { Select: 'ALL_PROJECTED_ATTRIBUTES' }), VALIDATION,
        'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName'],
    ['an unknown Select', bad('pk = :p', p, { Select: 'X' }), VALIDATION,
        one + "Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]", { real: true }],
    ['a limit of 0', bad('pk = :p', p, { Limit: 0 }), VALIDATION,
        "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1", { real: true }],
    ['a negative limit', bad('pk = :p', p, { Limit: -1 }), VALIDATION,
        "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1", { real: true }],
    ['an index that is not there', bad('pk = :p', p, { IndexName: 'none' }), VALIDATION, 'The table does not have the specified index: none'],
    ['a consistent read of a global index', bad('a = :p', p, { IndexName: 'byA', ConsistentRead: true }), VALIDATION,
        'Consistent reads are not supported on global secondary indexes'],
    ['the key of the table on an index', bad('pk = :p', p, { IndexName: 'byA' }), VALIDATION, 'Query condition missed key schema element: a'],
    ['a table that is not there', { ...bad('pk = :p'), TableName: 'js-no-such-table' }, NOT_FOUND, 'Requested resource not found'],
    ['both styles', bad('pk = :p', p, { QueryFilter: { x: { ComparisonOperator: 'NULL' } } }), VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {QueryFilter} ' +
        'Expression parameters: {KeyConditionExpression}'],
    ['both conditions', bad('pk = :p', p, { KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [S('p')] } } }), VALIDATION,
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {KeyConditions} ' +
        'Expression parameters: {KeyConditionExpression}'],
    // Start keys.
    ['a start key of too few attributes', bad('pk = :p', p, { ExclusiveStartKey: { pk: S('p') } }), VALIDATION,
        'The provided starting key is invalid'],
    ['a start key of another type', bad('pk = :p', p, { ExclusiveStartKey: { pk: S('p'), sk: N(1) } }), VALIDATION,
        'The provided key element does not match the schema'],
    ['a start key of another partition', bad('pk = :p', p, { ExclusiveStartKey: { pk: S('q'), sk: S('a') } }), VALIDATION,
        'The provided starting key is outside query boundaries based on provided conditions', { real: true }],
    ['a start key outside of the condition', bad('pk = :p AND sk > :v', { ...p, ':v': S('b') }, { ExclusiveStartKey: { pk: S('p'), sk: S('a') } }), VALIDATION,
        'The provided starting key does not match the range key predicate', { real: true }],
    ['a start key without the index key', bad('a = :p', p, { IndexName: 'byA', ExclusiveStartKey: { pk: S('p'), sk: S('a') } }), VALIDATION,
        'The provided starting key is invalid'],
]);
