// Every key and index of FigureForge's data structure document, with the key condition written
// there, and by its name in models/figureforge.
import { entities } from './entities.mjs';
import { assert, call, items, pattern, serve, test } from './lib.mjs';

serve('figureforge');

const table = 'figureforge';
const data = (entity) => items('figureforge', table, entity);
const users = data('User');
const jobs = data('GenerationJob');
const images = data('Image');
const reports = data('Report');
const of = (list, pk) => () => list.filter((item) => item.pk === pk);
const oldest = { order: (item) => item.created_at };
const newest = { ...oldest, descending: true };
const bySk = { order: (item) => item.sk };
const single = { same: () => '' };

// ---- The indexes ----------------------------------------------------------------------------

const via = (title, index, pk, named, rest) =>
    pattern(title, { table, index, keys: `${index}_pk = :pk`, values: { ':pk': pk }, named, ...rest });

const [user] = users;
via('byEmail', 'byEmail', `EMAIL#${user.email}`, ['usersByEmail', { email: user.email }], {
    found: () => [user],
    ...single,
});
const [subscription] = data('Subscription');
const stripe = subscription.sk.slice(4);
via('byStripeSub', 'byStripeSub', `SUB#${stripe}`, ['subscriptionByStripe', { stripe_sub_id: stripe }], {
    found: () => [subscription],
    ...single,
});
via('jobsByStatus', 'jobsByStatus', 'JOBSTATUS#queued', ['jobsByStatus', { status: 'queued' }], {
    found: () => jobs.filter((job) => job.status === 'queued'),
    ...oldest,
});
const owner = images.find((image) => image.user_id !== null).user_id;
via('imagesByUser', 'imagesByUser', `USER#${owner}`, ['imagesByUser', { user_id: owner }], {
    found: () => images.filter((image) => image.user_id === owner),
    ...newest,
});
via('reportsByStatus', 'reportsByStatus', 'REPORTSTATUS#open', ['reportsByStatus', { status: 'open' }], {
    found: () => reports.filter((report) => report.status === 'open'),
    ...oldest,
});
for (const active of [true, false]) {
    via(`plansByActive (${active})`, 'plansByActive', `PLANACTIVE#${active}`, ['plansByActive', { active }], {
        found: () => data('Plan').filter((plan) => plan.active === active),
        ...oldest,
    });
}

// ---- The keys -------------------------------------------------------------------------------

const begins = (title, pk, sk, named, found) =>
    pattern(title, {
        table,
        keys: sk === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :sk)',
        values: sk === undefined ? { ':pk': pk } : { ':pk': pk, ':sk': sk },
        named,
        found,
        ...bySk,
    });
const get = (title, item, named) =>
    pattern(title, { table, get: { pk: item.pk, sk: item.sk }, named, found: () => [item], ...single });

const worker = jobs[0].pk;
const user_id = worker.slice(5);
const image = images.find(({ pk }) => reports.some((report) => report.pk === pk));
const image_id = image.pk.slice(4);
get('User by its key', user, ['user', { user_id: user.pk.slice(5) }]);
begins('Subscriptions of a user', subscription.pk, 'SUB#',
    ['subscriptionsOfUser', { user_id: subscription.pk.slice(5) }], of(data('Subscription'), subscription.pk));
begins('Jobs of a user', worker, 'JOB#', ['jobsOfUser', { user_id }], of(jobs, worker));
begins('All of a user', worker, undefined, ['userItems', { user_id }], () =>
    [...users, ...data('Subscription'), ...jobs].filter((item) => item.pk === worker));
get('Image by its key', image, ['image', { image_id }]);
// The server makes them of the images' tags.
const tagged = images.flatMap(({ pk, tags, created_at }) => tags.map((tag) => ({ pk: `TAG#${tag}`, sk: pk, created_at })));
begins('Images by tag', 'TAG#pose:standing', undefined, ['imagesByTag', { tag_value: 'pose:standing' }],
    of(tagged, 'TAG#pose:standing'));
begins('Reports of an image', image.pk, 'REPORT#', ['reportsOfImage', { image_id }], of(reports, image.pk));
begins('An image with its reports', image.pk, undefined, ['imageWithReports', { image_id }],
    of([...images, ...reports], image.pk));
begins('Feature flags', 'FEATUREFLAG#global', undefined, ['featureFlags', {}], () => data('FeatureFlag'));
const [flag] = data('FeatureFlag');
get('Feature flag by its key', flag, ['featureFlag', { flag_name: flag.sk }]);
const [plan] = data('Plan');
get('Plan by its key', plan, ['plan', { plan_id: plan.pk.slice(5) }]);

// ---- What the document shows ------------------------------------------------------------------

const id = '0b0f3ce2-2a3d-4c7e-9a54-6f6d0c0a1b2c';
const example = {
    pk: `IMG#${id}`,
    sk: 'META',
    user_id: '7f0c2c9e-5a0b-4a53-8c1d-1f7b3e5d9a10',
    url: 'https://cdn/img.jpg',
    tags: ['pose:standing', 'style:comic', '...'],
    prompt_json: { prompt: '...', negative_prompt: '...', tags: ['...'] },
    provider: 'fal.ai',
    provider_model_id: 'fal/sdxl-foo',
    cost_cents: 12,
    favorited_count: 0,
    public: true,
    private_gallery_ids: [],
    flag_status: 'clean',
    created_at: 1710000000,
    deleted_at: null,
};
const key = { pk: example.pk, sk: 'META' };

test('The image item of the document is stored as it is', async () => {
    await call('Put', { TableName: table, Item: example });
    const { Item } = await call('Get', { TableName: table, Key: key });
    assert.deepEqual(Item, { ...example, image_id: id, imagesByUser_pk: `USER#${example.user_id}` });
    await call('Delete', { TableName: table, Key: key });
});

test('An image that loses its user leaves imagesByUser', async () => {
    await call('Put', { TableName: table, Item: example });
    await call('Update', {
        TableName: table,
        Key: key,
        UpdateExpression: 'SET user_id = :none',
        ExpressionAttributeValues: { ':none': null },
    });
    const { Item } = await call('Get', { TableName: table, Key: key });
    assert.equal(Item.imagesByUser_pk, undefined);
    await call('Delete', { TableName: table, Key: key });
});

// What the application does not know yet is null.
test('An image with nulls is stored as it is', async () => {
    const sketch = { ...example, user_id: null, tags: null, prompt_json: null, provider_model_id: null, cost_cents: null };
    await call('Put', { TableName: table, Item: sketch });
    const { Item } = await call('Get', { TableName: table, Key: key });
    assert.deepEqual(Item, { ...sketch, image_id: id });
    await call('Delete', { TableName: table, Key: key });
});

test('The tag index item of the document is made of the image', async () => {
    const tag = { pk: 'TAG#pose:standing', sk: `IMG#${id}`, created_at: 1710000000 };
    await call('Put', { TableName: table, Item: { ...example, tags: ['pose:standing'] } });
    const { Item } = await call('Get', { TableName: table, Key: { pk: tag.pk, sk: tag.sk } });
    assert.deepEqual(Item, { ...tag, tag_value: 'pose:standing', image_id: id });
    await call('Delete', { TableName: table, Key: { pk: `IMG#${id}`, sk: 'META' } });
    assert.equal((await call('Get', { TableName: table, Key: { pk: tag.pk, sk: tag.sk } })).Item, undefined);
});

entities('figureforge', () => table);
