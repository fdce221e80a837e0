// The media site's migrations on generated old data, up and down: version 1.0, with media under
// their albums, and the keys of the earlier schema.
import path from 'node:path';
import { assert, call, client, dolmen, items, modelFile, query, root, sdk, serve, test } from './lib.mjs';

const table = 'pornspot';
const data = (entity) => items('pornspot', table, entity);
const file = (name) => path.join(root, 'models/pornspot/migrations', name + '.migration');
const without = (item, ...names) => Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

// ---- Old data ---------------------------------------------------------------------------------

const albums = data('Album').slice(0, 12).map((album) => ({
    ...without(album, 'isPublic', 'viewCount', 'GSI6SK'), PK: `ALBUM#${album.id}`, SK: 'METADATA',
    GSI1PK: 'ALBUM', GSI1SK: `${album.createdAt}#${album.id}`,
}));

// Version 1.0: each media item is in one album, under its key.
const media = data('Media').map((item, i) => {
    const albumId = albums[i % albums.length].id;
    return {
        ...without(item, 'isPublic', 'type', 'viewCount', 'GSI6SK'),
        PK: `ALBUM#${albumId}`,
        SK: `MEDIA#${item.id}`,
        GSI1PK: `MEDIA#${albumId}`,
        GSI1SK: `${item.createdAt}#${item.id}`,
        albumId,
    };
});

const users = data('User').map((user) => ({
    EntityType: 'User', userId: user.userId, email: user.email, username: user.username, role: user.role,
    createdAt: user.createdAt, emailVerified: user.isEmailVerified, PK: `USER#${user.userId}`, SK: 'METADATA',
    GSI1PK: 'USER_EMAIL', GSI1SK: user.email, GSI3PK: 'USER_USERNAME', GSI3SK: user.username,
}));
const sessions = data('UserSession').map((session) => ({
    ...without(session, 'userEmail'), PK: `USER_SESSION#${session.sessionId}`, SK: 'METADATA',
    GSI1PK: 'USER_SESSION_EXPIRY', GSI1SK: `${session.expiresAt}#${session.sessionId}`,
}));
const tokens = data('EmailVerificationToken').map((token) => ({
    ...without(token, 'email', 'createdAt'), PK: `EMAIL_VERIFICATION_TOKEN#${token.token}`, SK: 'METADATA',
}));
const interactions = data('UserInteraction')
    .filter((one) => one.targetType === 'media')
    .map((one) => ({
        ...without(one, 'targetType', 'targetId'), mediaId: one.targetId, PK: `USER#${one.userId}`,
        SK: `INTERACTION#${one.interactionType}#${one.targetId}`, GSI1PK: `MEDIA_INTERACTION#${one.targetId}`,
        GSI1SK: `${one.interactionType}#${one.userId}`,
    }));
// The sessions of administrative users, whose keys did not change.
const admins = data('AdminSession').map((session) => ({
    ...session, PK: `SESSION#${session.sessionId}`, SK: 'METADATA', GSI1PK: 'SESSION_EXPIRY',
    GSI1SK: `${session.expiresAt}#${session.sessionId}`, ttl: Math.floor(Date.parse(session.expiresAt) / 1000),
}));
// An album from when isPublic was a boolean.
const closed = { ...albums[0], id: 'closed', isPublic: false, PK: 'ALBUM#closed', GSI1SK: `${albums[0].createdAt}#closed` };

// ---- The table as it was ------------------------------------------------------------------------

const key = (name) => [{ AttributeName: name + 'PK', KeyType: 'HASH' }, { AttributeName: name + 'SK', KeyType: 'RANGE' }];

async function prepare() {
    const names = ['', 'GSI1', 'GSI2', 'GSI3'];
    await client.send(new sdk.CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: key(''),
        AttributeDefinitions: names.flatMap((name) =>
            ['PK', 'SK'].map((part) => ({ AttributeName: name + part, AttributeType: 'S' }))),
        GlobalSecondaryIndexes: names.slice(1).map((name) =>
            ({ IndexName: name, KeySchema: key(name), Projection: { ProjectionType: 'ALL' } })),
    }));
    const all = [...albums, ...media, ...users, ...sessions, ...tokens, ...interactions, ...admins, closed];
    for (let i = 0; i < all.length; i += 25) {
        const writes = all.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }));
        await call('BatchWrite', { RequestItems: { [table]: writes } });
    }
}
serve(prepare);

async function readAll() {
    const found = new Map();
    let ExclusiveStartKey;
    do {
        const page = await call('Scan', { TableName: table, ExclusiveStartKey });
        for (const item of page.Items) found.set(`${item.PK} ${item.SK}`, item);
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return found;
}

// Each of the items is there, with at least what it had, but for what may have been filled in.
async function areThere(list) {
    const found = await readAll();
    for (const item of list) {
        const other = found.get(`${item.PK} ${item.SK}`) ?? {};
        const part = Object.fromEntries(Object.keys(item).map((name) => [name, other[name]]));
        assert.deepEqual(part, item);
    }
}

test('Migration from v1.0: media under albums', async () => {
    await dolmen('apply', modelFile('pornspot'), '--force');
    const before = await readAll();
    await dolmen('migrate', file('v1-media'), '--dry-run');
    assert.deepEqual(await readAll(), before);

    await dolmen('migrate', file('v1-media'));
    const { id } = albums[0];
    const wanted = media.filter((item) => item.albumId === id);
    const links = await query(table, 'mediaOfAlbum', `albumId=${id}`);
    assert.deepEqual(links.map((link) => link.mediaId), wanted.map((item) => item.id).sort());
    for (const item of wanted) {
        const [found] = await query(table, 'mediaById', `id=${item.id}`);
        assert.equal(found.filename, item.filename);
        assert.equal(found.albumId, undefined);
        assert.equal(found.PK, `MEDIA#${item.id}`);
        assert.equal(found.isPublic, 'true');
        const [link] = await query(table, 'albumsOfMedia', `mediaId=${item.id}`);
        assert.equal(link.albumId, id);
        assert.equal(link.addedAt, item.createdAt);
    }
    const all = await query(table, 'allMedia');
    assert.equal(all.length, media.length);
});

test('The migration from v1.0 can be done again without effect', async () => {
    const before = await readAll();
    await dolmen('migrate', file('v1-media'), '--again');
    assert.deepEqual(await readAll(), before);
});

test('Earlier keys of sessions, tokens and interactions', async () => {
    await dolmen('migrate', file('earlier-keys'));
    const found = await readAll();
    for (const session of sessions) {
        const { email } = users.find((user) => user.userId === session.userId);
        const now = found.get(`SESSION#${session.sessionId} METADATA`);
        assert.equal(now.userEmail, email);
        assert.equal(now.ttl, Math.floor(Date.parse(session.expiresAt) / 1000));
        assert.equal(now.GSI2PK, `USER#${session.userId}#SESSION`);
        assert.ok(!found.has(`${session.PK} METADATA`));
    }
    for (const { token, userId } of tokens)
        assert.equal(found.get(`EMAIL_VERIFICATION#${token} METADATA`).userId, userId);
    for (const one of interactions) {
        const now = found.get(`${one.PK} ${one.SK}`);
        assert.equal(now.targetId, one.mediaId);
        assert.equal(now.GSI1PK, `INTERACTION#${one.interactionType}#${one.mediaId}`);
    }
    for (const user of users) {
        const now = found.get(`${user.PK} METADATA`);
        assert.equal(now.isEmailVerified, user.emailVerified);
        assert.equal(now.emailVerified, undefined);
    }
    assert.equal(found.get('ALBUM#closed METADATA').isPublic, 'false');
    await areThere(admins);
});

test('Every item fits the model after the migrations', async () => {
    await dolmen('apply', modelFile('pornspot'), '--check');
});

test('The way back from both', async () => {
    await dolmen('abandon', table);
    await dolmen('migrate', file('earlier-keys'), '--down');
    await dolmen('migrate', file('v1-media'), '--down');
    await areThere([...media, ...users, ...sessions, ...tokens, ...interactions, ...admins]);
    const found = await readAll();
    assert.equal([...found.values()].filter((item) => item.PK.startsWith('MEDIA#')).length, 0);
});
