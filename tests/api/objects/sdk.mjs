// What the AWS SDK for JavaScript does: it sends checksums in trailers, signs URLs and forms, and uses hosts for buckets.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { Readable } from 'node:stream';
import * as s3 from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

const endpoint = process.env.ENDPOINT;
const client = new s3.S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 });
const send = (name, input) => client.send(new s3[name + 'Command']({ Bucket: 'sdk', ...input }));
const refused = (code, promise) => assert.rejects(promise, (error) => {
    assert.equal(error.name, code);
    return true;
});

await send('CreateBucket', {});
await send('HeadBucket', {});

// Checksums of every kind, in headers and trailers.
const body = crypto.randomBytes(300000);
for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'CRC64NVME']) {
    const put = await send('PutObject', { Key: 'sum', Body: body, ChecksumAlgorithm }).catch((error) => {
        if (ChecksumAlgorithm === 'CRC64NVME' && /CRC64|crc64|@aws-sdk/.test(error.message))
            return null; // the SDK has it in a package of its own
        throw error;
    });
    if (put === null)
        continue;
    assert.ok(put['Checksum' + ChecksumAlgorithm]);
    const got = await send('GetObject', { Key: 'sum', ChecksumMode: 'ENABLED' });
    assert.equal(got['Checksum' + ChecksumAlgorithm], put['Checksum' + ChecksumAlgorithm]);
    assert.deepEqual(Buffer.from(await got.Body.transformToByteArray()), body);
}

// A stream, whose checksum comes behind it.
await send('PutObject', { Key: 'stream', Body: Readable.from([body]), ContentLength: body.length, ChecksumAlgorithm: 'SHA256' });
assert.equal((await send('HeadObject', { Key: 'stream' })).ContentLength, body.length);
assert.equal((await send('HeadObject', { Key: 'stream' })).ContentEncoding, undefined);

await send('PutObject', { Key: 'cond', Body: 'a', IfNoneMatch: '*' });
await refused('PreconditionFailed', send('PutObject', { Key: 'cond', Body: 'b', IfNoneMatch: '*' }));
await refused('NoSuchKey', send('GetObject', { Key: 'none' }));
await send('DeleteObjects', { Delete: { Objects: [{ Key: 'cond' }, { Key: 'sum' }] } });
await send('PutObjectTagging', { Key: 'stream', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } });
assert.deepEqual((await send('GetObjectTagging', { Key: 'stream' })).TagSet, [{ Key: 'a', Value: 'b' }]);

// Parts with a checksum that is the whole object's.
const parts = [crypto.randomBytes(5 << 20), crypto.randomBytes(6 << 20), Buffer.from('end')];
for (const ChecksumType of ['FULL_OBJECT', 'COMPOSITE']) {
    const { UploadId } = await send('CreateMultipartUpload', { Key: 'parts', ChecksumAlgorithm: 'CRC32', ChecksumType });
    const Parts = [];
    for (const [i, part] of parts.entries()) {
        const { ETag, ChecksumCRC32 } = await send('UploadPart', { Key: 'parts', UploadId, PartNumber: i + 1, Body: part, ChecksumAlgorithm: 'CRC32' });
        Parts.push({ ETag, ChecksumCRC32, PartNumber: i + 1 });
    }
    const done = await send('CompleteMultipartUpload', { Key: 'parts', UploadId, MultipartUpload: { Parts }, ChecksumType });
    const whole = await send('PutObject', { Key: 'whole', Body: Buffer.concat(parts), ChecksumAlgorithm: 'CRC32' });
    if (ChecksumType === 'FULL_OBJECT')
        assert.equal(done.ChecksumCRC32, whole.ChecksumCRC32);
    else
        assert.match(done.ChecksumCRC32, /-3$/);
    const got = await send('GetObject', { Key: 'parts' });
    assert.deepEqual(Buffer.from(await got.Body.transformToByteArray()), Buffer.concat(parts));
}

// Signed URLs and forms.
const putUrl = await getSignedUrl(client, new s3.PutObjectCommand({ Bucket: 'sdk', Key: 'url', ContentType: 'a/b' }), { expiresIn: 60, signableHeaders: new Set(['content-type']) });
assert.equal((await fetch(putUrl, { method: 'PUT', body: 'by url', headers: { 'Content-Type': 'a/b' } })).status, 200);
assert.equal((await fetch(putUrl, { method: 'PUT', body: 'by url', headers: { 'Content-Type': 'c/d' } })).status, 403);
const getUrl = await getSignedUrl(client, new s3.GetObjectCommand({ Bucket: 'sdk', Key: 'url', ResponseContentDisposition: 'attachment' }), { expiresIn: 60 });
const got = await fetch(getUrl);
assert.equal(await got.text(), 'by url');
assert.equal(got.headers.get('content-disposition'), 'attachment');
assert.equal((await fetch(getUrl.replace('attachment', 'inline'))).status, 403);
const { url, fields } = await createPresignedPost(client, { Bucket: 'sdk', Key: 'posted', Conditions: [['content-length-range', 1, 100]], Expires: 60 });
const post = (text) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields))
        form.append(name, value);
    form.append('file', new Blob([text]), 'f.txt');
    return fetch(url, { method: 'POST', body: form });
};
assert.equal((await post('posted')).status, 204);
assert.equal((await post('x'.repeat(101))).status, 400);
assert.equal(await (await send('GetObject', { Key: 'posted' })).Body.transformToString(), 'posted');

const pages = [];
for await (const page of s3.paginateListObjectsV2({ client, pageSize: 2 }, { Bucket: 'sdk' }))
    pages.push(...page.Contents.map((object) => object.Key));
assert.deepEqual(pages, ['parts', 'posted', 'stream', 'url', 'whole']);
await send('DeleteObjects', { Delete: { Objects: pages.map((Key) => ({ Key })) } });
await send('DeleteBucket', {});
console.log('all is well');
