// UpdateTimeToLive, DescribeTimeToLive, and that items really go.
import { test } from 'node:test';
import {
    assert, call, errorCases, fails, get, makeTable, N, NOT_FOUND, put, S, same, VALIDATION, waitFor,
} from './lib.mjs';

const update = (TableName, Enabled, AttributeName = 'expires') =>
    call('UpdateTimeToLive', { TableName, TimeToLiveSpecification: { Enabled, AttributeName } });
const describe = async (TableName) => (await call('DescribeTimeToLive', { TableName })).TimeToLiveDescription;
const seconds = (from = 0) => N(Math.floor(Date.now() / 1000) + from);

test('time to live: on, off, on with another attribute', async () => {
    const TableName = await makeTable({});
    same(await describe(TableName), { TimeToLiveStatus: 'DISABLED' });
    same((await update(TableName, true)).TimeToLiveSpecification, { Enabled: true, AttributeName: 'expires' });
    same(await describe(TableName), { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
    const { TableArn } = (await call('DescribeTable', { TableName })).Table;
    same(await describe(TableArn), { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
    await fails(update(TableName, true), VALIDATION, 'TimeToLive is already enabled');
    await fails(update(TableName, true, 'other'), VALIDATION,
        'TimeToLive is active on a different AttributeName: current AttributeName is expires');
    await fails(update(TableName, false, 'other'), VALIDATION,
        'TimeToLive is active on a different AttributeName: current AttributeName is expires');
    same((await update(TableName, false)).TimeToLiveSpecification, { Enabled: false, AttributeName: 'expires' });
    await fails(update(TableName, false), VALIDATION, 'TimeToLive is already disabled');
    await update(TableArn, true, 'other');
    same(await describe(TableName), { TimeToLiveStatus: 'ENABLED', AttributeName: 'other' });
});

test('what has expired goes, from the table and its indexes', async () => {
    const TableName = await makeTable({ gsi: { byG: ['g'] } });
    const item = (pk, expires) => ({ pk: S(pk), g: S('all'), ...(expires && { expires }) });
    await put(TableName, item('before', seconds(-60))); // there before it is turned on
    await update(TableName, true);
    const kept = {
        later: seconds(3600), text: S(seconds(-60).N), ages: seconds(-6 * 365 * 24 * 3600),
        millis: N(Date.now()), none: undefined,
    };
    for (const [pk, expires] of Object.entries(kept)) await put(TableName, item(pk, expires));
    await put(TableName, item('spared', seconds(3600)));
    await put(TableName, item('after', seconds(-60)));
    await put(TableName, item('fraction', N(seconds(-60).N + '.5')));
    await put(TableName, item('soon', seconds(1)));
    const gone = async (pk) => !(await get(TableName, { pk: S(pk) }));
    for (const pk of ['before', 'after', 'fraction', 'soon']) await waitFor(pk + ' gone', () => gone(pk));
    const { Items } = await call('Query', {
        TableName, IndexName: 'byG', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': S('all') },
    });
    assert.deepEqual(Items.map((i) => i.pk.S).sort(), [...Object.keys(kept), 'spared'].sort());
    // Turned off, nothing goes any more.
    await update(TableName, false);
    await put(TableName, item('stays', seconds(-60)));
    await new Promise((done) => setTimeout(done, 1500));
    assert.equal(await gone('stays'), false);
});

const specification = { Enabled: true, AttributeName: 'expires' };
errorCases('UpdateTimeToLive', [
    ['no such table', { TableName: 'js-none-such', TimeToLiveSpecification: specification }, NOT_FOUND],
    ['a name too short', { TableName: 'x', TimeToLiveSpecification: specification }, VALIDATION],
    ['no specification', { TableName: 'js-none-such' }, VALIDATION],
    ['no attribute', { TableName: 'js-none-such', TimeToLiveSpecification: { Enabled: true } }, VALIDATION],
    ['an empty attribute', { TableName: 'js-none-such', TimeToLiveSpecification: { Enabled: true, AttributeName: '' } }, VALIDATION],
    ['a long attribute', { TableName: 'js-none-such', TimeToLiveSpecification: { Enabled: true, AttributeName: 'x'.repeat(256) } }, VALIDATION],
    ['neither on nor off', { TableName: 'js-none-such', TimeToLiveSpecification: { AttributeName: 'expires' } }, VALIDATION],
]);
errorCases('DescribeTimeToLive', [
    ['no such table', { TableName: 'js-none-such' }, NOT_FOUND],
    ['no name', {}, VALIDATION],
]);
