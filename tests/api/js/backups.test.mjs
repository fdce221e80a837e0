// Backups and point-in-time recovery: CreateBackup, DescribeBackup, ListBackups, DeleteBackup,
// RestoreTableFromBackup, UpdateContinuousBackups, DescribeContinuousBackups,
// RestoreTableToPointInTime.
import { test } from 'node:test';
import {
    assert, call, errorCases, fails, makeTable, N, putAll, S, same, uniqueName, VALIDATION, waitFor,
} from './lib.mjs';

const describe = async (TableName) => (await call('DescribeTable', { TableName })).Table;
const active = (TableName) =>
    waitFor('ACTIVE', async () => {
        const table = await describe(TableName);
        return table.TableStatus === 'ACTIVE' && table;
    });
const available = (BackupArn) =>
    waitFor('AVAILABLE', async () => {
        const { BackupDescription } = await call('DescribeBackup', { BackupArn });
        return BackupDescription.BackupDetails.BackupStatus === 'AVAILABLE' && BackupDescription;
    });
const scan = async (TableName) =>
    (await call('Scan', { TableName })).Items.sort((a, b) => Number(a.n.N) - Number(b.n.N));
const items = (count, text = 'x') =>
    Array.from({ length: count }, (_, i) => ({ pk: S('p' + (i % 7)), sk: N(i), g: S('g' + (i % 3)), n: N(i), t: S(text) }));
const spec = { key: ['pk', 'sk:N'], gsi: { byG: ['g', 'n:N'], keys: { key: ['g'], projection: 'KEYS_ONLY' } } };
const pitr = (TableName, PointInTimeRecoveryEnabled = true, rest = {}) =>
    call('UpdateContinuousBackups', { TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled, ...rest } });
const anArn = (table, id = '01489602797149-73d8d5bc') =>
    `arn:aws:dynamodb:us-east-1:000000000000:table/${table}/backup/${id}`;

test('a backup holds what was there when it was made, and becomes a table with its indexes', async () => {
    const TableName = await makeTable(spec);
    await putAll(TableName, items(300));
    const { BackupDetails } = await call('CreateBackup', { TableName, BackupName: 'before' });
    assert.match(BackupDetails.BackupArn, new RegExp(`^arn:aws:dynamodb:us-east-1:000000000000:table/${TableName}/backup/\\d{14}-[0-9a-f]{8}$`));
    assert.equal(BackupDetails.BackupName, 'before');
    assert.equal(BackupDetails.BackupType, 'USER');
    assert.equal(BackupDetails.BackupStatus, 'CREATING');
    assert.ok(BackupDetails.BackupCreationDateTime instanceof Date);
    // These come too late for it.
    await putAll(TableName, items(300, 'later'));
    const { BackupArn } = BackupDetails;
    const described = await available(BackupArn);
    assert.equal(described.SourceTableDetails.TableName, TableName);
    assert.equal(described.SourceTableDetails.ItemCount, 300);
    assert.equal(described.SourceTableDetails.BillingMode, 'PAY_PER_REQUEST');
    assert.equal(described.SourceTableFeatureDetails.GlobalSecondaryIndexes.length, 2);
    const TargetTableName = uniqueName('restored');
    const { TableDescription } = await call('RestoreTableFromBackup', { TargetTableName, BackupArn });
    assert.equal(TableDescription.TableStatus, 'CREATING');
    assert.equal(TableDescription.RestoreSummary.SourceBackupArn, BackupArn);
    assert.equal(TableDescription.RestoreSummary.RestoreInProgress, true);
    const table = await active(TargetTableName);
    assert.equal(table.RestoreSummary.RestoreInProgress, false);
    assert.equal(table.ItemCount, 300);
    same(await scan(TargetTableName), items(300));
    const query = await call('Query', {
        TableName: TargetTableName, IndexName: 'byG', KeyConditionExpression: 'g = :g',
        ExpressionAttributeValues: { ':g': S('g1') },
    });
    assert.equal(query.Count, 100);
    await call('DeleteTable', { TableName: TargetTableName });
    const { BackupDescription } = await call('DeleteBackup', { BackupArn });
    assert.equal(BackupDescription.BackupDetails.BackupStatus, 'DELETED');
    await fails(call('DescribeBackup', { BackupArn }), 'BackupNotFoundException', `Backup not found: ${BackupArn}`);
});

test('overrides of a restore: billing and indexes', async () => {
    const TableName = await makeTable(spec);
    await putAll(TableName, items(10));
    const { BackupDetails } = await call('CreateBackup', { TableName, BackupName: 'one' });
    const { BackupArn } = BackupDetails;
    await available(BackupArn);
    const { GlobalSecondaryIndexes, TableId } = await describe(TableName);
    const [index] = GlobalSecondaryIndexes.filter((i) => i.IndexName === 'byG');
    const TargetTableName = uniqueName('restored');
    await call('RestoreTableFromBackup', {
        TargetTableName, BackupArn, BillingModeOverride: 'PROVISIONED',
        ProvisionedThroughputOverride: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
        GlobalSecondaryIndexOverride: [{
            IndexName: 'byG', KeySchema: index.KeySchema, Projection: index.Projection,
            ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
        }],
    });
    const table = await active(TargetTableName);
    assert.notEqual(table.TableId, TableId);
    assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 4);
    assert.deepEqual(table.GlobalSecondaryIndexes.map((i) => i.IndexName), ['byG']);
    assert.equal(table.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits, 5);
    await fails(call('RestoreTableFromBackup', { TargetTableName, BackupArn }), 'TableAlreadyExistsException',
        `Table already exists: ${TargetTableName}`);
    await fails(call('RestoreTableFromBackup', {
        TargetTableName: uniqueName(), BackupArn,
        GlobalSecondaryIndexOverride: [{ IndexName: 'none', KeySchema: index.KeySchema, Projection: index.Projection }],
    }), VALIDATION);
    await call('DeleteTable', { TableName: TargetTableName });
    await call('DeleteBackup', { BackupArn });
});

test('listing backups: by table, by time, by type, in pages', async () => {
    const TableName = await makeTable({});
    const other = await makeTable({});
    const made = [];
    for (const BackupName of ['one', 'two', 'three'])
        made.push((await call('CreateBackup', { TableName, BackupName })).BackupDetails);
    await call('CreateBackup', { TableName: other, BackupName: 'other' });
    const { BackupSummaries } = await call('ListBackups', { TableName });
    assert.deepEqual(BackupSummaries.map((b) => b.BackupName).sort(), ['one', 'three', 'two']);
    assert.equal(BackupSummaries[0].TableName, TableName);
    assert.ok(BackupSummaries[0].TableId);
    const seen = [];
    let ExclusiveStartBackupArn;
    do {
        const page = await call('ListBackups', { TableName, Limit: 2, ExclusiveStartBackupArn });
        assert.ok(page.BackupSummaries.length <= 2);
        seen.push(...page.BackupSummaries.map((b) => b.BackupArn));
        ExclusiveStartBackupArn = page.LastEvaluatedBackupArn;
    } while (ExclusiveStartBackupArn);
    assert.deepEqual(seen.sort(), made.map((b) => b.BackupArn).sort());
    const none = await call('ListBackups', { TableName, TimeRangeUpperBound: new Date(Date.now() - 3600e3) });
    assert.equal(none.BackupSummaries.length, 0);
    const some = await call('ListBackups', { TableName, TimeRangeLowerBound: new Date(Date.now() - 3600e3) });
    assert.equal(some.BackupSummaries.length, 3);
    assert.equal((await call('ListBackups', { TableName, BackupType: 'SYSTEM' })).BackupSummaries.length, 0);
    assert.equal((await call('ListBackups', { TableName, BackupType: 'ALL' })).BackupSummaries.length, 3);
    for (const { BackupArn } of made) {
        await available(BackupArn);
        await call('DeleteBackup', { BackupArn });
    }
});

test('a backup outlives its table', async () => {
    const TableName = uniqueName('gone');
    await makeTable({ ...spec, name: TableName });
    await putAll(TableName, items(20));
    const { BackupArn } = (await call('CreateBackup', { TableName, BackupName: 'last' })).BackupDetails;
    await available(BackupArn);
    await call('DeleteTable', { TableName });
    await call('RestoreTableFromBackup', { TargetTableName: TableName, BackupArn });
    await active(TableName);
    same(await scan(TableName), items(20));
    await call('DeleteBackup', { BackupArn });
});

test('continuous backups: on, off, the period', async () => {
    const TableName = await makeTable({});
    const read = async () => (await call('DescribeContinuousBackups', { TableName })).ContinuousBackupsDescription;
    let found = await read();
    assert.equal(found.ContinuousBackupsStatus, 'ENABLED');
    same(found.PointInTimeRecoveryDescription, { PointInTimeRecoveryStatus: 'DISABLED' });
    await pitr(TableName);
    found = (await read()).PointInTimeRecoveryDescription;
    assert.equal(found.PointInTimeRecoveryStatus, 'ENABLED');
    assert.equal(found.RecoveryPeriodInDays, 35);
    assert.ok(found.EarliestRestorableDateTime <= found.LatestRestorableDateTime);
    const { ContinuousBackupsDescription } = await pitr(TableName, true, { RecoveryPeriodInDays: 3 });
    assert.equal(ContinuousBackupsDescription.PointInTimeRecoveryDescription.RecoveryPeriodInDays, 3);
    await pitr(TableName, false);
    assert.equal((await read()).PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'DISABLED');
});

test('a table as it was at a point in time', async () => {
    const TableName = await makeTable(spec);
    await putAll(TableName, items(50, 'first'));
    await pitr(TableName);
    await new Promise((done) => setTimeout(done, 20));
    const then = Date.now() / 1000;
    await new Promise((done) => setTimeout(done, 20));
    await putAll(TableName, items(60, 'second'));
    await call('DeleteItem', { TableName, Key: { pk: S('p0'), sk: N(0) } });
    const TargetTableName = uniqueName('restored');
    const { TableDescription } = await call('RestoreTableToPointInTime', {
        SourceTableName: TableName, TargetTableName, RestoreDateTime: new Date(then * 1000),
    });
    assert.equal(TableDescription.RestoreSummary.RestoreInProgress, true);
    assert.ok(TableDescription.RestoreSummary.SourceTableArn.endsWith('/' + TableName));
    await active(TargetTableName);
    same(await scan(TargetTableName), items(50, 'first'));
    const latest = uniqueName('latest');
    await call('RestoreTableToPointInTime', {
        SourceTableArn: (await describe(TableName)).TableArn, TargetTableName: latest, UseLatestRestorableTime: true,
    });
    await active(latest);
    same(await scan(latest), await scan(TableName));
    for (const name of [TargetTableName, latest]) await call('DeleteTable', { TableName: name });
});

test('deleting a table with recovery on leaves a system backup', async () => {
    const TableName = uniqueName('deleted');
    await makeTable({ ...spec, name: TableName });
    await putAll(TableName, items(30));
    await pitr(TableName);
    await call('DeleteTable', { TableName });
    await fails(call('DescribeTable', { TableName }), 'ResourceNotFoundException');
    const { BackupSummaries } = await call('ListBackups', { TableName, BackupType: 'SYSTEM' });
    assert.equal(BackupSummaries.length, 1);
    assert.equal(BackupSummaries[0].BackupName, TableName + '$DeletedTableBackup');
    assert.ok(BackupSummaries[0].BackupExpiryDateTime > Date.now() + 34 * 24 * 3600e3);
    const { BackupArn } = BackupSummaries[0];
    await call('RestoreTableFromBackup', { TargetTableName: TableName, BackupArn });
    await active(TableName);
    same(await scan(TableName), items(30));
    assert.ok((await call('ListTables', {})).TableNames.every((name) => name >= ' '));
    await call('DeleteBackup', { BackupArn });
});

const missing = 'js-none-such';
for (const [operation, input, name, message] of [
    ['CreateBackup', { TableName: missing, BackupName: 'one' }, 'TableNotFoundException', `Table not found: ${missing}`],
    ['CreateBackup', { TableName: missing, BackupName: 'x' }, VALIDATION],
    ['DescribeBackup', { BackupArn: anArn(missing) }, 'BackupNotFoundException', `Backup not found: ${anArn(missing)}`],
    ['DescribeBackup', { BackupArn: 'short' }, VALIDATION],
    ['DeleteBackup', { BackupArn: anArn(missing) }, 'BackupNotFoundException', `Backup not found: ${anArn(missing)}`],
    ['RestoreTableFromBackup', { TargetTableName: missing, BackupArn: anArn(missing) }, 'BackupNotFoundException'],
    ['ListBackups', { Limit: 0 }, VALIDATION],
    ['ListBackups', { Limit: 101 }, VALIDATION],
    ['ListBackups', { BackupType: 'OTHER' }, VALIDATION],
    ['DescribeContinuousBackups', { TableName: missing }, 'TableNotFoundException', `Table not found: ${missing}`],
    ['UpdateContinuousBackups', { TableName: missing, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
        'TableNotFoundException', `Table not found: ${missing}`],
    ['UpdateContinuousBackups', { TableName: missing, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 36 } }, VALIDATION],
    ['RestoreTableToPointInTime', { SourceTableName: missing, TargetTableName: 'js-other', UseLatestRestorableTime: true },
        'TableNotFoundException', `Table not found: ${missing}`],
    ['RestoreTableToPointInTime', { TargetTableName: 'js-other', UseLatestRestorableTime: true }, VALIDATION],
])
    errorCases(operation, [[JSON.stringify(input), input, name, message]]);

test('times that cannot be restored to', async () => {
    const SourceTableName = await makeTable({});
    const request = { SourceTableName, TargetTableName: uniqueName(), UseLatestRestorableTime: true };
    await fails(call('RestoreTableToPointInTime', request), 'PointInTimeRecoveryUnavailableException');
    await pitr(SourceTableName);
    const at = (RestoreDateTime) => call('RestoreTableToPointInTime', { ...request, UseLatestRestorableTime: undefined, RestoreDateTime });
    await fails(at(new Date(Date.now() + 3600e3)), 'InvalidRestoreTimeException');
    await fails(at(new Date(Date.now() - 3600e3)), 'InvalidRestoreTimeException');
    await fails(at(undefined), VALIDATION);
    await fails(call('RestoreTableToPointInTime', { ...request, TargetTableName: SourceTableName }), 'TableAlreadyExistsException');
});
