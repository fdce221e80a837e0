// Every access pattern of the asset pipeline's database design, with the key condition written
// there, and by its name in models/asset-creator.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';

import { entities } from './entities.mjs';
import { assert, call, http, items, pattern, query, serve, server, test } from './lib.mjs';

serve('asset-creator', ['--tenant-header', 'x-tenant']);

const table = 'asset_creator';
const data = (entity) => items('asset-creator', table, entity);
const jobs = data('Job');
const steps = data('Step');
const versions = data('AssetVersion');
const [job] = jobs;
const project_id = job.PK.slice(8);
const job_id = job.SK.slice(4);
const inProject = (list, prefix) => () => list.filter((item) => item.PK === job.PK && item.SK.startsWith(prefix));
const bySk = { order: (item) => item.SK };
const single = { same: () => '' };

const begins = (title, pk, sk, named, rest) =>
    pattern(title, {
        table,
        keys: sk === undefined ? 'PK = :pk' : 'PK = :pk AND begins_with(SK, :sk)',
        values: sk === undefined ? { ':pk': pk } : { ':pk': pk, ':sk': sk },
        named,
        ...bySk,
        ...rest,
    });
const via = (title, index, pk, named, rest) =>
    pattern(title, { table, index, keys: `${index}PK = :pk`, values: { ':pk': pk }, named, ...rest });

// ---- The document's list ----------------------------------------------------------------------

begins('List jobs by project', job.PK, 'JOB#', ['jobsOfProject', { project_id }], { found: inProject(jobs, 'JOB#') });
pattern('Get job', {
    table,
    get: { PK: job.PK, SK: job.SK },
    named: ['job', { project_id, job_id }],
    found: () => [job],
    ...single,
});
begins('List steps by job', `JOB#${job_id}`, undefined, ['stepsOfJob', { job_id }], {
    found: () => steps.filter((step) => step.PK === `JOB#${job_id}`),
});

// Assets 1 and 0 have fewer and more than nine versions.
const prefix = (n) => `ASSET#asset_0${n}#V#`;
const of = (n) => () => versions.filter((version) => version.SK.startsWith(prefix(n)));
const byNumber = (version) => Number(version.SK.split('#V#')[1]);
const last = (n) => () => [of(n)().sort((a, b) => byNumber(b) - byNumber(a))[0]];
const asset = (n) => ({ project_id: of(n)()[0].PK.slice(8), asset_id: `asset_0${n}` });
for (const n of [0, 1]) {
    begins(`All versions of an asset, sort desc (asset_0${n})`, of(n)()[0].PK, prefix(n),
        ['assetVersionsByKey', asset(n)], { found: of(n), descending: true });
    pattern(`All versions of an asset by number (asset_0${n})`, {
        table,
        index: 'assetVersions',
        keys: 'project_id = :p AND asset_id = :a',
        values: { ':p': asset(n).project_id, ':a': asset(n).asset_id },
        named: ['assetVersions', asset(n)],
        found: of(n),
        order: byNumber,
        descending: true,
    });
}

const documentedLatest = async (n) => {
    const values = { ':pk': of(n)()[0].PK, ':sk': prefix(n) };
    const page = await call('Query', {
        TableName: table,
        KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
        ExpressionAttributeValues: values,
        ScanIndexForward: false,
        Limit: 1,
    });
    assert.equal(page.ScannedCount, 1);
    return page.Items[0];
};
const namedLatest = (n) =>
    query(table, 'latestAssetVersion', ...Object.entries(asset(n)).map(([name, value]) => `${name}=${value}`));

test('Get latest asset version', async () => {
    const [wanted] = last(1)();
    assert.equal((await documentedLatest(1)).SK, wanted.SK);
    const found = await namedLatest(1);
    assert.deepEqual(found.map((item) => item.SK), [wanted.SK]);
});

test('Get latest asset version beyond 9: the document sorts text, the model numbers', async () => {
    const [wanted] = last(0)();
    assert.equal(byNumber(wanted), 12);
    assert.equal(byNumber(await documentedLatest(0)), 9);
    const found = await namedLatest(0);
    assert.deepEqual(found.map(({ SK, version }) => [SK, version]), [[wanted.SK, 12]]);
});

via('Browsing assets by type/time', 'GSI3', 'ASSET_TYPE#3D', ['assetsByType', { type: '3D' }], {
    found: () => versions.filter((version) => version.type === '3D'),
    order: (version) => version.created_at,
    descending: true,
});
via('Jobs in progress', 'GSI1', 'JOB_STATUS#running', ['jobsInProgress', {}], {
    found: () => jobs.filter((one) => one.status === 'running'),
    order: (one) => one.updated_at,
});
via('Jobs by status', 'GSI1', 'JOB_STATUS#failed', ['jobsByStatus', { status: 'failed' }], {
    found: () => jobs.filter((one) => one.status === 'failed'),
    order: (one) => one.updated_at,
});
const ts = (step) => step.SK.split('#')[2];
via('Steps awaiting review', 'GSI2', 'STEP_STATUS#paused', ['stepsAwaitingReview', {}], {
    found: () => steps.filter((step) => step.status === 'paused'),
    order: ts,
});
via('Steps by status', 'GSI2', 'STEP_STATUS#failed', ['stepsByStatus', { status: 'failed' }], {
    found: () => steps.filter((step) => step.status === 'failed'),
    order: ts,
});

// ---- What the keys are for, though the list does not name it ----------------------------------

const get = (title, item, named) =>
    pattern(title, { table, get: { PK: item.PK, SK: item.SK }, named, found: () => [item], ...single });
const [project] = data('Project');
const [event] = data('Outbox');
const [idempotency] = data('Idempotency');
get('Project by its key', project, ['project', { project_id: project.PK.slice(8) }]);
get('Outbox event by its key', event, ['event', { event_id: event.PK.slice(7) }]);
get('Idempotency key', idempotency, ['idempotency', { key: idempotency.PK.slice(12) }]);
begins('Audit log of a project', job.PK, 'AUDIT#', ['auditOfProject', { project_id }], {
    found: inProject(data('Audit'), 'AUDIT#'),
});

test('Changes of a project, by its name', async () => {
    const [name, parameters] = ['changesOfProject', { project_id, limit: 1000 }];
    const { body } = await http('GET', `/v1/asset_creator/${name}?${new URLSearchParams(parameters)}`);
    const jobs = inProject(data('Job'), 'JOB#')();
    const inserted = body.items.filter(({ event, after }) => event === 'insert' && after.SK.startsWith('JOB#'));
    assert.deepEqual(inserted.map(({ after }) => after.SK).sort(), jobs.map(({ SK }) => SK).sort());
    assert.ok(body.items.every(({ before }) => before === undefined));
});

// ---- What the document shows ------------------------------------------------------------------

test('The job item of the document is stored as it is', async () => {
    const example = {
        PK: 'PROJECT#prj_001',
        SK: 'JOB#job_123_example',
        asset_type: '3D_CHARACTER',
        status: 'running',
        current_step: 'retopo',
        created_at: '2026-01-29T08:00:00Z',
        updated_at: '2026-01-29T08:15:00Z',
        GSI1PK: 'JOB_STATUS#running',
        GSI1SK: '2026-01-29T08:15:00Z',
    };
    await call('Put', { TableName: table, Item: example });
    const Key = { PK: example.PK, SK: example.SK };
    const { Item } = await call('Get', { TableName: table, Key });
    assert.deepEqual(Item, { ...example, project_id: 'prj_001', job_id: 'job_123_example' });
    await call('Delete', { TableName: table, Key });
});

test('An idempotency key is hashed from what the document lists, and lives 72 hours', async () => {
    const inputs = {
        project_id: 'prj_001', asset_type: '3D_PROP', step_name: 'rig', inputs: '{}', seed: '7', model_version: 'v2',
    };
    const created_at = new Date(Date.now() - 3600e3).toISOString();
    const made = await http('POST', `/v1/${table}/Idempotency`, { ...inputs, created_at });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.match(made.body.key, /^[0-9a-f]{64}$/);
    assert.equal(made.body.ttl, Math.floor(Date.parse(created_at) / 1000) + 72 * 3600);
    const again = await http('POST', `/v1/${table}/Idempotency`, { ...inputs, created_at });
    assert.equal(again.status, 409);
    const other = await http('POST', `/v1/${table}/Idempotency`, { ...inputs, seed: '8', created_at });
    assert.equal(other.status, 201);
    for (const { key } of [made.body, other.body]) {
        const Key = { PK: `IDEMPOTENCY#${key}`, SK: `IDEMPOTENCY#${key}` };
        const { Attributes } = await call('Delete', { TableName: table, Key, ReturnValues: 'ALL_OLD' });
        assert.equal(Attributes.key, key);
    }
});

test('A change and its event are written together, or not at all', async () => {
    const change = (event) => call('TransactWrite', { TransactItems: [
        { Put: { TableName: table, Item: { PK: 'PROJECT#prj_tx', SK: 'JOB#job_tx', asset_type: '3D_PROP', status: 'running' } } },
        { Put: { TableName: table, Item: event } },
    ] });
    const there = async (PK, SK) => (await call('Get', { TableName: table, Key: { PK, SK }, ConsistentRead: true })).Item;
    const event = { PK: 'OUTBOX#evt_tx', SK: 'OUTBOX#evt_tx', type: 'job.running', payload: { job_id: 'job_tx' } };
    await assert.rejects(change({ ...event, status: 'lost' }), { name: 'TransactionCanceledException' });
    assert.equal(await there('PROJECT#prj_tx', 'JOB#job_tx'), undefined);
    await change(event);
    assert.equal((await there('PROJECT#prj_tx', 'JOB#job_tx')).GSI1PK, 'JOB_STATUS#running');
    assert.equal((await there(event.PK, event.SK)).status, 'pending');
    await call('Delete', { TableName: table, Key: { PK: 'PROJECT#prj_tx', SK: 'JOB#job_tx' } });
    await call('Delete', { TableName: table, Key: { PK: event.PK, SK: event.SK } });
});

test('A project is a namespace: its partition has its own items only', async () => {
    const values = { ':pk': job.PK };
    const keys = { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: values };
    const { Items } = await call('Query', { TableName: table, ...keys });
    assert.ok(Items.length > 0);
    for (const item of Items) assert.equal(item.project_id, project_id);
});

// The SDK as a proxy has it: each request names its tenant.
function boundTo(tenant) {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
    const name = (next) => (args) => {
        args.request.headers['x-tenant'] = tenant;
        return next(args);
    };
    client.middlewareStack.add(name, { step: 'build' });
    return DynamoDBDocumentClient.from(client);
}

test('Tenants are kept apart by the server', async () => {
    const own = boundTo(project_id);
    const other = boundTo('prj_other');
    const Key = { PK: job.PK, SK: 'JOB#job_own' };
    const fresh = { ...Key, asset_type: '2D', status: 'running' };
    await own.send(new PutCommand({ TableName: table, Item: fresh }));
    const { Items } = await own.send(new ScanCommand({ TableName: table }));
    assert.ok(Items.length > 0);
    for (const item of Items) assert.equal(item.project_id, project_id);
    assert.equal((await own.send(new GetCommand({ TableName: table, Key }))).Item.status, 'running');
    assert.equal((await other.send(new GetCommand({ TableName: table, Key }))).Item, undefined);
    assert.deepEqual((await other.send(new ScanCommand({ TableName: table }))).Items, []);
    const Item = { ...fresh, status: 'stolen' };
    const refused = { name: 'AccessDeniedException' };
    await assert.rejects(other.send(new PutCommand({ TableName: table, Item })), refused);
    assert.equal((await call('Get', { TableName: table, Key })).Item.status, 'running');
    await call('Delete', { TableName: table, Key });
    own.destroy();
    other.destroy();
});

entities('asset-creator', () => table);
