// StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation, with a server
// of their own that has a bucket root.
import { after, before, test } from 'node:test';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { assert, sdk, makeClient, foreign, tableSpec, S, N, fails, waitFor } from './lib.mjs';

const skip = { skip: foreign ? 'needs the files of the server' : false };
const root = path.resolve(import.meta.dirname, '../../..');
const bin = path.resolve(root, process.env.DOLMEN_BIN ?? 'build/dolmen');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'dolmen-bulk-'));
const buckets = path.join(work, 'buckets');
let server, client;

async function start() {
    server = spawn(bin, ['serve', '--port', '0', '--data', path.join(work, 'data'), '--bucket-root', buckets],
        { stdio: ['ignore', 'pipe', process.env.SERVER_STDERR ? 'inherit' : 'ignore'] });
    const endpoint = await new Promise((resolve, reject) => {
        let text = '';
        server.stdout.on('data', (d) => {
            text += d;
            const m = text.match(/listening on (http:\S+)/);
            if (m) resolve(m[1]);
        });
        server.on('exit', (code) => reject(new Error('server ended: ' + code)));
    });
    client = makeClient({ endpoint });
}
async function stop() {
    client.destroy();
    const ended = new Promise((resolve) => server.on('exit', (code) => resolve(code)));
    server.kill('SIGTERM');
    return ended;
}
if (!foreign) {
    before(start);
    after(async () => {
        const code = await stop();
        fs.rmSync(work, { recursive: true, force: true });
        assert.equal(code, 0);
    });
}

const call = (name, input) => client.send(new sdk[name + 'Command'](input));
function write(key, bytes) {
    const file = path.join(buckets, 'box', key);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes);
}
const line = (i) => JSON.stringify({ Item: { pk: S('k' + i), v: N(i) } }) + '\n';
const lines = (from, to) => Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
const request = (prefix, more = {}, input = {}) => ({
    TableName: 'bulk',
    InputS3Configuration: { S3Bucket: 'box', S3KeyPrefix: prefix, InputFormat: 'DYNAMODB_JSON', ...input },
    OutputS3Configuration: { S3Bucket: 'out', S3KeyPrefix: 'report/', OutputType: ['ERROR'] },
    ...more,
});
const describe = async (BulkOperationArn) =>
    (await call('DescribeBulkOperation', { BulkOperationArn })).BulkOperationDescription;
const begin = async (...args) =>
    (await call('StartBulkPutItems', request(...args))).BulkOperationDescription;
const ended = (arn) =>
    waitFor('the bulk operation', async () => {
        const d = await describe(arn);
        return !['IN_PROGRESS', 'CANCELLING'].includes(d.BulkOperationStatus) && d;
    });
const count = async () => (await call('Scan', { TableName: 'bulk', Select: 'COUNT' })).Count;

test('items of several objects go into a table', skip, async () => {
    await call('CreateTable', tableSpec({ name: 'bulk', key: ['pk'] }));
    await call('PutItem', { TableName: 'bulk', Item: { pk: S('k1'), old: N(1) } });
    write('all/a.json', lines(0, 600));
    write('all/b.json', lines(600, 1000));
    const first = await begin('all/', { ClientToken: 'one' });
    assert.equal(first.BulkOperationStatus, 'IN_PROGRESS');
    assert.equal(first.TableDetails[0].TableName, 'bulk');
    assert.equal(first.PerformanceTier, 'STANDARD');
    const d = await ended(first.BulkOperationArn);
    assert.equal(d.BulkOperationStatus, 'COMPLETED');
    assert.deepEqual([d.ProcessedItemCount, d.FailedItemCount], [1000, 0]);
    assert.equal(d.ProcessedInputBytes, d.TotalInputBytes);
    assert.ok(d.EndTime >= d.StartTime && d.BulkOperationUsage[0].Table.BulkPutBytes > 0);
    assert.equal(await count(), 1000);
    const { Item } = await call('GetItem', { TableName: 'bulk', Key: { pk: S('k1') } });
    assert.deepEqual(Item, { pk: S('k1'), v: N(1) });
});

test('a token stands for one operation', skip, async () => {
    const again = await begin('all/', { ClientToken: 'one' });
    assert.equal(again.BulkOperationStatus, 'COMPLETED');
    await fails(begin('other/', { ClientToken: 'one' }), 'IdempotentParameterMismatchException');
});

test('what cannot be put is counted and reported', skip, async () => {
    write('bad/a.json.gz', zlib.gzipSync(line(1) + '{"Item":{"pk":{"N":"1"}}}\n{"Item"\n' + line(2)));
    const first = await begin('bad/', {}, { InputCompressionType: 'GZIP' });
    const d = await ended(first.BulkOperationArn);
    assert.equal(d.BulkOperationStatus, 'COMPLETED_WITH_ERRORS');
    assert.deepEqual([d.ProcessedItemCount, d.FailedItemCount], [4, 2]);
    const id = d.BulkOperationArn.split('/').pop();
    const told = fs.readFileSync(path.join(buckets, 'out/report', id, 'errors.json'), 'utf8').trim().split('\n').map(JSON.parse);
    assert.deepEqual(told.map((t) => [t.Object, t.Line]), [['bad/a.json.gz', 2], ['bad/a.json.gz', 3]]);
    assert.match(told[0].Error, /Type mismatch for key pk/);
});

test('what fails as a whole says why', skip, async () => {
    const d = await ended((await begin('', {}, { S3Bucket: 'none' })).BulkOperationArn);
    assert.deepEqual([d.BulkOperationStatus, d.FailureCode], ['FAILED', 'S3NoSuchBucket']);
    const empty = await ended((await begin('nothing/')).BulkOperationArn);
    assert.deepEqual([empty.BulkOperationStatus, empty.FailureCode], ['FAILED', 'S3NoSuchKey']);
    await fails(call('StartBulkPutItems', { ...request('all/'), TableName: 'none' }), 'ResourceNotFoundException');
});

test('an operation can be cancelled, and one that has ended cannot', skip, async () => {
    write('slow/a.json', lines(0, 20000));
    const { BulkOperationArn } = await begin('slow/', { MaxWriteRequestUnits: 1024 });
    const answer = await call('CancelBulkOperation', { BulkOperationArn });
    assert.deepEqual([answer.BulkOperationArn, answer.BulkOperationStatus], [BulkOperationArn, 'CANCELLING']);
    const d = await ended(BulkOperationArn);
    assert.equal(d.BulkOperationStatus, 'CANCELLED');
    assert.ok(d.FailureCode && d.FailureMessage && d.ProcessedItemCount < 20000);
    assert.equal(d.MaxWriteRequestUnits, 1024);
    await fails(call('CancelBulkOperation', { BulkOperationArn }), 'ValidationException', /cannot be cancelled/);
});

test('the list has pages', skip, async () => {
    const arns = [];
    let NextToken;
    do {
        const page = await call('ListBulkOperations', { MaxResults: 2, NextToken });
        assert.ok(page.BulkOperationsSummaryList.length <= 2);
        arns.push(...page.BulkOperationsSummaryList.map((s) => s.BulkOperationArn));
        NextToken = page.NextToken;
    } while (NextToken);
    assert.equal(arns.length, 5);
    assert.equal(new Set(arns).size, 5);
    await fails(call('ListBulkOperations', { NextToken: 'x' }), 'ValidationException');
});

test('a restart begins again', skip, async () => {
    write('again/a.json', lines(5000, 9000));
    const { BulkOperationArn } = await begin('again/', { MaxWriteRequestUnits: 4096 });
    await stop();
    await start();
    const d = await ended(BulkOperationArn);
    assert.deepEqual([d.BulkOperationStatus, d.ProcessedItemCount], ['COMPLETED', 4000]);
});
