// Every access pattern of Kinex Fit's database document, with the operation written there, and by
// its name in models/kinex-fit.
import { entities } from './entities.mjs';
import { assert, call, items, pattern, query, serve, test } from './lib.mjs';

serve('kinex-fit');

const users = items('kinex-fit', 'spotter-users', 'User');
const workouts = items('kinex-fit', 'spotter-workouts', 'Workout');
const completions = items('kinex-fit', 'spotter-workout-completions', 'WorkoutCompletion');
const events = items('kinex-fit', 'spotter-webhook-events', 'WebhookEvent');
const { userId } = workouts[0];
const single = { same: () => '' };
const own = (list) => list.filter((item) => item.userId === userId);

const user = users.find((one) => one.stripeCustomerId);
const { id, email, stripeCustomerId } = user;
pattern('Get user by ID', {
    table: 'spotter-users',
    get: { id },
    named: ['userById', { id }],
    found: () => [user],
    ...single,
});
pattern('Get user by email', {
    table: 'spotter-users',
    index: 'email-index',
    keys: 'email = :v',
    values: { ':v': email },
    named: ['userByEmail', { email }],
    found: () => [user],
    ...single,
});
pattern('Get user by Stripe ID', {
    table: 'spotter-users',
    index: 'stripeCustomerId-index',
    keys: 'stripeCustomerId = :v',
    values: { ':v': stripeCustomerId },
    named: ['userByStripeCustomerId', { stripeCustomerId }],
    found: () => [user],
    ...single,
});
pattern('Get all workouts for user', {
    table: 'spotter-workouts',
    keys: 'userId = :userId',
    values: { ':userId': userId },
    named: ['workoutsByUser', { userId }],
    found: () => own(workouts),
    order: (workout) => workout.id,
});
const [start, end] = ['2026-02-01T00:00:00Z', '2026-09-01T00:00:00Z'];
pattern('Get workouts by date range', {
    table: 'spotter-workouts',
    index: 'userId-createdAt-index',
    keys: 'userId = :userId AND createdAt BETWEEN :start AND :end',
    values: { ':userId': userId, ':start': start, ':end': end },
    named: ['workoutsByDateRange', { userId, start, end }],
    found: () => own(workouts).filter((workout) => workout.createdAt >= start && workout.createdAt <= end),
    order: (workout) => workout.createdAt,
});
pattern('Get workout by ID', {
    table: 'spotter-workouts',
    get: { userId, id: workouts[0].id },
    named: ['workoutById', { userId, id: workouts[0].id }],
    found: () => [workouts[0]],
    ...single,
});
pattern('Get completions for user', {
    table: 'spotter-workout-completions',
    keys: 'userId = :userId',
    values: { ':userId': userId },
    named: ['completionsByUser', { userId }],
    found: () => own(completions),
    order: (completion) => completion.completedAt,
});
const [{ eventId }] = events;
pattern('Check webhook processed', {
    table: 'spotter-webhook-events',
    get: { eventId },
    consistent: true,
    named: ['webhookProcessed', { eventId }],
    found: () => [events[0]],
    ...single,
});

// ---- What the document says of values ---------------------------------------------------------

const refused = (Item, pattern, TableName) =>
    assert.rejects(call('Put', { TableName, Item }), (error) => {
        assert.equal(error.name, 'ValidationException');
        assert.match(error.message, pattern);
        return true;
    });

test('Email is unique', async () => {
    await refused({ email }, /email/, 'spotter-users');
});

test('Reps are a number or text, scores are 1 to 5', async () => {
    const exercise = { id: 'e', name: 'Row', sets: 3 };
    const workout = { userId: 'u', title: 'x', source: 'manual' };
    const put = (reps) =>
        call('Put', { TableName: 'spotter-workouts', Item: { ...workout, exercises: [{ ...exercise, reps }] } });
    for (const reps of [5, '8-12', 'AMRAP']) await put(reps);
    await refused({ ...workout, exercises: [{ ...exercise, reps: true }] }, /\/exercises\/0\/reps/, 'spotter-workouts');
    const done = { userId: 'u', workoutId: 'w', duration: 5, difficulty: 'easy', exercisesCompleted: [] };
    await refused({ ...done, energyLevel: 6 }, /\/energyLevel/, 'spotter-workout-completions');
});

test('A webhook event lives seven days', async () => {
    const processedAt = new Date().toISOString();
    await call('Put', { TableName: 'spotter-webhook-events', Item: { eventId: 'evt_7', eventType: 'x', processedAt } });
    const { Item } = await call('Get', { TableName: 'spotter-webhook-events', Key: { eventId: 'evt_7' } });
    assert.equal(Item.ttl, Math.floor(Date.parse(processedAt) / 1000) + 7 * 86400);
});

// The application writes null for what a user does not have yet.
test('A sign-up with nulls is stored as it is', async () => {
    const now = '2026-11-16T09:30:00.000Z';
    const Item = {
        id: 'user-signed-up', email: 'new@kinex.example', firstName: 'New', lastName: null, passwordHash: null, image: null,
        subscriptionTier: 'free', subscriptionStatus: 'active', subscriptionStartDate: null, subscriptionEndDate: null,
        trialEndsAt: null, stripeSubscriptionId: null, scanQuotaUsed: 0, workoutsSaved: 0, trainingProfile: null,
        onboardingCompleted: false, onboardingCompletedAt: null, createdAt: now, updatedAt: now,
    };
    await call('Put', { TableName: 'spotter-users', Item, ConditionExpression: 'attribute_not_exists(id)' });
    const stored = await call('Get', { TableName: 'spotter-users', Key: { id: Item.id } });
    assert.deepEqual(stored.Item, Item);
    await call('Delete', { TableName: 'spotter-users', Key: { id: Item.id } });
});

const tables = {
    User: 'spotter-users',
    Workout: 'spotter-workouts',
    WorkoutCompletion: 'spotter-workout-completions',
    WebhookEvent: 'spotter-webhook-events',
};
entities('kinex-fit', (entity) => tables[entity]);

test('A webhook event is recorded once', async () => {
    const put = () => call('Put', {
        TableName: 'spotter-webhook-events',
        Item: { eventId: 'evt_once', eventType: 'invoice.paid' },
        ConditionExpression: 'attribute_not_exists(eventId)',
    });
    await put();
    await assert.rejects(put(), { name: 'ConditionalCheckFailedException' });
    const [found] = await query('spotter-webhook-events', 'webhookProcessed', 'eventId=evt_once');
    assert.equal(found.eventType, 'invoice.paid');
});
