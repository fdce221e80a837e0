// The control plane: resource policies, Contributor Insights and what they count, Kinesis
// destinations and what they deliver, global tables, auto scaling, and what infrastructure tools
// read of a table. The states and messages in detail are in tests/golden/control_*.txt.
import { after, test } from 'node:test';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import {
    assert, call, endpoint, errorCases, fails, foreign, get, makeClient, makeTable, N, NOT_FOUND, put, REAL, S, same, sdk,
    tableSpec, uniqueName, VALIDATION, waitFor,
} from './lib.mjs';

const arnOf = (name) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
const policyFor = (name, Effect = 'Allow', Action = 'dynamodb:*') =>
    JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect, Principal: '*', Action, Resource: arnOf(name) }],
    });

// ---- A server of our own ---------------------------------------------------------

// Starts a server with these options; answers { client, url, call, stop }.
async function serve(...options) {
    const child = spawn(process.env.DOLMEN_BIN, ['serve', '--port', '0', '--admin', ...options], {
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const url = String(line).match(/http:\S+/)[0];
    const client = makeClient({ endpoint: url });
    const stop = async () => {
        client.destroy();
        if (child.exitCode !== null) return;
        child.kill('SIGTERM');
        await once(child, 'exit');
    };
    after(stop);
    return { client, url, stop, call: (op, input) => client.send(new sdk[op + 'Command'](input)) };
}
function directory() {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'dolmen-control-'));
    after(() => fs.rmSync(made, { recursive: true, force: true }));
    return made;
}
const OWN = { skip: foreign || !process.env.DOLMEN_BIN ? 'needs a server of our own' : false };
const insightsOf = async (url, table) =>
    (await (await fetch(`${url}/admin/insights?table=${table}`)).json()).insights;

// ---- Resource policies -------------------------------------------------------------

test('A policy is put, read, replaced under its revision, and deleted', REAL, async () => {
    const name = await makeTable();
    const ResourceArn = arnOf(name);
    await fails(call('GetResourcePolicy', { ResourceArn }), 'PolicyNotFoundException');
    const first = await call('PutResourcePolicy', { ResourceArn, Policy: policyFor(name) });
    assert.match(first.RevisionId, /^\d+$/);
    const read = await call('GetResourcePolicy', { ResourceArn });
    assert.equal(read.Policy, policyFor(name));
    assert.equal(read.RevisionId, first.RevisionId);
    const second = await call('PutResourcePolicy', {
        ResourceArn, Policy: policyFor(name, 'Deny', 'dynamodb:Scan'), ExpectedRevisionId: first.RevisionId,
    });
    assert.notEqual(second.RevisionId, first.RevisionId);
    await fails(
        call('DeleteResourcePolicy', { ResourceArn, ExpectedRevisionId: first.RevisionId }),
        'PolicyNotFoundException',
    );
    const gone = await call('DeleteResourcePolicy', { ResourceArn });
    assert.equal(gone.RevisionId, second.RevisionId);
    await fails(call('GetResourcePolicy', { ResourceArn }), 'PolicyNotFoundException');
});

errorCases('PutResourcePolicy', [
    ['no JSON', { ResourceArn: arnOf('none'), Policy: '{' }, VALIDATION, /not JSON/],
    ['no table', { ResourceArn: arnOf('none'), Policy: policyFor('none') }, NOT_FOUND,
        'Requested resource not found: Table: none not found'],
], { real: true });

// ---- Contributor Insights ------------------------------------------------------------

test('Insights count the keys that are asked for', OWN, async () => {
    const server = await serve('--memory');
    const spec = tableSpec({ key: ['pk', 'sk:N'], gsi: { byColor: ['color'] } });
    const TableName = spec.TableName;
    await server.call('CreateTable', spec);
    const Item = (pk, sk, color) => ({ pk: S(pk), sk: N(sk), color: S(color) });
    await server.call('PutItem', { TableName, Item: Item('before', 0, 'red') });
    for (const IndexName of [undefined, 'byColor'])
        await server.call('UpdateContributorInsights', {
            TableName, IndexName, ContributorInsightsAction: 'ENABLE',
        });
    for (let i = 0; i < 5; i++) await server.call('PutItem', { TableName, Item: Item('hot', i % 2, 'red') });
    for (let i = 0; i < 3; i++)
        await server.call('GetItem', { TableName, Key: { pk: S('warm'), sk: N(7) } });
    await server.call('BatchGetItem', { RequestItems: { [TableName]: { Keys: [{ pk: S('hot'), sk: N(0) }] } } });
    await server.call('TransactGetItems', {
        TransactItems: [{ Get: { TableName, Key: { pk: S('hot'), sk: N(0) } } }],
    });
    await server.call('Query', {
        TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('hot') },
    });
    await server.call('UpdateItem', {
        TableName, Key: { pk: S('hot'), sk: N(1) }, UpdateExpression: 'SET color = :c',
        ExpressionAttributeValues: { ':c': S('blue') },
    });
    const insights = await insightsOf(server.url, TableName);
    const table = insights.find((x) => !x.index);
    same(table.partition_keys, [
        { key: { pk: S('hot') }, count: 10, error: 0 },
        { key: { pk: S('warm') }, count: 3, error: 0 },
    ]);
    same(table.keys[0], { key: { pk: S('hot'), sk: N(0) }, count: 6, error: 0 });
    assert.equal(table.accesses, 13);
    assert.equal(table.throttled, 0);
    const index = insights.find((x) => x.index === 'byColor');
    same(index.partition_keys, [
        { key: { color: S('red') }, count: 2, error: 0 },
        { key: { color: S('blue') }, count: 1, error: 0 },
    ]);
    await server.call('UpdateContributorInsights', { TableName, ContributorInsightsAction: 'DISABLE' });
    assert.equal((await insightsOf(server.url, TableName)).length, 1);
    await server.stop();
});

test('Insights count the keys that are refused, and survive a restart', OWN, async () => {
    const data = directory();
    let server = await serve('--data', data, '--enforce-capacity');
    const TableName = uniqueName('throttled');
    await server.call('CreateTable', {
        ...tableSpec({ name: TableName }), BillingMode: 'PROVISIONED',
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
    });
    await server.call('UpdateContributorInsights', {
        TableName, ContributorInsightsAction: 'ENABLE', ContributorInsightsMode: 'THROTTLED_KEYS',
    });
    let refused = 0;
    for (let i = 0; i < 40; i++)
        await server
            .call('PutItem', { TableName, Item: { pk: S('wanted'), big: S('x'.repeat(4000)) } })
            .catch((error) => (refused += error.name === 'ProvisionedThroughputExceededException'));
    assert.ok(refused > 0);
    const [table] = await insightsOf(server.url, TableName);
    assert.equal(table.accesses, 0);
    same(table.throttled_partition_keys, [{ key: { pk: S('wanted') }, count: refused, error: 0 }]);
    await server.stop();
    server = await serve('--data', data);
    const again = await server.call('DescribeContributorInsights', { TableName });
    assert.equal(again.ContributorInsightsStatus, 'ENABLED');
    assert.equal(again.ContributorInsightsMode, 'THROTTLED_KEYS');
    assert.equal((await insightsOf(server.url, TableName)).length, 1);
    await server.stop();
});

test('Insights are listed page by page', REAL, async () => {
    const name = await makeTable({ gsi: { one: ['a'], two: ['b'] } });
    const seen = [];
    for await (const page of sdk.paginateListContributorInsights(
        { client: makeClient(), pageSize: 1 }, { TableName: name }))
        seen.push(...page.ContributorInsightsSummaries.map((x) => x.IndexName ?? ''));
    assert.deepEqual(seen, ['', 'one', 'two']);
});

// ---- Kinesis --------------------------------------------------------------------------------

const streamArn = (name) => `arn:aws:kinesis:us-east-1:000000000000:stream/${name}`;
const lines = (file) =>
    fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean).map((x) => JSON.parse(x)) : [];

test('Changes are appended to the file of the stream, over a restart', OWN, async () => {
    const data = directory();
    const root = path.join(data, 'streams');
    let server = await serve('--data', path.join(data, 'db'), '--kinesis-root', root);
    const TableName = uniqueName('kinesis');
    await server.call('CreateTable', tableSpec({ name: TableName }));
    await server.call('PutItem', { TableName, Item: { pk: S('before'), v: N(0) } });
    const StreamArn = streamArn('changes');
    await server.call('EnableKinesisStreamingDestination', { TableName, StreamArn });
    const { KinesisDataStreamDestinations: [active] } =
        await server.call('DescribeKinesisStreamingDestination', { TableName });
    assert.equal(active.DestinationStatus, 'ACTIVE');
    assert.equal(active.DestinationStatusDescription, undefined);
    const Key = { pk: S('a') };
    await server.call('PutItem', { TableName, Item: { ...Key, v: N(1) } });
    await server.call('PutItem', { TableName, Item: { ...Key, v: N(2) } });
    await server.call('DeleteItem', { TableName, Key });
    const file = path.join(root, 'changes.jsonl');
    await waitFor('three records', () => lines(file).length === 3);
    const records = lines(file);
    assert.deepEqual(records.map((x) => x.eventName), ['INSERT', 'MODIFY', 'REMOVE']);
    const [insert, modify, remove] = records;
    assert.equal(insert.awsRegion, 'us-east-1');
    assert.equal(insert.recordFormat, 'application/json');
    assert.equal(insert.eventSource, 'aws:dynamodb');
    assert.equal(insert.tableName, TableName);
    assert.equal(insert.userIdentity, null);
    assert.match(insert.eventID, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.ok(Math.abs(insert.dynamodb.ApproximateCreationDateTime - Date.now()) < 60000);
    same(insert.dynamodb.Keys, Key);
    same(insert.dynamodb.NewImage, { ...Key, v: N(1) });
    assert.equal(insert.dynamodb.OldImage, undefined);
    assert.equal(insert.dynamodb.SizeBytes, 3 + 6);
    same(modify.dynamodb.OldImage, { ...Key, v: N(1) });
    same(modify.dynamodb.NewImage, { ...Key, v: N(2) });
    same(remove.dynamodb.OldImage, { ...Key, v: N(2) });
    assert.equal(new Set(records.map((x) => x.eventID)).size, 3);

    await server.call('UpdateKinesisStreamingDestination', {
        TableName, StreamArn,
        UpdateKinesisStreamingConfiguration: { ApproximateCreationDateTimePrecision: 'MICROSECOND' },
    });
    await server.stop();
    server = await serve('--data', path.join(data, 'db'), '--kinesis-root', root);
    await server.call('PutItem', { TableName, Item: { pk: S('b') } });
    await waitFor('the fourth record', () => lines(file).length === 4);
    const fourth = lines(file)[3];
    assert.equal(fourth.dynamodb.ApproximateCreationDateTimePrecision, 'MICROSECOND');
    assert.ok(fourth.dynamodb.ApproximateCreationDateTime > 1e15);

    // What was written before it was disabled is still delivered, and nothing after.
    await server.call('PutItem', { TableName, Item: { pk: S('c') } });
    await server.call('DisableKinesisStreamingDestination', { TableName, StreamArn });
    await server.call('PutItem', { TableName, Item: { pk: S('d') } });
    await waitFor('the fifth record', () => lines(file).length === 5);
    await server.call('EnableKinesisStreamingDestination', { TableName, StreamArn });
    await server.call('PutItem', { TableName, Item: { pk: S('e') } });
    await waitFor('the sixth record', () => lines(file).length >= 6);
    assert.deepEqual(lines(file).slice(3).map((x) => x.dynamodb.Keys.pk.S), ['b', 'c', 'e']);
    await server.stop();
});

test('Changes are posted to an endpoint, again and again until it takes them', OWN, async () => {
    const posts = [];
    let refuse = 2;
    const kinesis = http.createServer((request, response) => {
        const chunks = [];
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => {
            response.statusCode = refuse > 0 ? 500 : 200;
            if (refuse-- <= 0)
                posts.push({ target: request.headers['x-amz-target'], ...JSON.parse(Buffer.concat(chunks)) });
            response.end(JSON.stringify({ ShardId: 'shardId-000000000000', SequenceNumber: '1' }));
        });
    });
    kinesis.listen(0, '127.0.0.1');
    await once(kinesis, 'listening');
    after(() => (kinesis.closeAllConnections(), kinesis.close()));
    const server = await serve('--memory', '--kinesis-endpoint', `http://127.0.0.1:${kinesis.address().port}`);
    const TableName = uniqueName('endpoint');
    await server.call('CreateTable', tableSpec({ name: TableName }));
    await server.call('EnableKinesisStreamingDestination', { TableName, StreamArn: streamArn('posted') });
    for (let i = 0; i < 5; i++) await server.call('PutItem', { TableName, Item: { pk: S(`k${i % 2}`), i: N(i) } });
    await waitFor('five posts', () => posts.length === 5);
    assert.ok(posts.every((x) => x.target === 'Kinesis_20131202.PutRecord' && x.StreamName === 'posted'));
    const records = posts.map((x) => JSON.parse(Buffer.from(x.Data, 'base64')));
    assert.deepEqual(records.map((x) => x.dynamodb.NewImage.i.N), ['0', '1', '2', '3', '4']);
    assert.equal(posts[0].PartitionKey, posts[2].PartitionKey);
    assert.notEqual(posts[0].PartitionKey, posts[1].PartitionKey);
    await server.stop();
});

errorCases('EnableKinesisStreamingDestination', [
    ['no table', { TableName: 'none', StreamArn: streamArn('x') }, NOT_FOUND,
        'Requested resource not found: Table: none not found'],
    ['no stream of Kinesis', { TableName: 'none', StreamArn: arnOf('x') }, VALIDATION, /Invalid StreamArn/],
], { real: true });

// ---- Global tables and auto scaling -----------------------------------------------------------

test('A global table has one replica', REAL, async () => {
    const name = await makeTable({
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    const group = (...regions) => regions.map((RegionName) => ({ RegionName }));
    await fails(call('DescribeGlobalTable', { GlobalTableName: name }), 'GlobalTableNotFoundException');
    await fails(
        call('CreateGlobalTable', { GlobalTableName: name, ReplicationGroup: group('us-east-1', 'eu-west-1') }),
        'TableNotFoundException',
    );
    await call('CreateGlobalTable', { GlobalTableName: name, ReplicationGroup: group('us-east-1') });
    const { GlobalTableDescription } = await call('DescribeGlobalTable', { GlobalTableName: name });
    assert.equal(GlobalTableDescription.GlobalTableStatus, 'ACTIVE');
    same(GlobalTableDescription.ReplicationGroup, group('us-east-1'));
    const { GlobalTables } = await call('ListGlobalTables', {});
    assert.ok(GlobalTables.some((x) => x.GlobalTableName === name));
    const update = (ReplicaUpdates) => call('UpdateGlobalTable', { GlobalTableName: name, ReplicaUpdates });
    await fails(update([{ Create: { RegionName: 'us-east-1' } }]), 'ReplicaAlreadyExistsException');
    await fails(update([{ Delete: { RegionName: 'eu-west-1' } }]), 'ReplicaNotFoundException');
    await call('UpdateGlobalTableSettings', {
        GlobalTableName: name, GlobalTableBillingMode: 'PROVISIONED', GlobalTableProvisionedWriteCapacityUnits: 7,
    });
    const settings = await call('DescribeGlobalTableSettings', { GlobalTableName: name });
    assert.equal(settings.ReplicaSettings[0].ReplicaProvisionedWriteCapacityUnits, 7);
    const { Table } = await call('DescribeTable', { TableName: name });
    assert.equal(Table.ProvisionedThroughput.WriteCapacityUnits, 7);
    await call('UpdateTableReplicaAutoScaling', {
        TableName: name,
        ProvisionedWriteCapacityAutoScalingUpdate: {
            MinimumUnits: 1, MaximumUnits: 10,
            ScalingPolicyUpdate: { TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 } },
        },
    });
    const scaling = await call('DescribeTableReplicaAutoScaling', { TableName: name });
    const write = scaling.TableAutoScalingDescription.Replicas[0].ReplicaProvisionedWriteCapacityAutoScalingSettings;
    assert.equal(write.MaximumUnits, 10);
    assert.equal(write.ScalingPolicies[0].TargetTrackingScalingPolicyConfiguration.TargetValue, 70);
});

// ---- Bulk operations ------------------------------------------------------------------------

test('What bulk operations are not there', REAL, async () => {
    const BulkOperationArn = arnOf('none') + '/bulk/1';
    same(await call('ListBulkOperations', {}), { BulkOperationsSummaryList: [] });
    await fails(call('DescribeBulkOperation', { BulkOperationArn }), NOT_FOUND);
    await fails(call('CancelBulkOperation', { BulkOperationArn }), NOT_FOUND);
    await fails(
        call('StartBulkPutItems', {
            TableName: 'none',
            InputS3Configuration: { S3Bucket: 'box', InputFormat: 'DYNAMODB_JSON' },
            OutputS3Configuration: { S3Bucket: 'box', OutputType: ['ERROR'] },
        }),
        NOT_FOUND,
    );
});

// ---- What Terraform and the CDK read -----------------------------------------------------------

test('All that infrastructure tools read of a new table is there', REAL, async () => {
    const name = await makeTable({ DeletionProtectionEnabled: true, Tags: [{ Key: 'k', Value: 'v' }] });
    const { Table } = await call('DescribeTable', { TableName: name });
    assert.equal(Table.WarmThroughput.Status, 'ACTIVE');
    assert.equal(Table.DeletionProtectionEnabled, true);
    await fails(call('DeleteTable', { TableName: name }), VALIDATION, /protected against deletion/);
    const { ContinuousBackupsDescription } = await call('DescribeContinuousBackups', { TableName: name });
    assert.equal(ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'DISABLED');
    await call('UpdateTimeToLive', { TableName: name, TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' } });
    await call('UpdateTimeToLive', { TableName: name, TimeToLiveSpecification: { Enabled: false, AttributeName: 'ttl' } });
    const { TimeToLiveDescription } = await call('DescribeTimeToLive', { TableName: name });
    assert.equal(TimeToLiveDescription.TimeToLiveStatus, 'DISABLED');
    same((await call('ListTagsOfResource', { ResourceArn: Table.TableArn })).Tags, [{ Key: 'k', Value: 'v' }]);
    await call('TagResource', { ResourceArn: Table.TableArn, Tags: [{ Key: 'more', Value: '' }] });
    await call('UntagResource', { ResourceArn: Table.TableArn, TagKeys: ['k'] });
    same((await call('ListTagsOfResource', { ResourceArn: Table.TableArn })).Tags, [{ Key: 'more', Value: '' }]);
    await fails(
        call('TagResource', {
            ResourceArn: Table.TableArn, Tags: Array.from({ length: 50 }, (_, i) => ({ Key: `k${i}`, Value: 'v' })),
        }),
        VALIDATION, 'Number of Tags exceed the current limit for the provided ResourceArn',
    );
    await fails(call('GetResourcePolicy', { ResourceArn: Table.TableArn }), 'PolicyNotFoundException');
    const insights = await call('DescribeContributorInsights', { TableName: name });
    assert.equal(insights.ContributorInsightsStatus, 'DISABLED');
    same((await call('DescribeKinesisStreamingDestination', { TableName: name })).KinesisDataStreamDestinations, []);
    await call('UpdateTable', { TableName: name, DeletionProtectionEnabled: false });
    assert.equal((await call('DescribeLimits', {})).TableMaxReadCapacityUnits, 40000);
    assert.equal((await call('DescribeEndpoints', {})).Endpoints[0].CachePeriodInMinutes, 1440);
    assert.ok(endpoint);
    await put(name, { pk: S('x') });
    assert.ok(await get(name, { pk: S('x') }));
});
