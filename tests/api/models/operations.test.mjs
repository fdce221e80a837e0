// What Kinex Fit's document says of running the tables: costs, consistency, metrics, common issues.
import { assert, call, client, items, sdk, serve, server, test } from './lib.mjs';

serve(['--enforce-capacity'], 'kinex-fit');

const workouts = items('kinex-fit', 'spotter-workouts', 'Workout');
const [user] = items('kinex-fit', 'spotter-users', 'User');
const { userId, id } = workouts[0];

test('An eventually consistent read costs half, and a strongly consistent one sees the latest write', async () => {
    const get = (ConsistentRead) => call('Get', {
        TableName: 'spotter-workouts', Key: { userId, id }, ConsistentRead, ReturnConsumedCapacity: 'TOTAL',
    });
    const [cheap, dear] = [await get(false), await get(true)];
    assert.equal(cheap.ConsumedCapacity.CapacityUnits * 2, dear.ConsumedCapacity.CapacityUnits);
    await call('Put', { TableName: 'spotter-workouts', Item: { ...workouts[0], title: 'changed' } });
    assert.equal((await get(true)).Item.title, 'changed');
    await call('Put', { TableName: 'spotter-workouts', Item: workouts[0] });
});

test('Each index that has an item costs a write of its own', async () => {
    const put = (Item) => call('Put', { TableName: 'spotter-users', Item, ReturnConsumedCapacity: 'INDEXES' });
    const customer = await put({ email: 'one@kinex.example', stripeCustomerId: 'cus_one' });
    const { Table, GlobalSecondaryIndexes } = customer.ConsumedCapacity;
    assert.equal(Table.CapacityUnits, 1);
    assert.deepEqual(Object.keys(GlobalSecondaryIndexes).sort(), ['email-index', 'stripeCustomerId-index']);
    const other = await put({ email: 'two@kinex.example' });
    assert.deepEqual(Object.keys(other.ConsumedCapacity.GlobalSecondaryIndexes), ['email-index']);
});

const provision = (TableName, units) => client.send(new sdk.UpdateTableCommand({
    TableName,
    BillingMode: units ? 'PROVISIONED' : 'PAY_PER_REQUEST',
    ...(units && { ProvisionedThroughput: { ReadCapacityUnits: units, WriteCapacityUnits: units } }),
}));

test('Too many requests for the provisioned throughput are refused, and on-demand billing helps', async () => {
    const TableName = 'spotter-webhook-events';
    const put = (n) => call('Put', { TableName, Item: { eventId: `evt_throttled_${n}`, eventType: 'x' } });
    await provision(TableName, 1);
    await assert.rejects(async () => {
        for (let n = 0; n < 2000; n++) await put(n);
    }, { name: 'ProvisionedThroughputExceededException' });
    await provision(TableName);
    for (let n = 0; n < 50; n++) await put(n);
});

test('A condition that fails is told apart', async () => {
    await assert.rejects(call('Put', {
        TableName: 'spotter-users', Item: { ...user }, ConditionExpression: 'attribute_not_exists(id)',
    }), { name: 'ConditionalCheckFailedException' });
});

test('A scan reads the whole table, a query only what it answers', async () => {
    const values = { ':u': userId };
    const scan = await call('Scan', {
        TableName: 'spotter-workouts', FilterExpression: 'userId = :u', ExpressionAttributeValues: values,
    });
    const query = await call('Query', {
        TableName: 'spotter-workouts', KeyConditionExpression: 'userId = :u', ExpressionAttributeValues: values,
    });
    assert.equal(scan.Count, query.Count);
    assert.equal(scan.ScannedCount, workouts.length);
    assert.equal(query.ScannedCount, query.Count);
});

test('The metrics of the document are counted', async () => {
    await assert.rejects(call('Get', { TableName: 'spotter-users', Key: { wrong: 'x' } }), { name: 'ValidationException' });
    const text = await (await fetch(`${server.endpoint}/metrics`)).text();
    const sum = (name) => [...text.matchAll(new RegExp(`^dolmen_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))]
        .reduce((total, [, value]) => total + Number(value), 0);
    for (const name of ['consumed_read_capacity_units', 'consumed_write_capacity_units', 'throttled_requests', 'user_errors'])
        assert.ok(sum(`${name}_total`) > 0, name);
    assert.equal(sum('system_errors_total'), 0);
    assert.match(text, /^dolmen_system_errors_total/m);
});

test('What is denormalized is stored with the document', async () => {
    const Item = { ...workouts[0], id: 'workout-denormalized', userSubscriptionTier: 'pro' };
    await call('Put', { TableName: 'spotter-workouts', Item });
    const found = await call('Get', { TableName: 'spotter-workouts', Key: { userId, id: Item.id } });
    assert.equal(found.Item.userSubscriptionTier, 'pro');
});
