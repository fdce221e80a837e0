// Every access pattern of Kinex Fit's database document, with the operation written there, and by
// its name in models/kinex-fit.
import { entities } from './entities.mjs';
import { assert, call, items, pattern, query, serve, server, test } from './lib.mjs';
import { adapter, days, google } from './nextauth.mjs';

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

// ---- NextAuth.js ----------------------------------------------------------------------------

const authenticate = () => adapter(server.endpoint);
const signUp = (auth, email) => auth.createUser({ email, name: 'Ada', image: 'https://example.com/a.png', emailVerified: null });

test('NextAuth.js: who signs up has a profile of the same id in spotter-users', async () => {
    const auth = authenticate();
    const made = await signUp(auth, 'up@kinex.example');
    const { Item } = await call('Get', { TableName: 'spotter-users', Key: { id: made.id } });
    assert.equal(Item.email, 'up@kinex.example');
    assert.equal(Item.name, 'Ada');
    assert.equal(Item.subscriptionTier, 'free');
    assert.equal((await auth.getUser(made.id)).email, 'up@kinex.example');
    const [byId] = await query('next-auth', 'authUser', `id=${made.id}`);
    const [byEmail] = await query('next-auth', 'authUserByEmail', 'email=up@kinex.example');
    assert.equal(byId.id, made.id);
    assert.equal(byEmail.id, made.id);
    await assert.rejects(signUp(auth, 'up@kinex.example'), /no other item has/);
    const verified = new Date('2026-11-18T01:02:03.000Z');
    assert.deepEqual((await auth.updateUser({ id: made.id, emailVerified: verified })).emailVerified, verified);
});

test('NextAuth.js: accounts are linked, found and unlinked', async () => {
    const auth = authenticate();
    const { id } = await signUp(auth, 'link@kinex.example');
    await auth.linkAccount(google(id, 'g-1'));
    assert.equal((await auth.getUserByAccount({ provider: 'google', providerAccountId: 'g-1' })).id, id);
    const [account] = await query('next-auth', 'account', 'provider=google', 'providerAccountId=g-1');
    assert.equal(account.userId, id);
    assert.equal(account.expires_at, 1790000000);
    const other = await signUp(auth, 'other@kinex.example');
    await assert.rejects(auth.linkAccount(google(other.id, 'g-1')), /no other item has/);
    await auth.unlinkAccount({ provider: 'google', providerAccountId: 'g-1' });
    assert.equal(await auth.getUserByAccount({ provider: 'google', providerAccountId: 'g-1' }), null);
});

test('NextAuth.js: sessions are opened, refreshed and closed, and live 30 days at most', async () => {
    const auth = authenticate();
    const { id } = await signUp(auth, 'session@kinex.example');
    const expires = days(30);
    await auth.createSession({ sessionToken: 'token-1', userId: id, expires });
    const { session, user } = await auth.getSessionAndUser('token-1');
    assert.equal(user.id, id);
    assert.equal(session.expires.getTime(), expires.getTime());
    const [named] = await query('next-auth', 'session', 'sessionToken=token-1');
    assert.equal(named.userId, id);
    const later = new Date(days(30).getTime() + 500);
    assert.equal((await auth.updateSession({ sessionToken: 'token-1', expires: later })).expires.getTime(), later.getTime());
    await assert.rejects(auth.createSession({ sessionToken: 'token-2', userId: id, expires: days(31) }), /30 days at most/);
    await assert.rejects(auth.updateSession({ sessionToken: 'token-1', expires: days(31) }), /30 days at most/);
    assert.deepEqual((await call('Get', { TableName: 'next-auth', Key: { pk: `USER#${id}`, sk: 'SESSION#token-2' } })).Item, undefined);
    await auth.deleteSession('token-1');
    assert.equal(await auth.getSessionAndUser('token-1'), null);
});

test('NextAuth.js: about 500 sessions are open at a time', async () => {
    const auth = authenticate();
    const { id } = await signUp(auth, 'busy@kinex.example');
    const tokens = Array.from({ length: 500 }, (_, at) => `busy-${at}`);
    for (let at = 0; at < tokens.length; at += 50) {
        await Promise.all(tokens.slice(at, at + 50).map((sessionToken) => auth.createSession({ sessionToken, userId: id, expires: days(30) })));
    }
    const found = await query('next-auth', 'userWithAccounts', `id=${id}`);
    assert.equal(found.filter((item) => item.sk.startsWith('SESSION#')).length, 500);
    assert.equal((await auth.getSessionAndUser('busy-499')).user.id, id);
});

test('NextAuth.js: a verification token is used once', async () => {
    const auth = authenticate();
    const token = { identifier: 'link@kinex.example', token: 'vt-1', expires: days(1) };
    await auth.createVerificationToken(token);
    assert.equal((await query('next-auth', 'verificationTokens', 'identifier=link@kinex.example')).length, 1);
    assert.equal((await auth.useVerificationToken({ identifier: token.identifier, token: 'vt-1' })).token, 'vt-1');
    assert.equal(await auth.useVerificationToken({ identifier: token.identifier, token: 'vt-1' }), null);
});

test('NextAuth.js: who goes takes accounts and sessions along', async () => {
    const auth = authenticate();
    const { id } = await signUp(auth, 'gone@kinex.example');
    await auth.linkAccount(google(id, 'g-gone'));
    await auth.createSession({ sessionToken: 'token-gone', userId: id, expires: days(30) });
    assert.equal((await query('next-auth', 'userWithAccounts', `id=${id}`)).length, 3);
    await auth.deleteUser(id);
    assert.deepEqual(await query('next-auth', 'userWithAccounts', `id=${id}`), []);
    assert.equal(await auth.getSessionAndUser('token-gone'), null);
    assert.equal(await auth.getUserByAccount({ provider: 'google', providerAccountId: 'g-gone' }), null);
});
