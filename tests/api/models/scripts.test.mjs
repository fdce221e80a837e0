// The scripts that the documents name (scripts.mjs): what they write before there is a model is what the model
// derives, and they run on the model, too.
import { albums, createTable, media, putAll, sessions, table, users } from './aged.mjs';
import { assert, call, dolmen, modelFile, serve, test } from './lib.mjs';
import { backfillGsi4Albums, backfillGsi5Users, backfillIsPublic, setAdminRole } from './scripts.mjs';

const old = [...albums, ...media, ...users, ...sessions];
const written = ['isPublic', 'GSI4PK', 'GSI4SK', 'GSI5PK', 'GSI5SK'];

// What the scripts write, of all items: those of an album, media item or user that they are not for stay without.
async function read() {
    const found = new Map();
    for (const { PK, SK } of old) {
        const { Item } = await call('Get', { TableName: table, Key: { PK, SK } });
        found.set(PK, Object.fromEntries(written.filter((name) => name in Item).map((name) => [name, Item[name]])));
    }
    return found;
}

async function backfill() {
    await backfillIsPublic();
    await backfillGsi4Albums();
    await backfillGsi5Users();
}

let before;
serve(async () => {
    await createTable();
    await putAll(table, old);
    await backfill();
    before = await read();
    await dolmen('apply', modelFile('pornspot'));
});

test('The backfill scripts write what the model derives', async () => {
    const now = await read();
    for (const [key, values] of before) {
        const kept = Object.fromEntries(Object.keys(values).map((name) => [name, now.get(key)[name]]));
        assert.deepEqual(kept, values, key);
    }
    const has = (list, name) => list.filter(({ PK }) => name in before.get(PK)).length;
    assert.equal(has([...albums, ...media], 'isPublic'), albums.length + media.length);
    assert.equal(has(albums, 'GSI4SK'), albums.filter((album) => album.createdBy).length);
    assert.equal(has(users, 'GSI5SK'), users.length);
    assert.equal(before.get(users[1].PK).GSI5SK, `00000000000000000012.50#${users[1].userId}`);
});

test('The backfill scripts run on the model, and change nothing', async () => {
    const now = await read();
    await backfill();
    assert.deepEqual(await read(), now);
});

test('The script for the role of an admin runs on the model', async () => {
    const [{ sessionId }] = sessions;
    const userId = await setAdminRole(sessionId, 'admin');
    const { Item } = await call('Get', { TableName: table, Key: { PK: `USER#${userId}`, SK: 'METADATA' } });
    assert.equal(Item.role, 'admin');
    await assert.rejects(setAdminRole(sessionId, 'root'), /Entity User: \/role/);
});
