// PartiQL: ExecuteStatement, BatchExecuteStatement and ExecuteTransaction. The texts of all errors are in
// tests/golden/partiql.txt; here is what a client sees of them, and what takes several calls.
import { test } from 'node:test';
import { randomUUID } from 'node:crypto';
import {
    assert, B, BOOL, call, CANCELED, CONDITION, errorCases, fails, get, L, M, makeTable, N, NOT_FOUND, NS, NULL, put, putAll, S, same, SS, VALIDATION,
} from './lib.mjs';

const table = await makeTable({
    key: ['pk', 'sk:N'],
    gsi: { byG: ['g', 'n:N'], keysOnly: { key: ['g'], projection: 'KEYS_ONLY' } },
    lsi: { local: { key: ['pk', 'n:N'], projection: ['a'] } },
});
const plain = await makeTable({ key: ['id'] });
let count = 0;
const fresh = () => 'p' + ++count;
const run = (Statement, Parameters, rest = {}) => call('ExecuteStatement', { Statement, ...(Parameters && { Parameters }), ...rest });
const items = async (...args) => (await run(...args)).Items;
const batch = (Statements, rest = {}) => call('BatchExecuteStatement', { Statements, ...rest });
const transact = (TransactStatements, rest = {}) => call('ExecuteTransaction', { TransactStatements, ...rest });
const st = (Statement, ...Parameters) => ({ Statement, ...(Parameters.length && { Parameters }) });

async function fill(pk, n) {
    await putAll(table, Array.from({ length: n }, (_, i) => ({ pk: S(pk), sk: N(i), g: S(pk + (i % 2)), n: N(100 - i), a: S('a' + i) })));
}

// All pages of a statement: the items and the number of pages.
async function pages(Statement, Parameters, rest) {
    const all = [];
    let NextToken;
    let number = 0;
    do {
        const page = await run(Statement, Parameters, { ...rest, NextToken });
        all.push(...page.Items);
        NextToken = page.NextToken;
        assert.equal(NextToken === undefined, page.LastEvaluatedKey === undefined);
        assert.ok(++number < 1000);
    } while (NextToken);
    return { all, number };
}
const sks = (list) => list.map((i) => Number(i.sk.N));

test('INSERT and SELECT with every type', async () => {
    const pk = fresh();
    const answer = await run(
        `INSERT INTO "${table}" VALUE {'pk':'${pk}','sk':1,'s':'it''s','n':-2.50,'t':true,'f':false,'z':null,'l':[1,'two',[]],'m':{'a b':{'c':1}},'ss':<<'x','y'>>,'ns':<<1,2.0>>,'b':?}`,
        [B('hi')],
    );
    same(answer.Items, []);
    const expected = {
        pk: S(pk), sk: N(1), s: S("it's"), n: N(-2.5), t: BOOL(true), f: BOOL(false), z: NULL, l: L(N(1), S('two'), L()),
        m: M({ 'a b': M({ c: N(1) }) }), ss: SS('x', 'y'), ns: NS(1, 2), b: B('hi'),
    };
    same(await get(table, { pk: S(pk), sk: N(1) }), expected);
    same(await items(`SELECT * FROM "${table}" WHERE pk=? AND sk=1`, [S(pk)]), [expected]);
    same(await items(`select pk, m."a b".c, l[1], nothere from "${table}" where pk=? and sk=1`, [S(pk)]), [{ pk: S(pk), c: N(1), 'l[1]': S('two') }]);
    await fails(run(`INSERT INTO "${table}" VALUE {'pk':?,'sk':1}`, [S(pk)]), 'DuplicateItemException', 'Duplicate primary key exists in table');
    same(await get(table, { pk: S(pk), sk: N(1) }), expected);
});

test('key conditions, filters, order', async () => {
    const pk = fresh();
    await fill(pk, 10);
    const sk = async (where, ...rest) => sks(await items(`SELECT sk FROM "${table}" WHERE pk='${pk}' AND ${where}`, ...rest));
    assert.deepEqual(await sk('sk>7'), [8, 9]);
    assert.deepEqual(await sk('sk BETWEEN 2 AND 4'), [2, 3, 4]);
    assert.deepEqual(await sk('sk>2 AND sk<5 ORDER BY sk DESC'), [4, 3]);
    assert.deepEqual(await sk('sk IN [3,1]'), [1, 3]);
    assert.deepEqual(await sk('(sk=1 OR sk=9) AND NOT a IS MISSING'), [1, 9]);
    assert.deepEqual(await sk('(n=99 OR n=91) AND NOT a IS MISSING'), [1, 9]);
    await fails(sk('(sk=1 OR n=91)'), VALIDATION, 'Overlapping conditions with range keys are not supported in where clause');
    assert.deepEqual(await sk('begins_with(a,?)', [S('a9')]), [9]);
    assert.deepEqual(await sk('contains(a,?) AND size(a)=2 AND attribute_type(a,?)', [S('3'), S('S')]), [3]);
    const index = (where) => items(`SELECT sk FROM "${table}"."byG" WHERE g='${pk}1' ${where}`).then(sks);
    assert.deepEqual(await index(''), [9, 7, 5, 3, 1]);
    assert.deepEqual(await index('AND n>=97 ORDER BY n DESC'), [1, 3]);
    const [entry] = await items(`SELECT * FROM "${table}"."keysOnly" WHERE g='${pk}1' AND n IS MISSING`).catch(() => [undefined]);
    assert.equal(entry, undefined);
    same((await items(`SELECT * FROM "${table}"."keysOnly" WHERE g=?`, [S(pk + '0')]))[0], { pk: S(pk), sk: N(0), g: S(pk + '0') });
    same((await items(`SELECT * FROM "${table}"."local" WHERE pk='${pk}' AND n=100`))[0], { pk: S(pk), sk: N(0), n: N(100), a: S('a0') });
    same((await items(`SELECT g FROM "${table}"."local" WHERE pk='${pk}' AND n=100`))[0], { g: S(pk + '0') });
});

test('a key condition is a Query: it costs what it reads, not the table', async () => {
    const pk = fresh();
    await putAll(table, Array.from({ length: 20 }, (_, i) => ({ pk: S(pk), sk: N(i), big: S('x'.repeat(4000)) })));
    const units = async (where) => (await run(`SELECT sk FROM "${table}" WHERE ${where}`, undefined, { ReturnConsumedCapacity: 'TOTAL' })).ConsumedCapacity.CapacityUnits;
    assert.equal(await units(`pk='${pk}' AND sk=3`), 0.5);
    assert.equal(await units(`pk='${pk}' AND sk>=3 AND sk<5`), 1.5);
    assert.equal(await units(`pk IN ['${pk}','none'] AND sk IN [3]`), 10);
    assert.ok((await units(`sk=3`)) >= 10);
});

test('Limit and NextToken', async () => {
    const [p, q] = [fresh(), fresh()];
    await fill(p, 7);
    await fill(q, 5);
    const select = `SELECT pk,sk FROM "${table}" WHERE pk=?`;
    for (const Limit of [1, 2, 3, 7, 8]) {
        const { all } = await pages(select, [S(p)], { Limit });
        assert.deepEqual(sks(all), [0, 1, 2, 3, 4, 5, 6]);
        const both = await pages(`SELECT pk,sk FROM "${table}" WHERE pk IN [?,?] ORDER BY pk, sk DESC`, [S(q), S(p)], { Limit });
        assert.deepEqual(sks(both.all), [6, 5, 4, 3, 2, 1, 0, 4, 3, 2, 1, 0]);
        const filtered = await pages(`${select} AND n<97`, [S(p)], { Limit });
        assert.deepEqual(sks(filtered.all), [4, 5, 6]);
        const index = await pages(`SELECT sk FROM "${table}"."byG" WHERE g=? ORDER BY n DESC`, [S(p + '0')], { Limit });
        assert.deepEqual(sks(index.all), [0, 2, 4, 6]);
    }
    const scanned = await pages(`SELECT pk FROM "${table}" WHERE begins_with(pk, ?)`, [S('p')], { Limit: 4 });
    const whole = await items(`SELECT pk FROM "${table}"`);
    assert.equal(scanned.all.length, whole.length);
    const page = await run(select, [S(p)], { Limit: 2 });
    same(page.LastEvaluatedKey, { pk: S(p), sk: N(1) });
    await fails(run(select, [S(q)], { NextToken: page.NextToken }), VALIDATION, 'NextToken does not match request');
    await fails(run(select + ' AND sk>0', [S(p)], { NextToken: page.NextToken }), VALIDATION, 'NextToken does not match request');
    const bytes = Buffer.from(page.NextToken, 'base64');
    for (let i = 0; i < bytes.length; i += 3) {
        const other = Buffer.from(bytes);
        other[i] ^= 1;
        await fails(run(select, [S(p)], { NextToken: other.toString('base64') }), VALIDATION, /^Invalid NextToken|^NextToken does not match request/);
    }
    await fails(run(select, [S(p)], { NextToken: 'no token' }), VALIDATION, 'Invalid NextToken');
});

test('UPDATE: SET, REMOVE, functions, RETURNING', async () => {
    const pk = fresh();
    await put(table, { pk: S(pk), sk: N(1), v: N(1), l: L(N(1)), s: SS('a'), m: M({ x: N(1), y: N(2) }) });
    const update = (changes, returning = 'MODIFIED NEW', ...rest) =>
        items(`UPDATE "${table}" ${changes} WHERE pk='${pk}' AND sk=1 RETURNING ${returning} *`, ...rest);
    same(await update('SET v=v+1, w=? SET q=v', 'MODIFIED NEW', [S('w')]), [{ v: N(2), w: S('w'), q: N(1) }]);
    same(await update('SET v=10-v REMOVE w', 'MODIFIED OLD'), [{ v: N(2), w: S('w') }]);
    same(await update('SET l=list_append(l,[2,3])'), [{ l: L(N(1), N(2), N(3)) }]);
    same(await update("SET s=set_add(s,<<'b'>>)"), [{ s: SS('a', 'b') }]);
    same(await update("SET s=set_delete(s,<<'a'>>)"), [{ s: SS('b') }]);
    same(await update('SET c=if_not_exists(c,5) SET m.x=7 REMOVE m.y'), [{ c: N(5), m: M({ x: N(7) }) }]);
    same(await update('SET v=0', 'ALL NEW'), [await get(table, { pk: S(pk), sk: N(1) })]);
    const before = await get(table, { pk: S(pk), sk: N(1) });
    same(await update('SET v=1', 'ALL OLD'), [before]);
    same(await update('REMOVE nothere', 'MODIFIED OLD'), []);
    const error = await fails(
        run(`UPDATE "${table}" SET v=2 WHERE pk='${pk}' AND sk=1 AND v=9`, undefined, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        CONDITION, 'The conditional request failed',
    );
    same(error.Item, await get(table, { pk: S(pk), sk: N(1) }));
    await fails(run(`UPDATE "${table}" SET v=2 WHERE pk='${pk}' AND sk=99`), CONDITION, 'The conditional request failed');
    assert.equal(await get(table, { pk: S(pk), sk: N(99) }), undefined);
});

test('DELETE', async () => {
    const id = fresh();
    await put(plain, { id: S(id), v: N(1) });
    const remove = (rest = '', options) => run(`DELETE FROM "${plain}" WHERE id=? ${rest}`, [S(id)], options);
    const error = await fails(remove('AND v=2', { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }), CONDITION, 'The conditional request failed');
    same(error.Item, { id: S(id), v: N(1) });
    same((await remove('AND v=1 RETURNING ALL OLD *')).Items, [{ id: S(id), v: N(1) }]);
    same((await remove('RETURNING ALL OLD *')).Items, []);
    same((await remove('AND v=1')).Items, []);
    assert.equal(await get(plain, { id: S(id) }), undefined);
});

const first = (rest) => `SELECT * FROM "${table}" ${rest}`;
const number = "Number of parameters in request and statement don't match.";
errorCases('ExecuteStatement', [
    ['no statement', {}, VALIDATION, /^1 validation error detected: Value null at 'statement'/],
    ['syntax', { Statement: 'SELEC 1' }, VALIDATION, /^Statement wasn't well formed, can't be processed: /],
    ['too long', { Statement: 'x'.repeat(8193) }, VALIDATION, /at 'statement' failed to satisfy constraint: Member must have length less than or equal to 8192$/],
    ['too few parameters', { Statement: first('WHERE pk=?') }, VALIDATION, number],
    ['too many parameters', { Statement: first('WHERE pk=?'), Parameters: [S('a'), S('b')] }, VALIDATION, number],
    ['no table', { Statement: 'SELECT * FROM "js-no-such-table"' }, NOT_FOUND, 'Requested resource not found'],
    ['no index', { Statement: `SELECT * FROM "${table}"."nope"` }, VALIDATION, 'The table does not have the specified index'],
    ['consistent read of a global index', { Statement: `SELECT * FROM "${table}"."byG"`, ConsistentRead: true }, VALIDATION, 'Strongly consistent read is not supported on Global Secondary Indexes'],
    ['order without a key', { Statement: first('WHERE n=1 ORDER BY sk') }, VALIDATION, 'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.'],
    ['order by another attribute', { Statement: first("WHERE pk='a' ORDER BY n") }, VALIDATION, 'Variable reference n in ORDER BY clause must be part of the primary key'],
    ['type of a key', { Statement: first('WHERE pk=1') }, VALIDATION, "Key attribute's data type should match its data type in table's schema: Key pk"],
    ['update without a key', { Statement: `UPDATE "${table}" SET v=1 WHERE pk='a'` }, VALIDATION, 'Where clause does not contain a mandatory equality on all key attributes'],
    ['delete without a key', { Statement: `DELETE FROM "${table}"` }, VALIDATION, 'Where clause does not contain a mandatory equality on all key attributes'],
    ['insert without a key', { Statement: `INSERT INTO "${table}" VALUE {'pk':'a'}` }, VALIDATION, 'Key attribute should be present in the item: Key sk'],
    ['update of a key', { Statement: `UPDATE "${table}" SET pk='b' WHERE pk='a' AND sk=1` }, VALIDATION, 'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key'],
    ['EXISTS alone', { Statement: `EXISTS(SELECT * FROM "${table}" WHERE pk='a' AND sk=1 AND v=1)` }, VALIDATION, 'EXISTS can only be used in ExecuteTransaction write requests.'],
    ['a hidden name', { Statement: 'SELECT * FROM "\u0001backup"' }, NOT_FOUND, 'Requested resource not found'],
    ['an oversize item', { Statement: `INSERT INTO "${plain}" VALUE {'id':'a','v':?}`, Parameters: [S('x'.repeat(410000))] }, VALIDATION, 'Item size has exceeded the maximum allowed size'],
]);

test('BatchExecuteStatement: reads', async () => {
    const pk = fresh();
    await fill(pk, 2);
    const answer = await batch(
        [
            st(`SELECT sk FROM "${table}" WHERE pk=? AND sk=0`, S(pk)),
            { ...st(`SELECT a FROM "${table}" WHERE pk=? AND sk=1`, S(pk)), ConsistentRead: true },
            st(`SELECT * FROM "${plain}" WHERE id=?`, S('none')),
            st(`SELECT * FROM "${table}" WHERE pk=?`, S(pk)),
            st('SELECT * FROM "js-no-such-table" WHERE id=1'),
            st('SELECT'),
        ],
        { ReturnConsumedCapacity: 'TOTAL' },
    );
    same(answer.Responses.slice(0, 5), [
        { TableName: table, Item: { sk: N(0) } },
        { TableName: table, Item: { a: S('a1') } },
        { TableName: plain },
        { Error: { Code: 'ValidationError', Message: 'Select statements within BatchExecuteStatement must specify the primary key in the where clause.' } },
        { Error: { Code: 'ResourceNotFound', Message: 'Requested resource not found' } },
    ]);
    assert.equal(answer.Responses[5].Error.Code, 'ValidationError');
    same(answer.ConsumedCapacity, [{ TableName: table, CapacityUnits: 1.5 }, { TableName: plain, CapacityUnits: 0.5 }]);
});

test('BatchExecuteStatement: writes, each on its own', async () => {
    const pk = fresh();
    await fill(pk, 3);
    const answer = await batch([
        st(`INSERT INTO "${table}" VALUE {'pk':?,'sk':10}`, S(pk)),
        st(`INSERT INTO "${table}" VALUE {'pk':?,'sk':0}`, S(pk)),
        { ...st(`UPDATE "${table}" SET a='new' WHERE pk=? AND sk=1 AND n=0`, S(pk)), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
        st(`UPDATE "${table}" SET a='new' WHERE pk=? AND sk=2 RETURNING MODIFIED NEW *`, S(pk)),
        st(`UPDATE "${table}" SET a='new' WHERE pk=? AND sk=77`, S(pk)),
        st(`DELETE FROM "${plain}" WHERE id=?`, S('none')),
        st(`UPDATE "${table}" SET a=a+1 WHERE pk=? AND sk=4`, S(pk)),
    ]);
    same(answer.Responses, [
        { TableName: table },
        { TableName: table, Error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' } },
        { TableName: table, Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' } },
        { TableName: table, Item: { a: S('new') } },
        { TableName: table, Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' } },
        { TableName: plain },
        { TableName: table, Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' } },
    ]);
    same(await get(table, { pk: S(pk), sk: N(10) }), { pk: S(pk), sk: N(10) });
    assert.equal((await get(table, { pk: S(pk), sk: N(2) })).a.S, 'new');
    const nothing = await batch([st('UPDATE x'), st('DELETE FROM "js-no-such-table" WHERE a=1')]);
    assert.deepEqual(nothing.Responses.map((r) => r.Error.Code), ['ValidationError', 'ResourceNotFound']);
});

errorCases('BatchExecuteStatement', [
    ['no statements', { Statements: [] }, VALIDATION, /at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1/],
    ['too many', { Statements: Array.from({ length: 26 }, () => st('SELECT 1')) }, VALIDATION, /at 'statements' failed to satisfy constraint: Member must have length less than or equal to 25/],
    ['read and write', { Statements: [st(`SELECT * FROM "${plain}" WHERE id='a'`), st(`DELETE FROM "${plain}" WHERE id='b'`)] }, VALIDATION, 'Read and write requests together in the same batch is not supported.'],
    ['an item twice', { Statements: [st(`DELETE FROM "${plain}" WHERE id='b'`), st(`DELETE FROM "${plain}" WHERE id='b'`)] }, VALIDATION, 'Provided list of item keys contains duplicates'],
]);

test('ExecuteTransaction: reads', async () => {
    const pk = fresh();
    await fill(pk, 2);
    const answer = await transact(
        [st(`SELECT sk FROM "${table}" WHERE pk=? AND sk=0`, S(pk)), st(`SELECT * FROM "${table}" WHERE pk=? AND sk=9`, S(pk)), st(`SELECT * FROM "${plain}" WHERE id='none'`)],
        { ReturnConsumedCapacity: 'TOTAL' },
    );
    same(answer.Responses, [{ Item: { sk: N(0) } }, {}, {}]);
    same(answer.ConsumedCapacity.map((c) => c.CapacityUnits), [4, 2]);
});

test('ExecuteTransaction: writes, all or nothing', async () => {
    const pk = fresh();
    await fill(pk, 3);
    const exists = (condition) => st(`EXISTS(SELECT * FROM "${table}" WHERE pk=? AND sk=2 AND ${condition})`, S(pk));
    const writes = (condition) => [
        st(`INSERT INTO "${table}" VALUE {'pk':?,'sk':10}`, S(pk)),
        st(`UPDATE "${table}" SET a='t' WHERE pk=? AND sk=0`, S(pk)),
        st(`DELETE FROM "${table}" WHERE pk=? AND sk=1`, S(pk)),
        exists(condition),
    ];
    const error = await fails(transact(writes("a='other'")), CANCELED, 'Transaction cancelled, please refer cancellation reasons for specific reasons [None, None, None, ConditionalCheckFailed]');
    same(error.CancellationReasons[3], { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' });
    assert.deepEqual(sks(await items(`SELECT sk FROM "${table}" WHERE pk=?`, [S(pk)])), [0, 1, 2]);
    const done = await transact(writes("a='a2'"), { ReturnConsumedCapacity: 'TOTAL' });
    same(done.Responses, []);
    assert.equal(done.ConsumedCapacity[0].TableName, table);
    assert.deepEqual(sks(await items(`SELECT sk FROM "${table}" WHERE pk=?`, [S(pk)])), [0, 2, 10]);
    const twice = await fails(transact([st(`INSERT INTO "${table}" VALUE {'pk':?,'sk':0}`, S(pk)), { ...exists("a='other'"), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }]), CANCELED, /\[DuplicateItem, ConditionalCheckFailed\]$/);
    same(twice.CancellationReasons[0], { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' });
    same(twice.CancellationReasons[1].Item, await get(table, { pk: S(pk), sk: N(2) }));
});

test('ExecuteTransaction: a token is executed once', async () => {
    const id = fresh();
    await put(plain, { id: S(id), v: N(0) });
    const ClientRequestToken = randomUUID();
    const add = (n) => transact([st(`UPDATE "${plain}" SET v=v+? WHERE id=?`, N(n), S(id))], { ClientRequestToken });
    await add(1);
    await add(1);
    same(await get(plain, { id: S(id) }), { id: S(id), v: N(1) });
    await fails(add(2), 'IdempotentParameterMismatchException');
    same(await get(plain, { id: S(id) }), { id: S(id), v: N(1) });
});

const within = (i, text) => `Validation failed in TransactStatements[${i}]: ${text}`;
const ok = st(`DELETE FROM "${plain}" WHERE id='b'`);
errorCases('ExecuteTransaction', [
    ['no statements', { TransactStatements: [] }, VALIDATION, /at 'transactStatements' failed to satisfy constraint: Member must have length greater than or equal to 1/],
    ['too many', { TransactStatements: Array.from({ length: 101 }, () => ok) }, VALIDATION, /Member must have length less than or equal to 100/],
    ['read and write', { TransactStatements: [st(`SELECT * FROM "${plain}" WHERE id='a'`), ok] }, VALIDATION, 'ExecuteTransaction API does not support both read and write operations in the same request.'],
    ['an item twice', { TransactStatements: [ok, ok] }, VALIDATION, 'Transaction request cannot include multiple operations on one item'],
    ['a read of several items', { TransactStatements: [st(`SELECT * FROM "${table}" WHERE pk='a'`)] }, VALIDATION, within(0, 'Select statements within ExecuteTransaction must specify the primary key in the where clause.')],
    ['a read of an index', { TransactStatements: [st(`SELECT * FROM "${table}"."byG" WHERE g='a'`)] }, VALIDATION, within(0, 'Reads on indices are not supported within transactions.')],
    ['EXISTS without a condition', { TransactStatements: [ok, st(`EXISTS(SELECT * FROM "${plain}" WHERE id='a')`)] }, VALIDATION, within(1, 'EXISTS() must contain a single item read with additional condition')],
    ['RETURNING', { TransactStatements: [st(`DELETE FROM "${plain}" WHERE id='b' RETURNING ALL OLD *`)] }, VALIDATION, within(0, 'RETURNING clause is not supported in ExecuteTransaction.')],
    ['parameters', { TransactStatements: [st(`DELETE FROM "${plain}" WHERE id=?`)] }, VALIDATION, within(0, number)],
    ['syntax', { TransactStatements: [st('DELETE')] }, VALIDATION, /^Validation failed in TransactStatements\[0\]: Statement wasn't well formed/],
    ['no table', { TransactStatements: [st('DELETE FROM "js-no-such-table" WHERE id=1')] }, NOT_FOUND, 'Requested resource not found'],
    ['no key', { TransactStatements: [ok, st(`DELETE FROM "${plain}" WHERE v=1`)] }, CANCELED, 'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]'],
]);
