// The TypeScript examples of Kinex Fit's document (examples/*.ts) run as they stand, on the model.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import typescript from 'typescript';
import { assert, call, http, items, sdk, serve, server, test } from './lib.mjs';

serve('kinex-fit', ['--admin']);

const require = createRequire(import.meta.url);
const AsyncFunction = (async () => {}).constructor;
const commands = Object.fromEntries(Object.entries(sdk).filter(([name]) => /^\w+Command$/.test(name)));

// Runs an example; `given` are the names it takes from elsewhere, `wanted` those it defines.
async function example(name, given, wanted) {
    const source = readFileSync(new URL(`examples/${name}.ts`, import.meta.url), 'utf8');
    const { outputText } = typescript.transpileModule(source, {
        compilerOptions: { module: 'commonjs', target: 'es2022' },
    });
    const body = `${outputText}\nreturn { ${wanted.join(', ')} };`;
    const run = new AsyncFunction('require', 'exports', ...Object.keys(given), body);
    return run(require, {}, ...Object.values(given));
}

// The document's own client; it finds the server by the environment, as the SDK does.
async function throttlingClient() {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.endpoint;
    const { dynamoClient } = await example('throttling', {}, ['dynamoClient']);
    return dynamoClient;
}

const workouts = items('kinex-fit', 'spotter-workouts', 'Workout');
const { userId } = workouts[0];

test('Handle throttling gracefully: the client of the document', async () => {
    const dynamoClient = await throttlingClient();
    const { TableNames } = await dynamoClient.send(new sdk.ListTablesCommand({}));
    assert.ok(TableNames.includes('spotter-workouts'));
    dynamoClient.destroy();
});

test('Fetch workouts by date range: getWorkoutsByDateRange', async () => {
    const dynamoClient = await throttlingClient();
    const { getWorkoutsByDateRange } = await example('workouts-by-date-range', { dynamoClient }, [
        'getWorkoutsByDateRange',
    ]);
    const found = await getWorkoutsByDateRange(userId, '2026-03-01', '2026-08-01');
    const wanted = workouts
        .filter((one) => one.userId === userId && one.createdAt >= '2026-03-01' && one.createdAt <= '2026-08-01')
        .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    assert.ok(wanted.length > 0);
    assert.deepEqual(found.map((one) => one.id), wanted.map((one) => one.id));
    dynamoClient.destroy();
});

test('Query by partition key', async () => {
    const dynamoClient = await throttlingClient();
    const { command } = await example('query-by-partition-key', { ...commands, userId }, ['command']);
    const { Count, ScannedCount } = await dynamoClient.send(command);
    assert.equal(Count, workouts.filter((one) => one.userId === userId).length);
    assert.equal(ScannedCount, Count);
    dynamoClient.destroy();
});

test('Use TTL for auto-cleanup, and the strongly consistent read after it', async () => {
    const dynamoClient = await throttlingClient();
    const { command: put, ttl } = await example('ttl', commands, ['command', 'ttl']);
    await dynamoClient.send(put);
    const { command: get } = await example('strongly-consistent-read', commands, ['command']);
    const { Item } = await dynamoClient.send(get);
    assert.equal(Item.eventId.S, 'evt_123');
    assert.equal(Item.ttl.N, String(ttl));
    dynamoClient.destroy();
});

test('Optimistic locking with conditional writes', async () => {
    const dynamoClient = await throttlingClient();
    const { marshall } = require('@aws-sdk/util-dynamodb');
    const workoutItem = marshall({ ...workouts[0], id: 'workout-once', title: 'first' });
    await example('conditional-write', { ...commands, dynamoClient, workoutItem }, []);
    workoutItem.title = { S: 'second' };
    await example('conditional-write', { ...commands, dynamoClient, workoutItem }, []);
    const { Item } = await call('Get', { TableName: 'spotter-workouts', Key: { userId, id: 'workout-once' } });
    assert.equal(Item.title, 'first');
    dynamoClient.destroy();
});

test('Backfill script: backfillPhoneNumbers', async () => {
    const dynamoClient = await throttlingClient();
    const { backfillPhoneNumbers } = await example('backfill-phone-numbers', { dynamoClient }, ['backfillPhoneNumbers']);
    await backfillPhoneNumbers();
    const { Items } = await call('Scan', { TableName: 'spotter-users' });
    assert.ok(Items.length > 0);
    for (const user of Items) assert.equal(user.phoneNumber, '000-000-0000');
    dynamoClient.destroy();
});

// The example records of the document, in their tables.
const records = {
    'spotter-users': [{ id: 'user-550e8400-e29b-41d4-a716-446655440000' }, 'user'],
    'spotter-workouts': [
        { userId: 'user-550e8400-e29b-41d4-a716-446655440000', id: 'workout-123e4567-e89b-12d3-a456-426614174000' },
        'workout',
    ],
    'spotter-workout-completions': [
        { userId: 'user-550e8400-e29b-41d4-a716-446655440000', completedAt: '2025-01-10T11:30:00Z' },
        'completion',
    ],
    'spotter-webhook-events': [{ eventId: 'evt_1234567890abcdef' }, 'webhook-event'],
};
// The user of the example has saved as many workouts as it says, and its month is not over yet.
async function saved({ id, workoutsSaved }) {
    await http('POST', '/admin/clock', { now: '2024-12-31T12:00:00Z' });
    const sample = items('kinex-fit', 'spotter-workouts', 'Workout')[0];
    for (let n = 0; n < workoutsSaved; n++)
        await call('Put', { TableName: 'spotter-workouts', Item: { ...sample, userId: id, id: `workout-saved-${n}` } });
}

for (const [TableName, [Key, name]] of Object.entries(records)) {
    test(`The example record of ${TableName} is stored as it is`, async () => {
        const Item = JSON.parse(readFileSync(new URL(`examples/${name}.json`, import.meta.url), 'utf8'));
        const { workoutsSaved, ...sent } = Item; // the server counts them
        if (workoutsSaved) await saved(Item);
        await call('Put', { TableName, Item: sent });
        const stored = await call('Get', { TableName, Key });
        await http('POST', '/admin/clock', { now: new Date().toISOString() });
        if (!stored.Item && Item.ttl < Date.now() / 1000) return; // expired long ago, and gone already
        assert.deepEqual(stored.Item, Item);
    });
}

test('Counts that an import brings along are dropped', async () => {
    const TableName = 'spotter-users';
    const Item = { ...items('kinex-fit', TableName, 'User')[0], id: 'user-moved', email: 'moved@kinex.example', stripeCustomerId: 'cus_moved', workoutsSaved: 5 };
    const saved = async () => (await call('Get', { TableName, Key: { id: Item.id } })).Item.workoutsSaved;
    await assert.rejects(call('Put', { TableName, Item }), { name: 'ValidationException' });
    await call('BatchWrite', { RequestItems: { [TableName]: [{ PutRequest: { Item } }] } });
    assert.equal(await saved(), 0);
    const workout = { ...items('kinex-fit', 'spotter-workouts', 'Workout')[0], userId: Item.id, id: 'workout-moved' };
    await call('Put', { TableName: 'spotter-workouts', Item: workout });
    await call('BatchWrite', { RequestItems: { [TableName]: [{ PutRequest: { Item } }] } });
    assert.equal(await saved(), 1);
    await call('Delete', { TableName: 'spotter-workouts', Key: { userId: workout.userId, id: workout.id } });
    await call('Delete', { TableName, Key: { id: Item.id } });
});
