// Every access pattern of the media site's documents (current and earlier), each with the index and
// the key condition written there, and by its name in models/pornspot.
import { entities } from './entities.mjs';
import { assert, call, items, pattern, serve, test } from './lib.mjs';

serve('pornspot');

const table = 'pornspot';
const data = (entity) => items('pornspot', table, entity);
const albums = data('Album');
const media = data('Media');
const links = data('AlbumMedia');
const users = data('User');
// The server makes them of the tags of albums whose creator is known.
const tags = data('Album').filter(({ createdBy }) => createdBy).flatMap((album) => album.tags.map((tag) => ({
    EntityType: 'AlbumTag', albumId: album.id, userId: album.createdBy, tag, normalizedTag: tag.trim().toLowerCase(), createdAt: album.createdAt,
    isPublic: album.isPublic,
})));

// The value that most items have: a parameter for which there is something to find.
function usual(list, attribute) {
    const counts = new Map();
    for (const item of list) counts.set(item[attribute], (counts.get(item[attribute]) ?? 0) + 1);
    counts.delete(undefined);
    return [...counts].sort((a, b) => b[1] - a[1])[0][0];
}

const is = (list, wanted) => () =>
    list.filter((item) => Object.entries(wanted).every(([name, value]) => item[name] === value));
const by = (...names) => (item) => names.map((name) => item[name]).join('#');
const identity = (item) => item.id;

// Rows of a document's list; the values are those of :pk and :sk.
const HASH = (index) => `${index}PK = :pk`;
const EQUAL = (index) => `${index}PK = :pk AND ${index}SK = :sk`;
const BEGINS = (index) => `${index}PK = :pk AND begins_with(${index}SK, :sk)`;
function via(title, index, keys, pk, sk, named, rest) {
    const values = sk === undefined ? { ':pk': pk } : { ':pk': pk, ':sk': sk };
    pattern(title, { table, index, keys: keys(index ?? ''), values, named, ...rest });
}

// ---- Albums ---------------------------------------------------------------------------------

const creator = usual(albums, 'createdBy');
via('Get all albums (chronological)', 'GSI1', HASH, 'ALBUM', undefined, ['albums', {}], {
    found: () => albums,
    order: by('createdAt', 'id'),
});
via('Get albums by creator', 'GSI4', BEGINS, 'ALBUM_BY_CREATOR', `${creator}#`,
    ['albumsByCreator', { createdBy: creator }], {
        found: is(albums, { createdBy: creator }),
        order: by('createdAt', 'id'),
    });
for (const isPublic of ['true', 'false']) {
    via(`Get public/private albums (${isPublic})`, 'GSI5', EQUAL, 'ALBUM', isPublic,
        ['albumsByVisibility', { isPublic }], { found: is(albums, { isPublic }), same: identity });
    // Albums and media share the index; tags and settings, which have both attributes too, are not in it.
    const all = [...albums, ...media];
    pattern(`Get public/private albums by isPublic-createdAt-index (${isPublic})`, {
        table,
        index: 'isPublic-createdAt-index',
        keys: 'isPublic = :p',
        filter: 'EntityType = :album',
        values: { ':p': isPublic, ':album': 'Album' },
        scanned: is(all, { isPublic })(),
        named: ['albumsByVisibilityAndDate', { isPublic }],
        found: is(albums, { isPublic }),
        order: by('createdAt'),
        descending: true,
    });
}
via('Get popular albums', 'GSI6', HASH, 'POPULARITY', undefined, ['popular', {}], {
    found: () => [...albums, ...media],
    order: (item) => item.GSI6SK,
    descending: true,
});
via('Get content by date', 'GSI7', HASH, 'CONTENT', undefined, ['contentByDate', {}], {
    found: () => [...albums, ...media],
    order: by('createdAt'),
});
for (const [Kind, name, list] of [['Album', 'popularAlbums', albums], ['Media', 'popularMedia', media]]) {
    pattern(`Popular ${Kind} items in their order`, {
        table,
        index: 'GSI6',
        keys: 'GSI6PK = :p',
        filter: 'EntityType = :kind',
        values: { ':p': 'POPULARITY', ':kind': Kind },
        scanned: [...albums, ...media],
        named: [name, {}],
        found: () => list,
        order: (item) => item.GSI6SK,
        descending: true,
    });
}
test('Popularity is a number that the site counts, from 0 on', async () => {
    const Key = { PK: 'ALBUM#counted', SK: 'METADATA' };
    const change = async (UpdateExpression, value) => {
        const values = { ':n': value };
        const input = { TableName: table, Key, UpdateExpression, ExpressionAttributeValues: values, ReturnValues: 'ALL_NEW' };
        return (await call('Update', input)).Attributes;
    };
    await call('Put', { TableName: table, Item: { EntityType: 'Album', id: 'counted', title: 'x', GSI6PK: 'POPULARITY' } });
    const { GSI6PK, GSI6SK } = await change('ADD GSI6SK :n', 5);
    assert.deepEqual([GSI6PK, GSI6SK], ['POPULARITY', 5]);
    assert.equal((await change('SET GSI6SK = :n', 7)).GSI6SK, 7);
    await assert.rejects(change('SET GSI6SK = :n', '7'), /GSI6SK/);
    await call('Delete', { TableName: table, Key });
});

// ---- Media ----------------------------------------------------------------------------------

const mediaId = usual(links, 'mediaId');
const albumId = usual(links, 'albumId');
const uploader = usual(media, 'createdBy');
via('Get media by ID', 'GSI2', EQUAL, 'MEDIA_ID', media[5].id, ['mediaById', { id: media[5].id }], {
    found: () => [media[5]],
    same: identity,
});
via('Get all media for an album', undefined, BEGINS, `ALBUM#${albumId}`, 'MEDIA#', ['mediaOfAlbum', { albumId }], {
    found: is(links, { albumId }),
    order: by('mediaId'),
});
via('Get all albums for a media', 'GSI1', HASH, `MEDIA#${mediaId}`, undefined, ['albumsOfMedia', { mediaId }], {
    found: is(links, { mediaId }),
    order: by('albumId', 'addedAt'),
});
via('Get all media by creator', 'GSI1', BEGINS, 'MEDIA_BY_CREATOR', `${uploader}#`,
    ['mediaByCreator', { createdBy: uploader }], {
        found: is(media, { createdBy: uploader }),
        order: by('createdAt', 'id'),
    });
via('Get all media (chronological)', 'GSI4', HASH, 'MEDIA', undefined, ['allMedia', {}], {
    found: () => media,
    order: by('createdAt', 'id'),
});
for (const isPublic of ['true', 'false']) {
    const user = usual(is(media, { isPublic })(), 'createdBy');
    via(`Get public/private media by user (${isPublic})`, 'GSI3', BEGINS, `MEDIA_BY_USER_${isPublic}`, `${user}#`,
        ['mediaByUserAndVisibility', { isPublic, userId: user }], {
            found: is(media, { isPublic, createdBy: user }),
            order: by('createdAt', 'id'),
        });
}
via('Get public media', 'GSI5', EQUAL, 'MEDIA', 'true', ['publicMedia', {}], {
    found: is(media, { isPublic: 'true' }),
    same: identity,
});

// The earlier document's way to all public media, in three steps.
test('Get all public media by way of public albums', async () => {
    const query = (input) => call('Query', { TableName: table, ...input });
    const open = await query({
        IndexName: 'isPublic-createdAt-index',
        KeyConditionExpression: 'isPublic = :t',
        FilterExpression: 'EntityType = :album',
        ExpressionAttributeValues: { ':t': 'true', ':album': 'Album' },
    });
    const found = new Set();
    for (const album of open.Items) {
        const values = { ':pk': `ALBUM#${album.id}`, ':sk': 'MEDIA#' };
        const keys = 'PK = :pk AND begins_with(SK, :sk)';
        const page = await query({ KeyConditionExpression: keys, ExpressionAttributeValues: values });
        for (const link of page.Items) found.add(link.mediaId);
    }
    const wanted = new Set();
    for (const { id } of is(albums, { isPublic: 'true' })())
        for (const link of is(links, { albumId: id })()) wanted.add(link.mediaId);
    assert.deepEqual([...found].sort(), [...wanted].sort());
    const [first] = [...found];
    const { Item } = await call('Get', { TableName: table, Key: { PK: `MEDIA#${first}`, SK: 'METADATA' } });
    assert.equal(Item.id, first);
});

// ---- Comments -------------------------------------------------------------------------------

const comments = data('Comment');
const targetId = usual(comments, 'targetId');
const { targetType } = comments.find((comment) => comment.targetId === targetId);
const commenter = usual(comments, 'userId');
via('Get comments by target', 'GSI1', BEGINS, 'COMMENTS_BY_TARGET', `${targetType}#${targetId}#`,
    ['commentsByTarget', { targetType, targetId }], {
        found: is(comments, { targetId }),
        order: by('createdAt', 'id'),
    });
via('Get comments by user', 'GSI2', BEGINS, 'COMMENTS_BY_USER', `${commenter}#`,
    ['commentsByUser', { userId: commenter }], {
        found: is(comments, { userId: commenter }),
        order: by('createdAt', 'id'),
    });
via('Get all comments (chronological)', 'GSI3', HASH, 'INTERACTION#comment', undefined, ['comments', {}], {
    found: () => comments,
    order: by('createdAt'),
});

// ---- Users ----------------------------------------------------------------------------------

const [google] = users.filter((user) => user.googleId);
const { email, username } = users[4];
const one = (wanted) => ({ found: is(users, wanted), same: (user) => user.userId });
via('Get user by email', 'GSI1', EQUAL, 'USER_EMAIL', email, ['userByEmail', { email }], one({ email }));
via('Get user by Google ID', 'GSI2', EQUAL, 'USER_GOOGLE', google.googleId,
    ['userByGoogleId', { googleId: google.googleId }], one({ googleId: google.googleId }));
via('Get user by username', 'GSI3', EQUAL, 'USER_USERNAME', username, ['userByUsername', { username }], one({ username }));
for (const plan of ['free', 'pro']) {
    via(`Get users by plan (${plan})`, 'GSI4', HASH, `USER_PLAN#${plan}`, undefined, ['usersByPlan', { plan }], {
        found: is(users, { plan }),
        order: (user) => `${user.planEndDate ?? '9999-12-31T00:00:00.000Z'}#${user.userId}`,
    });
}
via('Users by total PornSpotCoin earned (leaderboard)', 'GSI5', HASH, 'USER_PSC_TOTAL_EARNED', undefined,
    ['leaderboard', {}], {
        found: () => users,
        order: (user) => `${user.pscTotalEarned.toFixed(2).padStart(23, '0')}#${user.userId}`,
        descending: true,
    });
test('The leaderboard\'s sort key has 23 characters', async () => {
    const key = { PK: `USER#${users[4].userId}`, SK: 'METADATA' };
    const { Item } = await call('Get', { TableName: table, Key: key });
    assert.equal(Item.GSI5SK, `${users[4].pscTotalEarned.toFixed(2).padStart(23, '0')}#${users[4].userId}`);
});
via('Get admin user by username', 'GSI1', EQUAL, 'ADMIN_USERNAME', 'admin-ada',
    ['adminByUsername', { username: 'admin-ada' }], {
        found: is(data('AdminUser'), { username: 'admin-ada' }),
        same: (admin) => admin.adminId,
    });

// ---- Sessions and tokens --------------------------------------------------------------------

const sessions = data('UserSession');
const visitor = usual(sessions, 'userId');
via('Get sessions by expiry', 'GSI1', HASH, 'USER_SESSION_EXPIRY', undefined, ['sessionsByExpiry', {}], {
    found: () => sessions,
    order: by('expiresAt', 'sessionId'),
});
via('Get sessions by user', 'GSI2', HASH, `USER#${visitor}#SESSION`, undefined, ['sessionsByUser', { userId: visitor }], {
    found: is(sessions, { userId: visitor }),
    order: by('createdAt', 'sessionId'),
});
via('Get admin sessions by expiry', 'GSI1', HASH, 'SESSION_EXPIRY', undefined, ['adminSessionsByExpiry', {}], {
    found: () => data('AdminSession'),
    order: by('expiresAt', 'sessionId'),
});
via('Get verification tokens by expiry', 'GSI1', HASH, 'EMAIL_VERIFICATION_EXPIRY', undefined,
    ['verificationTokensByExpiry', {}], {
        found: () => data('EmailVerificationToken'),
        order: by('expiresAt', 'token'),
    });
via('Get reset tokens by expiry', 'GSI1', HASH, 'PASSWORD_RESET_EXPIRY', undefined, ['resetTokensByExpiry', {}], {
    found: () => data('PasswordResetToken'),
    order: by('expiresAt', 'token'),
});

// ---- Figures --------------------------------------------------------------------------------

const analytics = data('Analytics');
via('Get all analytics by granularity/time', 'GSI1', BEGINS, 'ANALYTICS', 'daily#',
    ['analyticsByGranularity', { granularity: 'daily' }], {
        found: is(analytics, { granularity: 'daily' }),
        order: by('timestamp', 'metricType'),
    });
via('Get analytics by type', 'GSI2', HASH, 'ANALYTICS_TYPE#users', undefined, ['analyticsByType', { metricType: 'users' }], {
    found: is(analytics, { metricType: 'users' }),
    same: by('granularity', 'timestamp'),
});

// ---- Follows and notifications --------------------------------------------------------------

const follows = data('Follow');
const notifications = data('Notification');
const followerId = usual(follows, 'followerId');
const followedId = usual(follows, 'followedId');
const targetUserId = usual(notifications, 'targetUserId');
via('Get following for user', 'GSI1', HASH, `FOLLOWING#${followerId}`, undefined, ['following', { followerId }], {
    found: is(follows, { followerId }),
    order: by('createdAt', 'followedId'),
});
via('Get followers for user', 'GSI2', HASH, `FOLLOWERS#${followedId}`, undefined, ['followers', { followedId }], {
    found: is(follows, { followedId }),
    order: by('createdAt', 'followerId'),
});
via('Get notifications by user/status', 'GSI1', HASH, `USER#${targetUserId}#NOTIFICATIONS`, undefined,
    ['notificationsByUser', { targetUserId }], {
        found: is(notifications, { targetUserId }),
        order: by('status', 'createdAt', 'notificationId'),
    });
via('Get unread notifications', 'GSI2', HASH, `USER#${targetUserId}#NOTIFICATIONS#unread`, undefined,
    ['unreadNotifications', { targetUserId }], {
        found: is(notifications, { targetUserId, status: 'unread' }),
        order: by('createdAt', 'notificationId'),
    });

// ---- Jobs and orders ------------------------------------------------------------------------

// createdAt is submittedAt where the site does not send it.
const jobs = data('I2VJob').map((job) => ({ ...job, createdAt: job.submittedAt }));
const submitter = usual(jobs, 'userId');
const source = usual(jobs, 'mediaId');
const { status } = jobs.find((job) => job.userId === submitter);
const byJob = by('createdAt', 'jobId');
via('Get jobs by user', 'GSI1', HASH, `I2VJOB_BY_USER#${submitter}`, undefined, ['jobsByUser', { userId: submitter }], {
    found: is(jobs, { userId: submitter }),
    order: byJob,
});
via('Get jobs by media', 'GSI2', HASH, `I2VJOB_BY_MEDIA#${source}`, undefined, ['jobsByMedia', { mediaId: source }], {
    found: is(jobs, { mediaId: source }),
    order: byJob,
});
via('Get jobs by status', 'GSI3', HASH, `I2VJOB_STATUS#${status}`, undefined, ['jobsByStatus', { status }], {
    found: is(jobs, { status }),
    order: byJob,
});
via('Get user jobs by status', 'GSI4', HASH, `I2VJOB_STATUS_USER#${submitter}#${status}`, undefined,
    ['jobsByUserAndStatus', { userId: submitter, status }], {
        found: is(jobs, { userId: submitter, status }),
        order: byJob,
    });

const orders = data('Order');
const buyer = usual(orders, 'userId');
const byOrder = by('createdAt', 'orderId');
via('Get orders by user', 'GSI1', HASH, `ORDERS_BY_USER#${buyer}`, undefined, ['ordersByUser', { userId: buyer }], {
    found: is(orders, { userId: buyer }),
    order: byOrder,
});
via('Get orders by status', 'GSI2', HASH, 'ORDERS_BY_STATUS#completed', undefined,
    ['ordersByStatus', { status: 'completed' }], {
        found: is(orders, { status: 'completed' }),
        order: byOrder,
    });
via('Get orders by item', 'GSI3', HASH, 'ORDER_BY_ITEM#starter-monthly', undefined,
    ['ordersByItem', { item: 'starter-monthly' }], {
        found: is(orders, { item: 'starter-monthly' }),
        order: byOrder,
    });

// ---- What the entities' keys are for, though no list of patterns names it ---------------------

const cover = usual(albums, 'coverImageMediaId');
via('Albums by cover image (GSI2)', 'GSI2', BEGINS, 'ALBUM_COVER_IMAGE', `${cover}#`,
    ['albumsByCoverImage', { coverImageMediaId: cover }], {
        found: is(albums, { coverImageMediaId: cover }),
        order: by('id'),
    });
const owner = usual(is(albums, { isPublic: 'true' })(), 'createdBy');
via('Albums by user and visibility (GSI3)', 'GSI3', BEGINS, 'ALBUM_BY_USER_true', `${owner}#`,
    ['albumsByUserAndVisibility', { isPublic: 'true', createdBy: owner }], {
        found: is(albums, { isPublic: 'true', createdBy: owner }),
        order: by('createdAt', 'id'),
    });
via('Albums by visibility and update (GSI8)', 'GSI8', BEGINS, 'VISIBILITY_UPDATED', 'true#',
    ['albumsByVisibilityAndUpdate', { isPublic: 'true' }], {
        found: is(albums, { isPublic: 'true' }),
        order: by('updatedAt', 'id'),
        descending: true,
    });
via('Media by type and creator (GSI8)', 'GSI8', BEGINS, 'MEDIA_BY_TYPE_AND_CREATOR', `image#${uploader}#`,
    ['mediaByTypeAndCreator', { type: 'image', createdBy: uploader }], {
        found: is(media, { type: 'image', createdBy: uploader }),
        order: by('createdAt', 'id'),
    });
via('Additions to albums by date (GSI2)', 'GSI2', HASH, 'ALBUM_MEDIA_BY_DATE', undefined, ['albumAdditionsByDate', {}], {
    found: () => links,
    order: by('addedAt', 'albumId', 'mediaId'),
    descending: true,
});
const normalizedTag = usual(tags, 'normalizedTag');
const tagger = usual(is(tags, { isPublic: 'true' })(), 'userId');
via('Albums by tag', undefined, HASH, `ALBUM_TAG#${normalizedTag}`, undefined, ['albumsByTag', { normalizedTag }], {
    found: is(tags, { normalizedTag }),
    order: by('albumId', 'createdAt'),
});
via('All tags (GSI1)', 'GSI1', HASH, 'ALBUM_TAG', undefined, ['tags', {}], {
    found: () => tags,
    order: by('normalizedTag', 'createdAt', 'albumId'),
});
via('Albums by tag and visibility (GSI2)', 'GSI2', HASH, `ALBUM_TAG#${normalizedTag}#true`, undefined,
    ['albumsByTagAndVisibility', { normalizedTag, isPublic: 'true' }], {
        found: is(tags, { normalizedTag, isPublic: 'true' }),
        order: by('createdAt'),
    });
via('Tags by user and visibility (GSI3)', 'GSI3', HASH, `ALBUM_TAG#${tagger}#true`, undefined,
    ['tagsByUserAndVisibility', { userId: tagger, isPublic: 'true' }], {
        found: is(tags, { userId: tagger, isPublic: 'true' }),
        order: by('normalizedTag', 'createdAt'),
    });

const interactions = data('UserInteraction');
const fan = usual(interactions, 'userId');
const liked = usual(is(interactions, { interactionType: 'like' })(), 'targetId');
const fond = usual(is(interactions, { interactionType: 'like' })(), 'userId');
via('Interactions of a user', undefined, BEGINS, `USER#${fan}`, 'INTERACTION#', ['interactionsOfUser', { userId: fan }], {
    found: is(interactions, { userId: fan }),
    order: by('interactionType', 'targetId'),
});
via('Interactions with a target (GSI1)', 'GSI1', HASH, `INTERACTION#like#${liked}`, undefined,
    ['interactionsWith', { interactionType: 'like', targetId: liked }], {
        found: is(interactions, { interactionType: 'like', targetId: liked }),
        order: by('userId'),
    });
via('Interactions by user and date (GSI2)', 'GSI2', HASH, `USER#${fond}#INTERACTIONS#like`, undefined,
    ['interactionsByUserAndDate', { userId: fond, interactionType: 'like' }], {
        found: is(interactions, { interactionType: 'like', userId: fond }),
        order: by('createdAt'),
        descending: true,
    });
via('Interactions by date (GSI3)', 'GSI3', HASH, 'INTERACTION#bookmark', undefined,
    ['interactionsByDate', { interactionType: 'bookmark' }], {
        found: is(interactions, { interactionType: 'bookmark' }),
        order: by('createdAt'),
        descending: true,
    });
pattern('Media by visibility and date (isPublic-createdAt-index)', {
    table,
    index: 'isPublic-createdAt-index',
    keys: 'isPublic = :p',
    filter: 'EntityType = :media',
    values: { ':p': 'false', ':media': 'Media' },
    scanned: is([...albums, ...media], { isPublic: 'false' })(),
    named: ['mediaByVisibilityAndDate', { isPublic: 'false' }],
    found: is(media, { isPublic: 'false' }),
    order: by('createdAt'),
    descending: true,
});
via('Notifications by user and status (GSI1)', 'GSI1', BEGINS, `USER#${targetUserId}#NOTIFICATIONS`, 'read#',
    ['notificationsByUserAndStatus', { targetUserId, status: 'read' }], {
        found: is(notifications, { targetUserId, status: 'read' }),
        order: by('createdAt', 'notificationId'),
    });
via('An album with its media', undefined, HASH, `ALBUM#${albumId}`, undefined, ['albumWithMedia', { albumId }], {
    found: () => [...is(links, { albumId })(), ...is(albums, { id: albumId })()],
    order: (item) => (item.mediaId ? `MEDIA#${item.mediaId}` : 'METADATA'),
});
const got = (title, PK, SK, named, item) =>
    pattern(title, { table, get: { PK, SK }, named, found: () => [item], same: () => '' });
got('Album by its key', `ALBUM#${albums[0].id}`, 'METADATA', ['album', { id: albums[0].id }], albums[0]);
got('Media by its key', `MEDIA#${media[0].id}`, 'METADATA', ['media', { id: media[0].id }], media[0]);
got('User by its key', `USER#${users[0].userId}`, 'METADATA', ['user', { userId: users[0].userId }], users[0]);
got('User session by its key', `SESSION#${sessions[0].sessionId}`, 'METADATA',
    ['session', { sessionId: sessions[0].sessionId }], sessions[0]);
const [admin] = data('AdminSession');
got('Admin session by its key', `SESSION#${admin.sessionId}`, 'METADATA', ['session', { sessionId: admin.sessionId }], admin);
const [settings] = data('GenerationSettings');
got('Generation settings by their key', `GEN_SETTINGS#${settings.userId}`, 'METADATA',
    ['generationSettings', { userId: settings.userId }], settings);
const [cached] = data('MetricsCache');
got('Cached metric by its key', 'METRICS_CACHE', cached.metricKey, ['cachedMetric', { metricKey: cached.metricKey }], cached);
pattern('Analytics of a period', {
    table,
    keys: 'PK = :pk AND SK BETWEEN :from AND :to',
    values: { ':pk': 'ANALYTICS#users#daily', ':from': '2026-01-06T00:00:00.000Z', ':to': '2026-01-09T00:00:00.000Z' },
    named: ['analytics', { metricType: 'users', granularity: 'daily', from: '2026-01-06T00:00:00.000Z',
        to: '2026-01-09T00:00:00.000Z' }],
    found: () => is(analytics, { metricType: 'users', granularity: 'daily' })().filter(({ timestamp }) =>
        timestamp >= '2026-01-06T00:00:00.000Z' && timestamp <= '2026-01-09T00:00:00.000Z'),
    order: by('timestamp'),
});

entities('pornspot', () => table);
