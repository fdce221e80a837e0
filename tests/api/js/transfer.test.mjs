// ExportTableToPointInTime, DescribeExport, ListExports, ImportTable, DescribeImport, ListImports,
// with a server of their own: a bucket root, and a clock that can be moved.
import { after, before, test } from 'node:test';
import { spawn, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { assert, sdk, makeClient, foreign, tableSpec, S, N, B, SS, NS, BS, L, M, BOOL, NULL, same, fails, waitFor } from './lib.mjs';

const skip = { skip: foreign ? 'needs the files of the server' : false };
const root = path.resolve(import.meta.dirname, '../../..');
const bin = path.resolve(root, process.env.DOLMEN_BIN ?? 'build/dolmen');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'dolmen-transfer-'));
const buckets = path.join(work, 'buckets');
let server, client, url;

async function start() {
    server = spawn(bin, ['serve', '--port', '0', '--data', path.join(work, 'data'), '--bucket-root', buckets, '--admin'], { stdio: ['ignore', 'pipe', process.env.SERVER_STDERR ? 'inherit' : 'ignore'] });
    url = await new Promise((resolve, reject) => {
        let text = '';
        server.stdout.on('data', (d) => {
            text += d;
            const m = text.match(/listening on (http:\S+)/);
            if (m) resolve(m[1]);
        });
        server.on('exit', (code) => reject(new Error('server ended: ' + code)));
    });
    client = makeClient({ endpoint: url });
}
async function stop(signal = 'SIGTERM') {
    client.destroy();
    const ended = new Promise((resolve) => server.on('exit', (code) => resolve(code)));
    server.kill(signal);
    return ended;
}
if (!foreign) {
    before(start);
    after(async () => {
        assert.equal(await stop(), 0);
        fs.rmSync(work, { recursive: true });
    });
}

const call = (operation, input) => client.send(new sdk[operation + 'Command'](input));
const advance = (seconds) =>
    fetch(url + '/admin/clock', { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) });
const now = async () => new Date((await call('DescribeContinuousBackups', { TableName: main })).ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime);

const main = 'Movies';
const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${main}`;
const all = { b: B([0, 1, 255]), bs: BS('a', 'b'), l: L(N(1), S('x'), L(), M({})), m: M({ 'a b': NULL }), n: N('-1.5'),
    ns: NS(1, '2.50', '1e20'), s: S('line\n"quote" é😀'), ss: SS('a', 'b'), t: BOOL(true), nul: NULL };

async function exported(input) {
    const { ExportDescription: first } = await call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box', ...input });
    assert.equal(first.ExportStatus, 'IN_PROGRESS');
    return waitFor('the export', async () => {
        const { ExportDescription: d } = await call('DescribeExport', { ExportArn: first.ExportArn });
        return d.ExportStatus !== 'IN_PROGRESS' && d;
    });
}
async function imported(TableName, prefix, input = {}) {
    const { ImportTableDescription: first } = await call('ImportTable', {
        S3BucketSource: { S3Bucket: 'box', S3KeyPrefix: prefix },
        InputFormat: 'DYNAMODB_JSON',
        TableCreationParameters: tableSpec({ name: TableName, key: ['pk', 'sk:N'] }),
        ...input,
    });
    assert.equal(first.ImportStatus, 'IN_PROGRESS');
    return waitFor('the import', async () => {
        const { ImportTableDescription: d } = await call('DescribeImport', { ImportArn: first.ImportArn });
        return d.ImportStatus !== 'IN_PROGRESS' && d;
    });
}
async function scan(TableName) {
    const items = [];
    let ExclusiveStartKey;
    do {
        const page = await call('Scan', { TableName, ExclusiveStartKey });
        items.push(...page.Items);
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
}
const read = (key) => fs.readFileSync(path.join(buckets, 'box', key));
const md5 = (bytes) => createHash('md5').update(bytes).digest('base64');
function dataLines(d) {
    const dir = path.dirname(d.ExportManifest);
    return read(dir + '/manifest-files.json').toString().trim().split('\n')
        .flatMap((line) => zlib.gunzipSync(read(JSON.parse(line).dataFileS3Key)).toString().trim().split('\n'))
        .filter((line) => line);
}
function write(key, bytes) {
    const file = path.join(buckets, 'box', key);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes);
}

test('recovery to a point in time is needed', skip, async () => {
    await call('CreateTable', tableSpec({ name: main, key: ['pk', 'sk:N'] }));
    await fails(call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box' }),
        'PointInTimeRecoveryUnavailableException', `Point in time recovery is not enabled for table '${main}'`);
    await call('UpdateContinuousBackups', { TableName: main, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
});

test('a full export, in AWS\'s layout', skip, async () => {
    for (let i = 0; i < 60; i++)
        await call('PutItem', { TableName: main, Item: { pk: S('p' + (i % 3)), sk: N(i), ...all } });
    const d = await exported({ S3Prefix: '2026/nov' });
    assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
    assert.match(d.ExportArn, /\/export\/\d{14}-[0-9a-f]{8}$/);
    assert.equal(d.ItemCount, 60);
    assert.equal(d.ExportType, 'FULL_EXPORT');
    assert.equal(d.ExportFormat, 'DYNAMODB_JSON');
    const id = d.ExportArn.split('/').at(-1);
    const dir = `2026/nov/AWSDynamoDB/${id}`;
    assert.equal(d.ExportManifest, dir + '/manifest-summary.json');
    const summary = JSON.parse(read(d.ExportManifest));
    assert.equal(summary.itemCount, 60);
    assert.equal(summary.exportArn, d.ExportArn);
    assert.equal(summary.s3Bucket, 'box');
    assert.equal(summary.outputFormat, 'DYNAMODB_JSON');
    assert.equal(summary.manifestFilesS3Key, dir + '/manifest-files.json');
    for (const name of ['manifest-summary', 'manifest-files'])
        assert.equal(read(`${dir}/${name}.checksum`).toString(), md5(read(`${dir}/${name}.json`)));
    const files = read(dir + '/manifest-files.json').toString().trim().split('\n').map(JSON.parse);
    for (const file of files) assert.equal(file.md5Checksum, md5(read(file.dataFileS3Key)));
    assert.equal(files.reduce((sum, f) => sum + f.itemCount, 0), 60);
    assert.ok(fs.existsSync(path.join(buckets, 'box', dir, '_started')));
    assert.deepEqual(Object.keys(JSON.parse(dataLines(d)[0])), ['Item']);

    const i = await imported('FromJson', dir + '/data/', { InputCompressionType: 'GZIP' });
    assert.equal(i.ImportStatus, 'COMPLETED', i.FailureMessage);
    assert.deepEqual([i.ImportedItemCount, i.ProcessedItemCount, i.ErrorCount], [60, 60, 0]);
    assert.equal(i.ProcessedSizeBytes, files.reduce((sum, f) => sum + read(f.dataFileS3Key).length, 0));
    same(await scan('FromJson'), await scan(main));
    const { Table } = await call('DescribeTable', { TableName: 'FromJson' });
    assert.equal(Table.TableStatus, 'ACTIVE');
    assert.equal(i.TableId, Table.TableId);
    assert.equal(i.TableCreationParameters.TableName, 'FromJson');
    // The whole export, manifests and all, can be named, too.
    const whole = await imported('FromWhole', dir, { InputCompressionType: 'GZIP' });
    assert.deepEqual([whole.ImportStatus, whole.ImportedItemCount], ['COMPLETED', 60]);
});

test('Ion', skip, async () => {
    const d = await exported({ ExportFormat: 'ION' });
    assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
    assert.match(dataLines(d)[0], /^\$ion_1_0 \{Item:\{b:\{\{AAH\/\}\},bs:\$dynamodb_BS::\[/);
    const i = await imported('FromIon', path.dirname(d.ExportManifest) + '/data/', { InputFormat: 'ION', InputCompressionType: 'GZIP' });
    assert.equal(i.ImportStatus, 'COMPLETED', i.FailureMessage);
    same(await scan('FromIon'), await scan(main));
});

test('the table as it was', skip, async () => {
    const then = await now();
    await advance(10);
    await call('PutItem', { TableName: main, Item: { pk: S('new'), sk: N(1) } });
    await call('DeleteItem', { TableName: main, Key: { pk: S('p0'), sk: N(0) } });
    const d = await exported({ ExportTime: then, S3Prefix: 'then' });
    assert.equal(d.ItemCount, 60);
    assert.ok(dataLines(d).some((line) => line.includes('"sk":{"N":"0"}')));
    assert.equal((await exported({ S3Prefix: 'now' })).ItemCount, 60);
    for (const wrong of [new Date(then.getTime() - 40 * 86400_000), new Date(then.getTime() + 86400_000)])
        await fails(call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box', ExportTime: wrong }), 'InvalidExportTimeException');
});

test('an incremental export', skip, async () => {
    await advance(3600);
    const from = await now();
    await advance(60);
    await call('PutItem', { TableName: main, Item: { pk: S('inc'), sk: N(1), v: N(1) } });
    await call('PutItem', { TableName: main, Item: { pk: S('inc'), sk: N(1), v: N(2) } });
    await call('PutItem', { TableName: main, Item: { pk: S('new'), sk: N(1), v: N(3) } });
    await call('DeleteItem', { TableName: main, Key: { pk: S('p1'), sk: N(1) } });
    await call('PutItem', { TableName: main, Item: { pk: S('gone'), sk: N(1) } });
    await call('DeleteItem', { TableName: main, Key: { pk: S('gone'), sk: N(1) } });
    await advance(1000);
    const to = await now();
    await advance(10);
    await call('PutItem', { TableName: main, Item: { pk: S('inc'), sk: N(1), v: N(99) } });
    await call('PutItem', { TableName: main, Item: { pk: S('later'), sk: N(1) } });
    const incremental = { ExportFromTime: from, ExportToTime: to };
    const lines = async (view) => {
        const d = await exported({ ExportType: 'INCREMENTAL_EXPORT', IncrementalExportSpecification: { ...incremental, ...view } });
        assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
        assert.equal(d.ExportType, 'INCREMENTAL_EXPORT');
        const summary = JSON.parse(read(d.ExportManifest));
        assert.equal(summary.exportType, 'INCREMENTAL_EXPORT');
        assert.ok(read(summary.manifestFilesS3Key).includes('"AWSDynamoDB/data/'));
        const out = {};
        for (const line of dataLines(d).map(JSON.parse)) {
            assert.match(line.Metadata.WriteTimestampMicros.N, /^\d{16}$/);
            out[line.Keys.pk.S] = [line.OldImage && (line.OldImage.v?.N ?? 'old'), line.NewImage && line.NewImage.v.N];
        }
        return out;
    };
    const none = undefined;
    assert.deepEqual(await lines({}), { inc: [none, '2'], new: ['old', '3'], p1: ['old', none], gone: [none, none] });
    assert.deepEqual(await lines({ ExportViewType: 'NEW_IMAGE' }), { inc: [none, '2'], new: [none, '3'], p1: [none, none], gone: [none, none] });
    const wrong = (spec, text) => fails(call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box', ExportType: 'INCREMENTAL_EXPORT', IncrementalExportSpecification: spec }), 'ValidationException', text);
    await wrong(undefined, 'ExportFromTime must be specified for incremental exports');
    await wrong({ ExportFromTime: new Date(to.getTime() - 60_000), ExportToTime: to }, 'Difference between export from time and export to time is less than 15 minutes');
    await wrong({ ExportFromTime: to, ExportToTime: from }, 'ExportFromTime must be before ExportToTime');
});

test('an export without a time is of the moment of the request', skip, async () => {
    const { ExportDescription: first } = await call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box', S3Prefix: 'moment' });
    await call('PutItem', { TableName: main, Item: { pk: S('after the request'), sk: N(1) } });
    const d = await waitFor('the export', async () => {
        const { ExportDescription: now } = await call('DescribeExport', { ExportArn: first.ExportArn });
        return now.ExportStatus !== 'IN_PROGRESS' && now;
    });
    assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
    assert.deepEqual(d.ExportTime, first.ExportTime);
    assert.ok(!dataLines(d).some((line) => line.includes('after the request')));
    assert.equal(d.ItemCount, (await scan(main)).length - 1);
});

test('client tokens', skip, async () => {
    const input = { TableArn: arn, S3Bucket: 'box', S3Prefix: 'token', ClientToken: 'once' };
    const one = (await call('ExportTableToPointInTime', input)).ExportDescription.ExportArn;
    assert.equal((await call('ExportTableToPointInTime', input)).ExportDescription.ExportArn, one);
    await fails(call('ExportTableToPointInTime', { ...input, S3Prefix: 'other' }), 'ExportConflictException');
    write('tok/a.json', '{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n');
    const import_ = { S3BucketSource: { S3Bucket: 'box', S3KeyPrefix: 'tok/' }, InputFormat: 'DYNAMODB_JSON', ClientToken: 'once',
        TableCreationParameters: tableSpec({ name: 'Token', key: ['pk', 'sk:N'] }) };
    const first = (await call('ImportTable', import_)).ImportTableDescription.ImportArn;
    assert.equal((await call('ImportTable', import_)).ImportTableDescription.ImportArn, first);
    await fails(call('ImportTable', { ...import_, InputFormat: 'ION' }), 'ImportConflictException');
    await fails(call('ImportTable', { ...import_, ClientToken: 'twice' }), 'ResourceInUseException', 'Table already exists: Token');
});

test('errors of exports', skip, async () => {
    await fails(call('ExportTableToPointInTime', { TableArn: arn + 'x', S3Bucket: 'box' }), 'TableNotFoundException', 'Table not found: Moviesx');
    await fails(call('ExportTableToPointInTime', { TableArn: 'Movies', S3Bucket: 'box' }), 'ValidationException', /^Invalid TableArn/);
    await fails(call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: '../up' }), 'ValidationException', /regular expression pattern/);
    await fails(call('ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'box', S3Prefix: 'a/../../b' }), 'ValidationException', /not a path below the bucket/);
    await fails(call('ExportTableToPointInTime', { TableArn: arn }), 'ValidationException', /s3Bucket/);
    await fails(call('DescribeExport', { ExportArn: arn + '/export/01695353076000-06e2188f' }), 'ExportNotFoundException');
    await fails(call('DescribeImport', { ImportArn: arn + '/import/01695353076000-06e2188f' }), 'ImportNotFoundException');
    // A bucket that cannot be written: the export fails, the server does not.
    fs.writeFileSync(path.join(buckets, 'file'), '');
    const d = await exported({ S3Bucket: 'file' });
    assert.equal(d.ExportStatus, 'FAILED');
    assert.match(d.FailureMessage, /cannot read the directory/);
});

test('lists come in pages', skip, async () => {
    const seen = [];
    let NextToken;
    do {
        const page = await call('ListExports', { TableArn: arn, MaxResults: 2, NextToken });
        assert.ok(page.ExportSummaries.length <= 2);
        seen.push(...page.ExportSummaries.map((e) => e.ExportArn));
        NextToken = page.NextToken;
    } while (NextToken);
    assert.equal(new Set(seen).size, seen.length);
    const whole = await call('ListExports', {});
    assert.deepEqual(whole.ExportSummaries.map((e) => e.ExportArn), seen);
    assert.deepEqual((await call('ListExports', { TableArn: arn + 'x' })).ExportSummaries, []);
    const one = await call('ListImports', { PageSize: 1 });
    assert.match(one.NextToken, /^([0-9a-f]{16})+$/);
    const two = await call('ListImports', { PageSize: 25, NextToken: one.NextToken });
    assert.notEqual(two.ImportSummaryList[0].ImportArn, one.ImportSummaryList[0].ImportArn);
    assert.equal(two.NextToken, undefined);
    await fails(call('ListExports', { NextToken: 'zz' }), 'ValidationException', 'Invalid NextToken provided: zz');
});

test('a filter', skip, async () => {
    const name = 'Filtered';
    const TableArn = `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
    const pitr = { PointInTimeRecoveryEnabled: true };
    await call('CreateTable', tableSpec({ name, key: ['pk', 'sk:N'] }));
    await call('UpdateContinuousBackups', { TableName: name, PointInTimeRecoverySpecification: pitr });
    const put = (pk, sk, v) => call('PutItem', { TableName: name, Item: { pk: S(pk), sk: N(sk), v: N(v), m: M({ a: N(sk), b: S('x') }) } });
    for (let i = 0; i < 20; i++) await put(i % 2 ? 'odd' : 'even', i - 5, i);
    const item = (line) => JSON.parse(line).Item;
    const check = async (FilterSpecification, expected, rest = {}) => {
        const d = await exported({ TableArn, FilterSpecification, ...rest });
        assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
        same(d.FilterSpecification, FilterSpecification);
        const items = d.ItemCount === 0 ? [] : dataLines(d).map(item);
        assert.equal(d.ItemCount, items.length);
        same(items.map((i) => Number(i.v?.N ?? i.m.M.a.N)).sort((a, b) => a - b), expected);
        return items;
    };
    const values = (rest) => ({ ExpressionAttributeValues: rest });
    await check({ FilterExpression: 'pk = :p AND v < :v', ...values({ ':p': S('even'), ':v': N(5) }) }, [0, 2, 4]);
    const key = (text, rest, expected) => check({ KeyConditionExpression: 'pk = :p' + text, ...values({ ':p': S('odd'), ...rest }) }, expected);
    await key('', {}, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    await key(' AND sk < :a', { ':a': N(-2) }, [1]);
    await key(' AND sk <= :a', { ':a': N(-2) }, [1, 3]);
    await key(' AND sk > :a', { ':a': N(12) }, [19]);
    await key(' AND sk >= :a', { ':a': N(12) }, [17, 19]);
    await key(' AND sk = :a', { ':a': N(12) }, [17]);
    await key(' AND sk BETWEEN :a AND :b', { ':a': N(-1), ':b': N(4) }, [5, 7, 9]);
    await check({ KeyConditionExpression: 'pk = :p', ...values({ ':p': S('none') }) }, []);
    const projected = await check({
        KeyConditionExpression: 'pk = :p', FilterExpression: '#v > :v', ProjectionExpression: '#m.a',
        ExpressionAttributeNames: { '#m': 'm', '#v': 'v' }, ...values({ ':p': S('odd'), ':v': N(15) }),
    }, [12, 14]);
    same(projected[0], { m: M({ a: N(12) }) });
    // With a time, from the log; and with a token.
    await advance(5);
    const then = await now();
    await advance(5);
    await put('even', -5, 100);
    const big = { FilterExpression: 'v > :v', ...values({ ':v': N(17) }) };
    await check(big, [18, 19, 100]);
    await check(big, [18, 19], { ExportTime: then });
    const token = { TableArn, S3Bucket: 'box', ClientToken: 'filtered' };
    await call('ExportTableToPointInTime', { ...token, FilterSpecification: big });
    await call('ExportTableToPointInTime', { ...token, FilterSpecification: big });
    await fails(call('ExportTableToPointInTime', token), 'ExportConflictException');

    // Changes of what the filter takes: an item that leaves it is as good as deleted.
    await advance(3600);
    const from = await now();
    await advance(60);
    await put('even', -5, 1);
    await put('odd', -4, 50);
    await put('odd', 14, 60);
    await put('odd', -2, 4);
    await advance(1000);
    const lines = async (FilterSpecification, view) => {
        const d = await exported({ TableArn, FilterSpecification, ExportType: 'INCREMENTAL_EXPORT',
            IncrementalExportSpecification: { ExportFromTime: from, ExportToTime: await now(), ExportViewType: view } });
        assert.equal(d.ExportStatus, 'COMPLETED', d.FailureMessage);
        return Object.fromEntries(dataLines(d).map(JSON.parse).map((l) => [l.Keys.sk.N, [l.OldImage?.v.N, l.NewImage?.v.N]]));
    };
    const none = undefined;
    same(await lines({ ...big, ProjectionExpression: 'v' }, 'NEW_AND_OLD_IMAGES'), { '-5': ['100', none], '-4': [none, '50'], 14: ['19', '60'] });
    same(await lines(big, 'NEW_IMAGE'), { '-5': [none, none], '-4': [none, '50'], 14: [none, '60'] });
    same(await lines({ KeyConditionExpression: 'pk = :p AND sk < :s', ...values({ ':p': S('odd'), ':s': N(0) }) }, 'NEW_AND_OLD_IMAGES'),
        { '-4': ['1', '50'], '-2': ['3', '4'] });
});

test('CSV', skip, async () => {
    write('csv/1.csv', 'pk,sk,title\na,1,"one, two"\nb,2,\n');
    const plain = await imported('Csv1', 'csv/1', { InputFormat: 'CSV' });
    assert.equal(plain.ImportStatus, 'COMPLETED', plain.FailureMessage);
    same((await scan('Csv1')).sort((a, b) => a.sk.N - b.sk.N),
        [{ pk: S('a'), sk: N(1), title: S('one, two') }, { pk: S('b'), sk: N(2), title: S('') }]);
    write('csv/2.csv', 'x;5;7\n');
    const options = { InputFormat: 'CSV', InputFormatOptions: { Csv: { Delimiter: ';', HeaderList: ['pk', 'sk', 'age'] } } };
    const d = await imported('Csv2', 'csv/2', { ...options, TableCreationParameters: tableSpec({ name: 'Csv2', key: ['pk', 'sk:N'], gsi: { byAge: ['age:N'] } }) });
    assert.deepEqual(d.InputFormatOptions, options.InputFormatOptions);
    same(await scan('Csv2'), [{ pk: S('x'), sk: N(5), age: N(7) }]);
    same((await call('Query', { TableName: 'Csv2', IndexName: 'byAge', KeyConditionExpression: 'age = :a', ExpressionAttributeValues: { ':a': N(7) } })).Count, 1);
});

test('bad records are counted, and the others imported', skip, async () => {
    write('bad/1.json', '{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\nnonsense\n{"Item":{"pk":{"S":"a"}}}\n' +
        '{"Item":{"pk":{"S":""},"sk":{"N":"1"}}}\n{"Item":{"pk":{"N":"1"},"sk":{"N":"1"}}}\n' +
        `{"Item":{"pk":{"S":"big"},"sk":{"N":"1"},"x":{"S":"${'x'.repeat(410000)}"}}}\n`);
    write('bad/2.json', '{"Item":{"pk":{"S":"b"},"sk":{"N":"1"}}}');
    const d = await imported('Bad', 'bad/');
    assert.deepEqual([d.ImportStatus, d.FailureCode, d.ErrorCount, d.ProcessedItemCount, d.ImportedItemCount],
        ['FAILED', 'ItemValidationError', 5, 7, 2]);
    assert.equal((await scan('Bad')).length, 2);
    const gone = await imported('Gone', 'nowhere/');
    assert.deepEqual([gone.ImportStatus, gone.FailureCode], ['FAILED', 'S3NoSuchKey']);
    await fails(call('DescribeTable', { TableName: 'Gone' }), 'ResourceNotFoundException');
    const bucket = await imported('Gone', '', { S3BucketSource: { S3Bucket: 'none' } });
    assert.deepEqual([bucket.FailureCode, bucket.FailureMessage], ['S3NoSuchBucket', 'The specified bucket does not exist']);
    write('zip/1.json', 'not gzip');
    const zip = await imported('Zip', 'zip/', { InputCompressionType: 'GZIP' });
    assert.deepEqual([zip.ImportStatus, zip.ErrorCount], ['FAILED', 1]);
});

test('zstd', { skip: foreign || !zlib.zstdCompressSync ? 'this Node.js has no zstd' : false }, async () => {
    write('zst/1.json.zst', zlib.zstdCompressSync('{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n'));
    const d = await imported('Zst', 'zst/', { InputCompressionType: 'ZSTD' });
    assert.deepEqual([d.ImportStatus, d.ImportedItemCount], ['COMPLETED', 1]);
});

test('an import that a crash interrupts is finished by the next server', skip, async () => {
    const lines = [];
    for (let i = 0; i < 60000; i++) lines.push(`{"Item":{"pk":{"S":"k${i}"},"sk":{"N":"${i}"},"x":{"S":"${'y'.repeat(100)}"}}}`);
    write('long/1.json', lines.join('\n'));
    const { ImportTableDescription: d } = await call('ImportTable', {
        S3BucketSource: { S3Bucket: 'box', S3KeyPrefix: 'long/' }, InputFormat: 'DYNAMODB_JSON',
        TableCreationParameters: tableSpec({ name: 'Long', key: ['pk', 'sk:N'] }) });
    await fails(call('GetItem', { TableName: 'Long', Key: { pk: S('k1'), sk: N(1) } }), 'ResourceNotFoundException');
    assert.equal((await call('DescribeTable', { TableName: 'Long' })).Table.TableStatus, 'CREATING');
    await stop('SIGKILL');
    await start();
    const done = await waitFor('the import', async () => {
        const { ImportTableDescription: now } = await call('DescribeImport', { ImportArn: d.ImportArn });
        return now.ImportStatus !== 'IN_PROGRESS' && now;
    }, 120000);
    assert.deepEqual([done.ImportStatus, done.ImportedItemCount, done.ErrorCount], ['COMPLETED', 60000, 0]);
    same((await call('GetItem', { TableName: 'Long', Key: { pk: S('k59999'), sk: N(59999) } })).Item.sk, N(59999));
});
