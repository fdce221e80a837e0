// The backfills of the documents. Old data, as the applications wrote them before the indexes and
// attributes came, are loaded into tables without a model; `dolmen apply` fills what is missing.
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { albums, createTable, media, putAll, table, users } from './aged.mjs';
import { assert, call, dolmen, items, modelFile, query, serve, test } from './lib.mjs';

serve(async () => {
    await createTable();
    await putAll(table, [...albums, ...media, ...users]);
    await dolmen('apply', modelFile('pornspot'));
});

const find = async (IndexName, keys, values) =>
    (await call('Query', {
        TableName: table,
        IndexName,
        KeyConditionExpression: keys,
        ExpressionAttributeValues: values,
    })).Items;
const ids = (list) => list.map((item) => item.id).sort();

test('Backfill: isPublic of albums and media', async () => {
    assert.deepEqual(ids(await find('GSI5', 'GSI5PK = :p AND GSI5SK = :t', { ':p': 'ALBUM', ':t': 'true' })), ids(albums));
    assert.deepEqual(ids(await find('GSI5', 'GSI5PK = :p AND GSI5SK = :t', { ':p': 'MEDIA', ':t': 'true' })), ids(media));
    const open = await find('isPublic-createdAt-index', 'isPublic = :t', { ':t': 'true' });
    assert.deepEqual(ids(open), ids([...albums, ...media]));
    const dates = open.map((item) => item.createdAt);
    assert.deepEqual(dates, [...dates].sort());
});

test('Backfill: GSI4 of albums', async () => {
    const found = await find('GSI4', 'GSI4PK = :p', { ':p': 'ALBUM_BY_CREATOR' });
    const created = albums.filter((album) => album.createdBy);
    assert.ok(created.length < albums.length, 'some albums have no creator');
    assert.deepEqual(
        found.map((album) => album.GSI4SK),
        created.map((album) => `${album.createdBy}#${album.createdAt}#${album.id}`).sort());
});

test('Backfill: GSI5 of users', async () => {
    const found = await find('GSI5', 'GSI5PK = :p', { ':p': 'USER_PSC_TOTAL_EARNED' });
    const wanted = users.map((user) => `${(user.pscTotalEarned ?? 0).toFixed(2).padStart(23, '0')}#${user.userId}`).sort();
    assert.deepEqual(found.map((user) => user.GSI5SK), wanted);
    const [best] = await query(table, 'leaderboard');
    assert.equal(best.userId, users[4].userId);
});

test('What the old items had is as it was', async () => {
    for (const item of [albums[3], media[3], users[3]]) {
        const { Item } = await call('Get', { TableName: table, Key: { PK: item.PK, SK: item.SK } });
        const part = Object.fromEntries(Object.keys(item).map((name) => [name, Item[name]]));
        assert.deepEqual(part, item);
    }
});

test('Set the role of an admin', async () => {
    const Key = { PK: users[8].PK, SK: 'METADATA' };
    await call('Update', {
        TableName: table,
        Key,
        UpdateExpression: 'SET #r = :admin, updatedAt = :now',
        ExpressionAttributeNames: { '#r': 'role' },
        ExpressionAttributeValues: { ':admin': 'admin', ':now': new Date().toISOString() },
    });
    const { Item } = await call('Get', { TableName: table, Key });
    assert.equal(Item.role, 'admin');
    const wrong = { TableName: table, Key, UpdateExpression: 'SET #r = :r', ExpressionAttributeNames: { '#r': 'role' } };
    await assert.rejects(call('Update', { ...wrong, ExpressionAttributeValues: { ':r': 'root' } }), /Entity User: \/role/);
});

test('A media item is in an album once', async () => {
    const put = () => call('Put', {
        TableName: table,
        Item: { EntityType: 'AlbumMedia', albumId: albums[0].id, mediaId: media[0].id },
        ConditionExpression: 'attribute_not_exists(PK) AND attribute_not_exists(SK)',
    });
    await put();
    await assert.rejects(put(), { name: 'ConditionalCheckFailedException' });
});

// Kinex Fit's process: an optional field at first; then filled and required.
test('Backfill: phone numbers become required', async () => {
    const people = items('kinex-fit', 'spotter-users', 'User');
    people[0].phoneNumber = '555-0100';
    const first = readFileSync(modelFile('kinex-fit'), 'utf8');
    assert.ok(first.includes('phoneNumber?: string\n'));
    const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-phone.'));
    const file = path.join(directory, 'kinex-fit.dolmen');
    writeFileSync(file, first);
    await dolmen('apply', file);
    await putAll('spotter-users', people);
    // Unsafe: required at once, without a value for those who have none.
    writeFileSync(file, first.replace('phoneNumber?: string\n', 'phoneNumber: string\n'));
    await assert.rejects(dolmen('apply', file), /phoneNumber/);
    writeFileSync(file, first.replace('phoneNumber?: string\n', 'phoneNumber: string = "000-000-0000"\n'));
    await dolmen('apply', file);
    const { Items } = await call('Scan', { TableName: 'spotter-users' });
    assert.equal(Items.length, people.length);
    for (const user of Items)
        assert.equal(user.phoneNumber, user.id === people[0].id ? '555-0100' : '000-000-0000');
    rmSync(directory, { recursive: true });
});
