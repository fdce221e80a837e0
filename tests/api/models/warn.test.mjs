// A team with live data begins with `guard warn, unmatched warn`: whatever the applications write is stored as
// it was sent, also what their documents never describe, and the answer says what `enforce` would refuse.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, call, documents, dolmen, modelFile, serve, test } from './lib.mjs';

// A model with its guard turned down.
async function applyWarning(model) {
    const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-warn.'));
    const file = path.join(directory, model + '.dolmen');
    const text = readFileSync(modelFile(model), 'utf8');
    writeFileSync(file, text.replace(/guard( +)enforce/g, 'guard$1warn\n  unmatched warn'));
    await dolmen('apply', file);
    rmSync(directory, { recursive: true });
}

serve(async () => {
    for (const model of ['pornspot', 'figureforge', 'asset-creator', 'kinex-fit']) await applyWarning(model);
});

// What the SDK was told beside the answer.
let warnings;
const listen = () => documents.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    warnings = result.response?.headers?.['x-dolmen-warnings'];
    return result;
}, { step: 'deserialize', name: 'warnings', override: true });

async function writes(TableName, Key, Item) {
    listen();
    warnings = undefined;
    await call('Put', { TableName, Item: { ...Key, ...Item } });
    const told = warnings;
    const stored = await call('Get', { TableName, Key });
    assert.deepEqual(stored.Item, { ...Key, ...Item });
    return told;
}

test('Nulls, entities and attributes that no document has are stored as they are sent', async () => {
    const strange = [
        ['pornspot', { PK: 'WALLET#1', SK: 'METADATA' }, { EntityType: 'Wallet', balance: '7.50', GSI1PK: 'WALLETS', GSI1SK: '1' }],
        ['pornspot', { PK: 'USER#u1', SK: 'METADATA' }, { EntityType: 'User', userId: 'u1', email: null, username: 7 }],
        ['figureforge', { pk: 'IMG#i1', sk: 'META' }, { url: null, tags: 'none', flag_status: 'unknown' }],
        ['figureforge', { pk: 'VOTE#1', sk: 'IMG#i1' }, { up: true }],
        ['asset_creator', { PK: 'PROJECT#p1', SK: 'JOB#j1' }, { status: null, asset_type: 3 }],
        ['asset_creator', { PK: 'WORKER#1', SK: 'WORKER#1' }, { busy: false }],
        ['spotter-users', { id: 'u1' }, { email: 'a@b.c', subscriptionTier: 'platinum', workoutsSaved: null, trainingProfile: {} }],
        ['spotter-workout-completions', { userId: 'u1', completedAt: 'yesterday' }, { energyLevel: 9 }],
    ];
    for (const [table, key, item] of strange) assert.ok(await writes(table, key, item), `${table} ${JSON.stringify(key)}: no warning`);
});

test('What fits is stored without a word', async () => {
    const now = '2026-11-16T09:30:00.000Z';
    assert.equal(await writes('asset_creator', { PK: 'PROJECT#p1', SK: 'PROJECT#p1' }, { project_id: 'p1', name: 'x', created_at: now }), undefined);
    assert.equal(await writes('spotter-webhook-events', { eventId: 'e1' }, { eventType: 'x', processedAt: now, ttl: 4102444800 }), undefined);
});

test('Null as the key of an index is left out, as the enforced model does', async () => {
    const now = '2026-11-16T09:30:00.000Z';
    const Item = {
        id: 'null-key', email: 'null@kinex.example', stripeCustomerId: null, firstName: null, subscriptionTier: 'free', subscriptionStatus: 'active',
        workoutsSaved: 0, createdAt: now, updatedAt: now,
    };
    const { stripeCustomerId, ...kept } = Item;
    const TableName = 'spotter-users';
    const get = async () => (await call('Get', { TableName, Key: { id: Item.id } })).Item;
    for (const [operation, input] of [
        ['Put', { TableName, Item }],
        ['BatchWrite', { RequestItems: { [TableName]: [{ PutRequest: { Item } }] } }],
        ['TransactWrite', { TransactItems: [{ Put: { TableName, Item } }] }],
    ]) {
        await call(operation, input);
        assert.deepEqual(await get(), kept);
        await call('Put', { TableName, Item: { ...Item, stripeCustomerId: 'cus_7' } });
        await call('Update', {
            TableName, Key: { id: Item.id }, UpdateExpression: 'SET stripeCustomerId = :null', ExpressionAttributeValues: { ':null': null },
        });
        assert.deepEqual(await get(), kept);
        await call('Delete', { TableName, Key: { id: Item.id } });
    }
    assert.equal(stripeCustomerId, null);
    // What the model does not take is still refused, as on a table without one.
    await assert.rejects(call('Put', { TableName, Item: { ...Item, stripeCustomerId: 7 } }), /Type mismatch for Index Key/);
});
