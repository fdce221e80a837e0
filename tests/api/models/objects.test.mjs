// Files of items: FigureForge's two layouts with links of ten minutes, and the files of the asset pipeline's versions, in the
// server's own store.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { assert, dolmen, http, modelFile, serve, test } from './lib.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-objects.'));
after(() => rmSync(directory, { recursive: true, force: true }));
serve(['--admin', '--objects', path.join(directory, 'objects'), '--s3-bucket', 'figureforge-prod'], async () => {
    await http('POST', '/admin/clock', { now: '2026-03-01T12:00:00Z' });
    await dolmen('apply', modelFile('figureforge'));
    await dolmen('apply', modelFile('asset-creator'));
});

const image = async (image_id, more) => (await http('POST', '/v1/figureforge/Image',
    { image_id, user_id: 'u1', url: 'https://cdn/x.jpg', created_at: 1772366400, ...more })).body;
const pathOf = (link) => new URL(link).pathname;
const expires = (link) => new URL(link).searchParams.get('X-Amz-Expires');

// Uploads as the server says, and answers the link to it.
async function upload(target, name, body, ask = {}) {
    const offer = (await http('POST', target.replace('?', `/$upload/${name}?`), ask)).body;
    const { status } = await fetch(offer.url, { method: 'PUT', headers: offer.headers, body });
    assert.equal(status, 200, JSON.stringify(offer));
}

test('The layout of the bucket', async () => {
    const made = await image('i1');
    assert.equal(pathOf(made.$objects.original), '/figureforge-prod/users/u1/2026/03/01/i1.jpg');
    assert.equal(pathOf(made.$objects.teaser), '/figureforge-prod/public/teaser/i1.jpg');
    const teaser = await image('i2', { user_id: null });
    assert.deepEqual(Object.keys(teaser.$objects), ['teaser']);
    await upload('/v1/figureforge/Image?image_id=i1', 'original', 'the picture');
    assert.equal(await (await fetch(made.$objects.original)).text(), 'the picture');
    assert.equal((await fetch(made.$objects.teaser)).status, 404);
});

test('Signed URLs hold for ten minutes', async () => {
    const link = (await image('i3')).$objects.original;
    await upload('/v1/figureforge/Image?image_id=i3', 'original', 'x');
    assert.equal(expires(link), '600');
    assert.equal((await fetch(link)).status, 200);
    assert.equal((await fetch(link.replace('i3.jpg', 'i1.jpg'))).status, 403);
    assert.equal((await fetch(new URL(link).origin + pathOf(link), { headers: { authorization: 'AWS4-HMAC-SHA256 x' } })).status, 400);
    await http('POST', '/admin/clock', { now: '2026-03-01T12:09:00Z' });
    assert.equal((await fetch(link)).status, 200);
    await http('POST', '/admin/clock', { now: '2026-03-01T12:11:00Z' });
    assert.equal((await fetch(link)).status, 403);
    // It is the model that says how long.
    const file = path.join(directory, 'figureforge.dolmen');
    writeFileSync(file, readFileSync(modelFile('figureforge'), 'utf8').replaceAll('signed 10m', 'signed 1h'));
    await dolmen('apply', file);
    assert.equal(expires((await http('GET', '/v1/figureforge/Image?image_id=i3')).body.$objects.original), '3600');
    await dolmen('apply', modelFile('figureforge'));
});

test('Signed URLs for the files of a version', async () => {
    const target = '/v1/asset_creator/AssetVersion?project_id=p&asset_id=a&version=1';
    const version = { project_id: 'p', asset_id: 'a', version: 1, type: '3D', files: ['model.glb', 'textures/skin.png', { odd: true }] };
    const made = (await http('POST', '/v1/asset_creator/AssetVersion', version)).body;
    assert.deepEqual(made.$objects.files.map((link) => link && pathOf(link)), [
        '/figureforge-prod/projects/p/assets/a/v1/model.glb', '/figureforge-prod/projects/p/assets/a/v1/textures/skin.png', null]);
    await upload(target, 'files', 'triangles', { each: 'model.glb' });
    const read = (await http('GET', target)).body;
    assert.equal(await (await fetch(read.$objects.files[0])).text(), 'triangles');
    assert.equal(expires(read.$objects.files[0]), '600');
    assert.equal((await fetch(read.$objects.files[0].replace('/p/', '/q/'))).status, 403);
});
