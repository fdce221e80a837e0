// Condition and filter expressions: every operator and function, over every type;
// the same cases as a FilterExpression of Scan and as a ConditionCheck.
import { test } from 'node:test';
import {
    assert, B, BOOL, BS, call, CANCELED, CONDITION, ENVELOPE, errorCases, fails, L, M, makeTable, N, NS, NULL, put, S, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable();
const key = { pk: S('item') };
const item = {
    ...key,
    s: S('hello'),
    blank: S(''),
    n: N(5),
    big: N('12345678901234567890123456789012345678'),
    b: B([1, 2, 3]),
    t: BOOL(true),
    f: BOOL(false),
    nil: NULL,
    ss: SS('a', 'b', 'c'),
    ns: NS(1, 2, 3),
    bs: BS('x', 'y'),
    l: L(S('zero'), N(1), L(S('in')), M({ deep: N(7) })),
    m: M({ a: S('x'), n: N(10), nest: M({ k: S('v') }), seq: L(N(1), N(2)) }),
    smile: S('\u{1f600}é'),
    size: N(1),
    'odd.name': S('odd'),
    'a b': S('space'),
};
await put(table, item);

// [expression, values, expected, names]
const CASES = [
    // Comparisons.
    ['s = :v', { ':v': S('hello') }, true],
    ['s = :v', { ':v': S('Hello') }, false],
    [':v = s', { ':v': S('hello') }, true],
    ['s <> :v', { ':v': S('hello') }, false],
    ['s <> :v', { ':v': S('x') }, true],
    ['s <> :v', { ':v': N(1) }, true],
    ['s = :v', { ':v': N(1) }, false],
    ['s < :v', { ':v': S('hellp') }, true],
    ['s < :v', { ':v': S('hello') }, false],
    ['s <= :v', { ':v': S('hello') }, true],
    ['s > :v', { ':v': S('hell') }, true],
    ['s >= :v', { ':v': S('hello') }, true],
    ['s >= :v', { ':v': S('i') }, false],
    ['s < :v', { ':v': N(9) }, false],
    ['s > :v', { ':v': N(9) }, false],
    ['n = :v', { ':v': N('5.0') }, true],
    ['n = :v', { ':v': N('0.5E1') }, true],
    ['n < :v', { ':v': N(10) }, true],
    ['n < :v', { ':v': N(-10) }, false],
    ['n > :v', { ':v': N('4.9999') }, true],
    ['big > :v', { ':v': N('12345678901234567890123456789012345677') }, true],
    ['b = :v', { ':v': B([1, 2, 3]) }, true],
    ['b < :v', { ':v': B([1, 2, 255]) }, true],
    ['b > :v', { ':v': B([1, 2]) }, true],
    ['t = :v', { ':v': BOOL(true) }, true],
    ['t = f', undefined, false],
    ['nil = :v', { ':v': NULL }, true],
    ['nil = gone', undefined, false],
    ['ss = :v', { ':v': SS('c', 'b', 'a') }, true],
    ['ss = :v', { ':v': SS('a', 'b') }, false],
    ['ns = :v', { ':v': NS('3.0', 1, 2) }, true],
    ['bs = :v', { ':v': BS('y', 'x') }, true],
    ['l = :v', { ':v': item.l }, true],
    ['l <> :v', { ':v': L(S('zero')) }, true],
    ['m = :v', { ':v': item.m }, true],
    ['m.nest = :v', { ':v': M({ k: S('v') }) }, true],
    ['gone = :v', { ':v': S('x') }, false],
    ['gone <> :v', { ':v': S('x') }, true],
    ['gone < :v', { ':v': S('x') }, false],
    ['gone >= :v', { ':v': S('x') }, false],
    ['gone = absent', undefined, false],
    ['gone <> absent', undefined, true],
    ['n < big', undefined, true],
    ['s = s2', undefined, false],
    // BETWEEN and IN.
    ['n BETWEEN :a AND :b', { ':a': N(5), ':b': N(5) }, true],
    ['n BETWEEN :a AND :b', { ':a': N(1), ':b': N(4) }, false],
    ['n between :a and :b', { ':a': N(-1), ':b': N(100) }, true],
    ['s BETWEEN :a AND :b', { ':a': S('h'), ':b': S('i') }, true],
    [':v BETWEEN n AND big', { ':v': N(6) }, true],
    ['n BETWEEN :a AND big', { ':a': N(5) }, true],
    ['gone BETWEEN :a AND :b', { ':a': N(1), ':b': N(4) }, false],
    ['s BETWEEN :a AND :b', { ':a': N(1), ':b': N(4) }, false],
    ['NOT n BETWEEN :a AND :b', { ':a': N(1), ':b': N(4) }, true],
    ['n IN (:a)', { ':a': N(5) }, true],
    ['n IN (:a, :b, :c)', { ':a': N(1), ':b': S('5'), ':c': N('5.0') }, true],
    ['n in (:a, :b)', { ':a': N(1), ':b': N(2) }, false],
    ['ss IN (:a)', { ':a': SS('b', 'a', 'c') }, true],
    ['gone IN (:a)', { ':a': N(1) }, false],
    ['s IN (l[0], m.a, :v)', { ':v': S('hello') }, true],
    ['NOT n IN (:a)', { ':a': N(1) }, true],
    // Logic.
    ['s = :v AND n = :n', { ':v': S('hello'), ':n': N(5) }, true],
    ['s = :v AND n = :n', { ':v': S('hello'), ':n': N(6) }, false],
    ['s = :v OR n = :n', { ':v': S('x'), ':n': N(5) }, true],
    ['s = :v or n = :n', { ':v': S('x'), ':n': N(6) }, false],
    ['NOT s = :v', { ':v': S('x') }, true],
    ['not s = :v', { ':v': S('hello') }, false],
    ['NOT NOT s = :v', { ':v': S('hello') }, true],
    ['s = :x OR s = :v AND n = :n', { ':x': S('hello'), ':v': S('x'), ':n': N(9) }, true],
    ['(s = :x OR s = :v) AND n = :n', { ':x': S('hello'), ':v': S('x'), ':n': N(9) }, false],
    ['NOT s = :x AND n = :n', { ':x': S('x'), ':n': N(5) }, true],
    ['NOT (s = :x AND n = :n)', { ':x': S('hello'), ':n': N(5) }, false],
    ['s=:x AND(n=:n)', { ':x': S('hello'), ':n': N(5) }, true],
    // attribute_exists, attribute_not_exists.
    ['attribute_exists(s)', undefined, true],
    ['attribute_exists(nil)', undefined, true],
    ['attribute_exists(gone)', undefined, false],
    ['attribute_exists(m.nest.k)', undefined, true],
    ['attribute_exists(m.nest.x)', undefined, false],
    ['attribute_exists(l[3].deep)', undefined, true],
    ['attribute_exists(l[9])', undefined, false],
    ['attribute_exists(s.x)', undefined, false],
    ['attribute_exists(s[0])', undefined, false],
    ['attribute_not_exists(gone)', undefined, true],
    ['attribute_not_exists(s)', undefined, false],
    ['attribute_not_exists(m.nothing)', undefined, true],
    // attribute_type.
    ...[['s', 'S'], ['n', 'N'], ['b', 'B'], ['t', 'BOOL'], ['nil', 'NULL'], ['ss', 'SS'], ['ns', 'NS'], ['bs', 'BS'], ['l', 'L'], ['m', 'M']].map(
        ([name, type]) => [`attribute_type(${name}, :t)`, { ':t': S(type) }, true],
    ),
    ['attribute_type(s, :t)', { ':t': S('N') }, false],
    ['attribute_type(gone, :t)', { ':t': S('S') }, false],
    ['attribute_type(m.n, :t)', { ':t': S('N') }, true],
    // begins_with.
    ['begins_with(s, :v)', { ':v': S('he') }, true],
    ['begins_with(s, :v)', { ':v': S('hello') }, true],
    ['begins_with(s, :v)', { ':v': S('hello!') }, false],
    ['begins_with(s, :v)', { ':v': S('') }, true],
    ['begins_with(b, :v)', { ':v': B([1, 2]) }, true],
    ['begins_with(b, :v)', { ':v': B([2]) }, false],
    ['begins_with(n, :v)', { ':v': S('5') }, false],
    ['begins_with(gone, :v)', { ':v': S('5') }, false],
    ['begins_with(s, l[0])', undefined, false],
    // contains.
    ['contains(s, :v)', { ':v': S('ell') }, true],
    ['contains(s, :v)', { ':v': S('elk') }, false],
    ['contains(b, :v)', { ':v': B([2, 3]) }, true],
    ['contains(ss, :v)', { ':v': S('b') }, true],
    ['contains(ss, :v)', { ':v': S('bb') }, false],
    ['contains(ns, :v)', { ':v': N('2.0') }, true],
    ['contains(bs, :v)', { ':v': B('x') }, true],
    ['contains(l, :v)', { ':v': N(1) }, true],
    ['contains(l, :v)', { ':v': S('1') }, false],
    ['contains(l, :v)', { ':v': M({ deep: N(7) }) }, true],
    ['contains(ss, :v)', { ':v': N(1) }, false],
    ['contains(n, :v)', { ':v': N(5) }, false],
    ['contains(m, :v)', { ':v': S('a') }, false],
    ['contains(gone, :v)', { ':v': S('a') }, false],
    ['contains(s, m.gone)', undefined, false],
    // size.
    ['size(s) = :v', { ':v': N(5) }, true],
    ['size(blank) = :v', { ':v': N(0) }, true],
    ['size(b) = :v', { ':v': N(3) }, true],
    ['size(ss) = :v', { ':v': N(3) }, true],
    ['size(ns) > :v', { ':v': N(2) }, true],
    ['size(bs) <= :v', { ':v': N(2) }, true],
    ['size(l) = :v', { ':v': N(4) }, true],
    ['size(m) = :v', { ':v': N(4) }, true],
    ['size(m.seq) = :v', { ':v': N(2) }, true],
    ['size(n) = :v', { ':v': N(1) }, false],
    ['size(n) <> :v', { ':v': N(1) }, true],
    ['size(t) = :v', { ':v': N(1) }, false],
    ['size(gone) = :v', { ':v': N(0) }, false],
    ['size(s) BETWEEN :a AND :b', { ':a': N(1), ':b': N(9) }, true],
    ['size(s) IN (:a, :b)', { ':a': N(1), ':b': N(5) }, true],
    ['size(s) = size(l)', undefined, false],
    ['n = size(s)', undefined, true],
    ['size(:v) = n', { ':v': S('12345') }, true],
    // Names.
    ['#n = :v', { ':v': S('odd') }, true, { '#n': 'odd.name' }],
    ['#n = :v', { ':v': S('space') }, true, { '#n': 'a b' }],
    ['#m.#i.k = :v', { ':v': S('v') }, true, { '#m': 'm', '#i': 'nest' }],
    ['#m.seq[1] = :v', { ':v': N(2) }, true, { '#m': 'm' }],
    ['#s = :v', { ':v': N(1) }, true, { '#s': 'size' }],
    ['l[3].deep = :v', { ':v': N(7) }, true],
    ['l[2][0] = :v', { ':v': S('in') }, true],
    [' \t\n s \r\n=\n:v ', { ':v': S('hello') }, true],
];

for (const [expression, values, expected, names] of CASES) {
    const title = `${expression.trim()} ${values ? JSON.stringify(values) : ''} is ${expected}`;
    test('filter: ' + title, async () => {
        const { Count, ScannedCount } = await call('Scan', {
            TableName: table,
            FilterExpression: expression,
            ExpressionAttributeValues: values,
            ExpressionAttributeNames: names,
        });
        assert.equal(ScannedCount, 1);
        assert.equal(Count, expected ? 1 : 0);
    });
    test('condition: ' + title, async () => {
        const check = call('TransactWriteItems', {
            TransactItems: [{
                ConditionCheck: {
                    TableName: table,
                    Key: key,
                    ConditionExpression: expression,
                    ExpressionAttributeValues: values,
                    ExpressionAttributeNames: names,
                },
            }],
        });
        if (expected) await check;
        else await fails(check, CANCELED, /\[ConditionalCheckFailed\]$/);
    });
}

test('conditions on an item that is not there see no attributes', async () => {
    const absent = (ConditionExpression, values) =>
        call('DeleteItem', { TableName: table, Key: { pk: S('absent') }, ConditionExpression, ExpressionAttributeValues: values });
    await absent('attribute_not_exists(pk)');
    await absent('attribute_not_exists(a) AND NOT attribute_exists(b)');
    await absent('a <> :v', { ':v': S('x') });
    await fails(absent('attribute_exists(pk)'), CONDITION);
    await fails(absent('pk = :v', { ':v': S('absent') }), CONDITION);
    await fails(absent('size(pk) > :v', { ':v': N(0) }), CONDITION);
});

// ---- Errors -----------------------------------------------------------------------

const bad = (ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames) => ({
    TableName: table, Key: key, ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames,
});
const INVALID = 'Invalid ConditionExpression: ';
const v = { ':v': S('x') };
const many = (n, make, joiner) => Array.from({ length: n }, (_, i) => make(i)).join(joiner);

errorCases('DeleteItem', [
    ['an empty expression', bad(''), VALIDATION, INVALID + 'The expression can not be empty;'],
    ['only a name', bad('a'), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: "a"'],
    ['a missing operand', bad('a ='), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: "="'],
    ['an unknown operator', bad('a == :v', v), VALIDATION, INVALID + 'Syntax error; token: "=", near: "== :v"'],
    ['a bad character', bad('a = $x'), VALIDATION, INVALID + 'Syntax error; token: "$", near: "= $x"'],
    ['an unclosed parenthesis', bad('(a = :v', v), VALIDATION, INVALID + 'Syntax error; token: "<EOF>", near: ":v"'],
    ['too many words', bad('a = :v b', v), VALIDATION, INVALID + 'Syntax error; token: "b", near: ":v b"'],
    ['a literal', bad('a = 5'), VALIDATION, INVALID + 'Syntax error; token: "5", near: "= 5"'],
    ['an index that is no number', bad('a[x] = :v', v), VALIDATION, INVALID + 'Syntax error; token: "x", near: "[x]"'],
    ['a reserved word', bad('name = :v', v), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['a reserved word in other case', bad('Status = :v', v), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: Status'],
    ['a reserved word inside a path', bad('a.value = :v', v), VALIDATION, INVALID + 'Attribute name is a reserved keyword; reserved keyword: value'],
    ['redundant parentheses', bad('((a = :v))', v), VALIDATION, INVALID + 'The expression has redundant parentheses;'],
    ['redundant parentheses inside', bad('a = :v AND ((b = :v))', v), VALIDATION, INVALID + 'The expression has redundant parentheses;'],
    ['an unknown function', bad('foo(a)'), VALIDATION, INVALID + 'Invalid function name; function: foo'],
    ['a function of updates', bad('if_not_exists(a, :v)', v), VALIDATION,
        INVALID + 'The function is not allowed in a condition expression; function: if_not_exists'],
    ['a function in capitals', bad('ATTRIBUTE_EXISTS(a)'), VALIDATION, INVALID + 'Invalid function name; function: ATTRIBUTE_EXISTS'],
    ['too few operands', bad('begins_with(a)'), VALIDATION,
        INVALID + 'Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1'],
    ['too many operands', bad('attribute_exists(a, b)'), VALIDATION,
        INVALID + 'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2'],
    ['attribute_exists of a value', bad('attribute_exists(:v)', v), VALIDATION,
        INVALID + 'Operator or function requires a document path; operator or function: attribute_exists'],
    ['attribute_type of an unknown type', bad('attribute_type(a, :v)', v), VALIDATION,
        INVALID + 'Invalid attribute type name found; type: x, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}', { real: true }],
    ['attribute_type of an unknown type (any order)', bad('attribute_type(a, :v)', v), VALIDATION,
        /^Invalid ConditionExpression: Invalid attribute type name found; type: x, valid types: \{.*\}$/],
    ['attribute_type with a number', bad('attribute_type(a, :n)', { ':n': N(1) }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N'],
    ['attribute_type with a path', bad('attribute_type(a, b)'), VALIDATION,
        /^Invalid ConditionExpression: /],
    ['begins_with of a number', bad('begins_with(a, :n)', { ':n': N(1) }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N'],
    ['size of a number', bad('size(:n) = :n', { ':n': N(1) }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: size, operand type: N'],
    ['< of a map', bad('a < :m', { ':m': M({}) }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: <, operand type: M'],
    ['>= of a set', bad('a >= :m', { ':m': SS('a') }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: >=, operand type: SS'],
    ['BETWEEN of booleans', bad('a BETWEEN :m AND :m', { ':m': BOOL(true) }), VALIDATION,
        INVALID + 'Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: BOOL'],
    ['BETWEEN of two types', bad('a BETWEEN :a AND :b', { ':a': N(1), ':b': S('2') }), VALIDATION,
        INVALID + 'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:2}'],
    ['BETWEEN turned around', bad('a BETWEEN :a AND :b', { ':a': N(2), ':b': N(1) }), VALIDATION,
        INVALID + 'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}'],
    ['size alone', bad('size(a)'), VALIDATION,
        INVALID + 'The function is not allowed to be used this way in an expression; function: size', { real: true }],
    ['size alone (any text)', bad('size(a)'), VALIDATION, /^Invalid ConditionExpression: /],
    ['a comparison of a comparison', bad('(a = :v) = :v', v), VALIDATION, /^Invalid ConditionExpression: /],
    ['a function as an operand', bad('attribute_exists(a) = :v', v), VALIDATION,
        INVALID + 'The function is not allowed to be used this way in an expression; function: attribute_exists'],
    ['an operand compared with itself', bad('a = a'), VALIDATION,
        INVALID + 'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]'],
    ['contains of the same', bad('contains(#d, #d)', undefined, { '#d': 'data' }), VALIDATION,
        INVALID + 'The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [data]'],
    ['IN without operands', bad('a IN ()'), VALIDATION, INVALID + 'Syntax error; token: ")", near: "()"'],
    ['101 operands of IN', () => bad(`a IN (${many(101, (i) => ':v' + i, ', ')})`, Object.fromEntries(Array.from({ length: 101 }, (_, i) => [':v' + i, N(i)]))), VALIDATION,
        INVALID + 'The IN operator is provided with too many operands; number of operands: 101', { real: true }],
    // Placeholders.
    ['a value that is not defined', bad('a = :x', v), VALIDATION,
        INVALID + 'An expression attribute value used in expression is not defined; attribute value: :x'],
    ['no values at all', bad('a = :x'), VALIDATION,
        INVALID + 'An expression attribute value used in expression is not defined; attribute value: :x'],
    ['a name that is not defined', bad('#x = :v', v), VALIDATION,
        INVALID + 'An expression attribute name used in the document path is not defined; attribute name: #x'],
    ['a value too many', bad('a = :v', { ...v, ':w': S('x') }), VALIDATION,
        'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}'],
    ['a name too many', bad('a = :v', v, { '#x': 'x' }), VALIDATION,
        'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}'],
    ['empty values', bad('attribute_exists(a)', {}), VALIDATION, 'ExpressionAttributeValues must not be empty'],
    ['empty names', bad('attribute_exists(a)', undefined, {}), VALIDATION, 'ExpressionAttributeNames must not be empty'],
    ['a bad key of values', bad('a = :v', { v: S('x') }), VALIDATION,
        'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"'],
    ['a bad key of names', bad('#x = :v', v, { x: 'x' }), VALIDATION,
        'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"'],
    ['a bad value', bad('a = :v', { ':v': N('x') }), VALIDATION,
        'The parameter cannot be converted to a numeric value: x'],
    ['an empty set as a value', bad('a = :v', { ':v': SS() }), VALIDATION,
        'One or more parameter values were invalid: An string set  may not be empty'],
    ['values without an expression', { TableName: table, Key: key, ExpressionAttributeValues: v }, VALIDATION,
        'ExpressionAttributeValues can only be specified when using expressions'],
    ['names without an expression', { TableName: table, Key: key, ExpressionAttributeNames: { '#a': 'a' } }, VALIDATION,
        'ExpressionAttributeNames can only be specified when using expressions'],
    // Limits.
    ['4097 bytes', () => bad(`attribute_exists(a)${' '.repeat(4096 - 18)}`), VALIDATION,
        INVALID + 'Expression size has exceeded the maximum allowed size;', { real: true }],
    ['4097 bytes (any text)', () => bad(`attribute_exists(a)${' '.repeat(4096 - 18)}`), VALIDATION,
        /^Invalid ConditionExpression: Expression size has exceeded the maximum allowed size;/],
    ['301 operators', () => bad(many(151, () => 'a=:v', ' OR '), v), VALIDATION,
        /^Invalid ConditionExpression: The expression contains too many operators; operator count: 301$/, { real: true }],
    ['many operators (any text)', () => bad(many(200, () => 'a=:v', ' OR '), v), VALIDATION,
        /^Invalid ConditionExpression: .*operators/],
    ['a deep nest', () => bad('('.repeat(1500) + 'a=:v' + ')'.repeat(1500), v), VALIDATION, /^Invalid ConditionExpression: /],
    ['a deep nest of NOT', () => bad('NOT '.repeat(900) + 'a=:v', v), VALIDATION, /^Invalid ConditionExpression: /],
]);

test('300 operators and 4096 bytes are allowed', async () => {
    const expression = many(150, () => 'a=:v', ' OR ');
    await fails(call('DeleteItem', bad(expression, v)), CONDITION);
    await fails(call('DeleteItem', bad(`attribute_exists(a)${' '.repeat(4096 - 19)}`)), CONDITION);
});

const RESERVED = `ABORT ADD ALL AND ANY ASC ATTRIBUTE BEFORE BETWEEN BINARY BLOB BY CASE CHAR COLUMN COMMENT COUNT COUNTER CREATE DATA DATABASE DATE
    DAY DEFAULT DELETE DESC DISTINCT DOMAIN DURATION EACH ELSE END ESCAPE EXISTS FALSE FILTER FIRST FLOAT FROM GROUP HASH HIDDEN HOUR IDENTITY IF IN
    INDEX INT ITEM ITEMS KEY KEYS LANGUAGE LAST LENGTH LEVEL LIKE LIMIT LIST LOCAL LOCATION LOOP MAP MAX METHOD MIN MINUTE MISSING MODE MONTH NAME NAMES
    NEW NEXT NO NOT NULL NUMBER OBJECT OF OFFSET ON OPTION OR ORDER OTHER OWNER PARTITION PATH PERCENT PERMISSION PLAN POSITION PRIMARY PROCESSED PROJECT
    PUBLIC RANGE RAW READ RECORD REF REGION REPLACE RESOURCE RESULT ROLE ROW SCAN SCHEMA SEARCH SECOND SEGMENT SELECT SESSION SET SHARE
    SHOW SIZE SOURCE START STATE STATUS STRING SYSTEM TABLE TEXT THEN TIME TIMESTAMP TO TOKEN TOTAL TRUE TTL TYPE UNION UNIQUE UNKNOWN UPDATE URL
    USE USER USERS UUID VALUE VALUES VARIABLE VIEW VIEWS VIRTUAL WHEN WHERE WITH WORK WRITE YEAR ZONE`.split(/\s+/);
test('reserved words are refused in any case', async () => {
    for (const word of RESERVED) {
        // Words of the grammar itself are something else.
        if (['ADD', 'AND', 'BETWEEN', 'DELETE', 'IN', 'NOT', 'OR', 'SET', 'SIZE'].includes(word)) continue;
        for (const name of [word, word.toLowerCase()]) {
            await fails(call('DeleteItem', bad(`x.${name} = :v`, v)), VALIDATION,
                ENVELOPE + INVALID + 'Attribute name is a reserved keyword; reserved keyword: ' + name);
        }
    }
});

test('words that are not reserved', async () => {
    for (const name of ['id', 'email', 'title', 'price', 'body', 'created', 'updatedAt', 'kind', 'amount', 'pk', 'sk', 'GSI1PK', 'version', 'x_1', 'x1', 'sort']) {
        await fails(call('DeleteItem', bad(`${name} = :v`, v)), CONDITION);
    }
});

test('100 operands of IN are allowed', async () => {
    const values = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [':v' + i, N(i)]));
    const { Count } = await call('Scan', {
        TableName: table, FilterExpression: `n IN (${Object.keys(values).join(', ')})`, ExpressionAttributeValues: values,
    });
    assert.equal(Count, 1);
});
