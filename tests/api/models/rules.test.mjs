// What the asset pipeline's document promises to happen by itself: events and their publisher, retention, repetition, tenants.
import { mkdtempSync, readdirSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { after } from 'node:test';
import { assert, call, dolmen, http, modelFile, serve, server, test } from './lib.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-rules.'));
after(() => rmSync(directory, { recursive: true, force: true }));
serve(['--admin', '--archive', path.join(directory, 'archive'), '--retain-every', '1s', '--publish-files', directory,
    '--tenant-header', 'x-project'], async () => {
    await http('POST', '/admin/clock', { now: '2026-03-01T00:00:00Z' });
    await dolmen('apply', modelFile('asset-creator'));
});

const TableName = 'asset_creator';
const put = (Item, more) => call('Put', { TableName, Item, ...more });
const get = async (PK, SK) => (await call('Get', { TableName, Key: { PK, SK }, ConsistentRead: true })).Item;
const job = (project, id, more = {}) => ({ PK: `PROJECT#${project}`, SK: `JOB#${id}`, asset_type: '3D', status: 'queued', ...more });
const query = async (PK, prefix) => (await call('Query', {
    TableName, KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)', ExpressionAttributeValues: { ':pk': PK, ':sk': prefix }, ConsistentRead: true,
})).Items;
const events = async () => (await call('Scan', { TableName, ConsistentRead: true })).Items.filter(({ PK }) => PK.startsWith('OUTBOX#'));

// Asks again until it holds: what happens beside requests takes its time.
async function eventually(holds, what) {
    for (let tries = 0; tries < 300; tries++) {
        if (await holds()) return;
        await wait(50);
    }
    assert.fail(what);
}

test('A job and its event are written in one transaction', async () => {
    await put(job('events', 'e1'));
    await call('Update', {
        TableName, Key: { PK: 'PROJECT#events', SK: 'JOB#e1' }, UpdateExpression: 'SET #s = :s', ExpressionAttributeNames: { '#s': 'status' },
        ExpressionAttributeValues: { ':s': 'running' },
    });
    await assert.rejects(call('TransactWrite', {
        TransactItems: [{ Put: { TableName, Item: job('events', 'e2') } },
            { ConditionCheck: { TableName, Key: { PK: 'no', SK: 'such' }, ConditionExpression: 'attribute_exists(PK)' } }],
    }), { name: 'TransactionCanceledException' });
    const found = (await events()).filter(({ payload }) => payload.project_id === 'events');
    assert.deepEqual(found.map(({ type }) => type).sort(), ['job.queued', 'job.running']);
    assert.deepEqual(found.find(({ type }) => type === 'job.running').payload, await get('PROJECT#events', 'JOB#e1'));
});

test('Events are published, and marked', async () => {
    const file = path.join(directory, 'asset-creator-events.jsonl');
    await eventually(async () => (await events()).every(({ status }) => status === 'published'), 'an event is not marked');
    const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    const text = JSON.stringify(lines);
    for (const { event_id } of await events()) assert.ok(text.includes(event_id), `${event_id} is not in the file`);
});

// Everything that lies in the archive, as text.
function archived(place = path.join(directory, 'archive')) {
    if (!existsSync(place)) return '';
    return readdirSync(place, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.gz'))
        .map((entry) => gunzipSync(readFileSync(path.join(entry.parentPath ?? entry.path, entry.name))).toString()).join('\n');
}

test('Jobs and steps are kept for 90 days, and archived', async () => {
    const step = (id, ts) => ({ PK: `JOB#${id}`, SK: `STEP#rig#${ts}`, status: 'done' });
    await put(job('old', 'a', { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }));
    await put(job('old', 'b', { created_at: '2026-02-20T00:00:00Z', updated_at: '2026-02-20T00:00:00Z' }));
    await put(step('a', '2026-01-01T00:00:00Z'));
    await put(step('b', '2026-02-20T00:00:00Z'));
    await http('POST', '/admin/clock', { now: '2026-03-31T23:00:00Z' });
    await wait(100);
    assert.ok(await get('PROJECT#old', 'JOB#a'), 'it is 89 days old');
    await http('POST', '/admin/clock', { now: '2026-04-02T00:00:00Z' });
    await eventually(async () => !(await get('PROJECT#old', 'JOB#a')) && (await query('JOB#a', 'STEP#')).length === 0, 'the old job is still there');
    assert.ok(await get('PROJECT#old', 'JOB#b'));
    assert.equal((await query('JOB#b', 'STEP#')).length, 1);
    await eventually(() => archived().includes('STEP#rig#2026-01-01T00:00:00Z'), 'the step is not in the archive');
    assert.ok(archived().includes('"JOB#a"'));
    assert.ok(!archived().includes('"JOB#b"'));
});

test('The latest ten versions of an asset are kept', async () => {
    for (let version = 1; version <= 12; version++) await put({ PK: 'PROJECT#keeps', SK: `ASSET#kept#V#${version}`, type: '3D' });
    await put({ PK: 'PROJECT#keeps', SK: 'ASSET#other#V#1', type: '3D' });
    await http('POST', '/admin/clock', { advance_seconds: 5 });
    await eventually(async () => (await query('PROJECT#keeps', 'ASSET#kept#')).length === 10, 'there are not ten versions');
    const left = (await query('PROJECT#keeps', 'ASSET#')).map(({ asset_id, version }) => `${asset_id} ${version}`).sort();
    assert.deepEqual(left, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((version) => `kept ${version}`).concat('other 1').sort());
    await eventually(() => archived().includes('ASSET#kept#V#2'), 'version 2 is not in the archive');
});

test('A repeated step is answered with the first result', async () => {
    const step = (ts, status, key) => ({ PK: 'JOB#repeats', SK: `STEP#rig#${ts}`, status, artifacts: [status], idempotency_key: key });
    const first = await http('POST', '/v1/asset_creator/Step', {
        job_id: 'repeats', step_name: 'rig', ts: '2026-04-02T00:00:00Z', status: 'done', artifacts: ['rig.glb'], idempotency_key: 'inputs-1',
    });
    assert.equal(first.status, 201);
    const again = await call('Put', { TableName, Item: step('2026-04-02T00:00:05Z', 'queued', 'inputs-1'), ReturnValues: 'ALL_OLD' });
    assert.deepEqual(again.Attributes.artifacts, ['rig.glb']);
    await put(step('2026-04-02T00:00:09Z', 'queued', 'inputs-2'));
    assert.deepEqual((await query('JOB#repeats', 'STEP#')).map(({ status }) => status), ['done', 'queued']);
});

test('A tenant sees and writes its own project only', async () => {
    await put(job('mine', 'm1'));
    await put(job('theirs', 't1'));
    const as = async (project, method, target, body) => {
        const response = await fetch(server.endpoint + target, {
            method, headers: { 'content-type': 'application/json', 'x-project': project }, body: body && JSON.stringify(body),
        });
        return { status: response.status, body: await response.json().catch(() => undefined) };
    };
    const list = (project) => `/v1/asset_creator/jobsOfProject?project_id=${project}`;
    assert.equal((await as('mine', 'GET', list('mine'))).body.items.length, 1);
    assert.equal((await as('mine', 'GET', list('theirs'))).body.items?.length ?? 0, 0);
    const foreign = await as('mine', 'GET', '/v1/asset_creator/Job?project_id=theirs&job_id=t1');
    assert.deepEqual(foreign, await as('mine', 'GET', '/v1/asset_creator/Job?project_id=theirs&job_id=none'));
    assert.ok((await as('mine', 'DELETE', '/v1/asset_creator/Job?project_id=theirs&job_id=t1')).status !== 200);
    const written = await as('mine', 'POST', '/v1/asset_creator/Job', { project_id: 'theirs', job_id: 't2', asset_type: '3D', status: 'queued' });
    assert.ok(written.status >= 400, JSON.stringify(written));
    assert.ok(await get('PROJECT#theirs', 'JOB#t1'));
    assert.equal(await get('PROJECT#theirs', 'JOB#t2'), undefined);
});
