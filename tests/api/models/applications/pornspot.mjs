// What the media site's code writes. It makes every key itself, and writes null for what is not there. Counts are 0 at first, and
// the server's from then on; so are the items of an album's tags.
import { day, put, remove, transact, update } from './build.mjs';

const T = 'pornspot';
const at = (n, minute) => new Date(Date.UTC(2090, 5, 1 + day(n), 9, minute, 7, 250)).toISOString(); // nothing expires meanwhile
const epoch = (time) => Math.floor(Date.parse(time) / 1000);
const earned = (amount) => amount.toFixed(2).padStart(23, '0');
const key = (PK) => ({ PK, SK: 'METADATA' });

function user(n, more = {}) {
    const userId = `u-${n}`;
    return {
        ...key(`USER#${userId}`),
        GSI1PK: 'USER_EMAIL', GSI1SK: `U${n}@Example.com`,
        GSI3PK: 'USER_USERNAME', GSI3SK: `User${n}`,
        GSI4PK: 'USER_PLAN#free', GSI4SK: `9999-12-31T00:00:00.000Z#${userId}`,
        GSI5PK: 'USER_PSC_TOTAL_EARNED', GSI5SK: `${earned(0)}#${userId}`,
        EntityType: 'User',
        userId, email: `U${n}@Example.com`, username: `User${n}`,
        firstName: null, lastName: null, passwordHash: 'f00d', salt: 'ba11', provider: 'email',
        createdAt: at(n, 0), isActive: true, isEmailVerified: false, lastLoginAt: null, lastActive: at(n, 0),
        googleId: null, bio: null, location: null, website: null, preferredLanguage: 'en',
        avatarUrl: null, avatarThumbnails: null,
        role: 'user', plan: 'free', subscriptionId: null, subscriptionStatus: null, planStartDate: null, planEndDate: null,
        imagesGeneratedThisMonth: 0, imagesGeneratedToday: 0, lastGenerationAt: null, bonusGenerationCredits: 5,
        profileInsights: { totalLikes: 0, lastUpdated: null }, followerCount: 0,
        pscBalance: 0, pscTotalEarned: 0, pscTotalSpent: 0, pscTotalWithdrawn: 0, pscLastTransactionAt: null,
        emailPreferences: { unreadNotifications: 'daily' },
        i2vCreditsSecondsPurchased: 0, i2vCreditsSecondsFromPlan: 0,
        ...more,
    };
}

function* signUp(n) {
    const userId = `u-${n}`;
    const expiresAt = at(n, 30 * 1440);
    yield put(T, user(n), { ConditionExpression: 'attribute_not_exists(PK)' });
    yield put(T, {
        ...key(`EMAIL_VERIFICATION#v-${n}`), GSI1PK: 'EMAIL_VERIFICATION_EXPIRY', GSI1SK: `${expiresAt}#v-${n}`,
        EntityType: 'EmailVerificationToken', token: `v-${n}`, userId, email: `U${n}@Example.com`, createdAt: at(n, 1), expiresAt, ttl: epoch(expiresAt),
    });
    yield update(T, key(`USER#${userId}`), 'SET isEmailVerified = :yes', { yes: true });
    yield remove(T, key(`EMAIL_VERIFICATION#v-${n}`));
    yield put(T, {
        ...key(`SESSION#s-${n}`), GSI1PK: 'USER_SESSION_EXPIRY', GSI1SK: `${expiresAt}#s-${n}`,
        GSI2PK: `USER#${userId}#SESSION`, GSI2SK: `${at(n, 2)}#s-${n}`,
        EntityType: 'UserSession', sessionId: `s-${n}`, userId, userEmail: `U${n}@Example.com`, createdAt: at(n, 2), expiresAt,
        lastAccessedAt: at(n, 2), ttl: epoch(expiresAt),
    });
    const later = at(n, 60 * 1440);
    yield update(T, key(`SESSION#s-${n}`), 'SET lastAccessedAt = :now, expiresAt = :later, #ttl = :ttl, GSI1SK = :sk',
        { now: at(n, 3), later, ttl: epoch(later), sk: `${later}#s-${n}` });
    yield put(T, {
        PK: `PASSWORD_RESET#r-${n}`, SK: 'TOKEN', GSI1PK: 'PASSWORD_RESET_EXPIRY', GSI1SK: `${expiresAt}#r-${n}`,
        EntityType: 'PasswordResetToken', token: `r-${n}`, userId, email: `U${n}@Example.com`, createdAt: at(n, 4), expiresAt, ttl: epoch(expiresAt),
    });
    yield update(T, key(`USER#${userId}`), 'SET lastLoginAt = :now, lastActive = :now', { now: at(n, 5) });
    yield put(T, user(`g-${n}`, {
        GSI1SK: `g${n}@gmail.com`, email: `g${n}@gmail.com`, GSI2PK: 'USER_GOOGLE', GSI2SK: `google-${n}`,
        provider: 'google', googleId: `google-${n}`, passwordHash: null, salt: null,
    }));
}

function album(n, more = {}) {
    const [id, createdAt, createdBy] = [`a-${n}`, at(n, 10), `u-${n}`];
    return {
        ...key(`ALBUM#${id}`),
        GSI1PK: 'ALBUM', GSI1SK: `${createdAt}#${id}`,
        GSI3PK: 'ALBUM_BY_USER_true', GSI3SK: `${createdBy}#${createdAt}#${id}`,
        GSI4PK: 'ALBUM_BY_CREATOR', GSI4SK: `${createdBy}#${createdAt}#${id}`,
        GSI5PK: 'ALBUM', GSI5SK: 'true', GSI6PK: 'POPULARITY', GSI6SK: 0, GSI7PK: 'CONTENT', GSI7SK: createdAt,
        GSI8PK: 'VISIBILITY_UPDATED', GSI8SK: `true#${createdAt}#${id}`,
        EntityType: 'Album', id, title: 'Holidays', tags: ['sea', 'Sun '], coverImageUrl: null, thumbnailUrls: null, coverImageMediaId: null,
        createdAt, updatedAt: createdAt, mediaCount: 0, isPublic: 'true', likeCount: 0, bookmarkCount: 0, viewCount: 0, commentCount: 0,
        metadata: {}, type: 'image', optimizedVideoUrl: null, createdBy, createdByType: 'user',
        ...more,
    };
}

function media(n, more = {}) {
    const [id, createdAt, createdBy] = [`m-${n}`, at(n, 11), `u-${n}`];
    return {
        ...key(`MEDIA#${id}`),
        GSI1PK: 'MEDIA_BY_CREATOR', GSI1SK: `${createdBy}#${createdAt}#${id}`, GSI2PK: 'MEDIA_ID', GSI2SK: id,
        GSI3PK: 'MEDIA_BY_USER_true', GSI3SK: `${createdBy}#${createdAt}#${id}`, GSI4PK: 'MEDIA', GSI4SK: `${createdAt}#${id}`,
        GSI5PK: 'MEDIA', GSI5SK: 'true', GSI6PK: 'POPULARITY', GSI6SK: 0, GSI7PK: 'CONTENT', GSI7SK: createdAt,
        GSI8PK: 'MEDIA_BY_TYPE_AND_CREATOR', GSI8SK: `image#${createdBy}#${createdAt}#${id}`,
        EntityType: 'Media', id, filename: `${id}.jpg`, originalFilename: 'sea #1.jpg', mimeType: 'image/jpeg', size: 1024, width: null, height: null,
        url: null, thumbnailUrl: null, thumbnailUrls: null, status: 'pending', createdAt, updatedAt: createdAt, isPublic: 'true',
        likeCount: 0, bookmarkCount: 0, viewCount: 0, commentCount: 0, metadata: null, type: 'image', createdBy, createdByType: 'user',
        ...more,
    };
}

function* content(n) {
    const now = at(n, 20);
    yield put(T, album(n), { ConditionExpression: 'attribute_not_exists(PK)' });
    yield put(T, media(n));
    yield update(T, key(`MEDIA#m-${n}`), 'SET #status = :s, width = :w, height = :h, thumbnailUrls = :t, updatedAt = :now',
        { s: 'uploaded', w: 800, h: 600, t: { cover: 'https://cdn/c.jpg', small: 'https://cdn/s.jpg' }, now });
    yield transact(
        put(T, {
            PK: `ALBUM#a-${n}`, SK: `MEDIA#m-${n}`, GSI1PK: `MEDIA#m-${n}`, GSI1SK: `ALBUM#a-${n}#${now}`,
            GSI2PK: 'ALBUM_MEDIA_BY_DATE', GSI2SK: `${now}#a-${n}#m-${n}`, EntityType: 'AlbumMedia',
            albumId: `a-${n}`, mediaId: `m-${n}`, addedAt: now, addedBy: null,
        }, { ConditionExpression: 'attribute_not_exists(PK) AND attribute_not_exists(SK)' }),
        update(T, key(`ALBUM#a-${n}`), 'SET updatedAt = :now, GSI8SK = :sk', { now, sk: `true#${now}#a-${n}` }));
    yield update(T, key(`ALBUM#a-${n}`), 'SET coverImageMediaId = :m, coverImageUrl = :u, GSI2PK = :pk, GSI2SK = :sk, updatedAt = :now, GSI8SK = :v',
        { m: `m-${n}`, u: 'https://cdn/c.jpg', pk: 'ALBUM_COVER_IMAGE', sk: `m-${n}#a-${n}`, now, v: `true#${now}#a-${n}` });
    // Popularity is counted in the key of GSI6 itself.
    yield update(T, key(`ALBUM#a-${n}`), 'ADD GSI6SK :one, viewCount :one', { one: 1 });
    yield update(T, key(`MEDIA#m-${n}`), 'SET GSI6SK = :score', { score: 12.5 });
    // An album is made private: its keys go with it.
    const later = at(n, 21);
    yield update(T, key(`ALBUM#a-${n}`), 'SET isPublic = :no, GSI3PK = :g3, GSI5SK = :no, GSI8SK = :g8, updatedAt = :now',
        { no: 'false', g3: 'ALBUM_BY_USER_false', g8: `false#${later}#a-${n}`, now: later });
    yield put(T, album(`admin-${n}`, { createdByType: 'admin' }));
}

function* community(n) {
    const [userId, now, later] = [`u-${n}`, at(n, 30), at(n, 31)];
    yield put(T, {
        ...key(`COMMENT#c-${n}`), GSI1PK: 'COMMENTS_BY_TARGET', GSI1SK: `album#a-${n}#${now}#c-${n}`, GSI2PK: 'COMMENTS_BY_USER',
        GSI2SK: `${userId}#${now}#c-${n}`, GSI3PK: 'INTERACTION#comment', GSI3SK: now, EntityType: 'Comment', id: `c-${n}`, content: 'Nice! #wow',
        targetType: 'album', targetId: `a-${n}`, userId, username: `User${n}`, createdAt: now, updatedAt: now, likeCount: 0, isEdited: false,
    });
    yield update(T, key(`COMMENT#c-${n}`), 'SET content = :c, isEdited = :yes, updatedAt = :now', { c: 'Very nice', yes: true, now: later });
    for (const type of ['like', 'bookmark']) {
        yield put(T, {
            PK: `USER#${userId}`, SK: `INTERACTION#${type}#m-${n}`, GSI1PK: `INTERACTION#${type}#m-${n}`, GSI1SK: userId,
            GSI2PK: `USER#${userId}#INTERACTIONS#${type}`, GSI2SK: now, GSI3PK: `INTERACTION#${type}`, GSI3SK: now,
            EntityType: 'UserInteraction', userId, interactionType: type, targetType: 'media', targetId: `m-${n}`, createdAt: now,
        });
    }
    yield put(T, {
        ...key(`FOLLOW#${userId}#u-0`), GSI1PK: `FOLLOWING#${userId}`, GSI1SK: `${now}#u-0`, GSI2PK: 'FOLLOWERS#u-0', GSI2SK: `${now}#${userId}`,
        EntityType: 'Follow', followerId: userId, followedId: 'u-0', createdAt: now,
    });
    yield put(T, {
        ...key(`NOTIFICATION#n-${n}`), GSI1PK: `USER#${userId}#NOTIFICATIONS`, GSI1SK: `unread#${now}#n-${n}`,
        GSI2PK: `USER#${userId}#NOTIFICATIONS#unread`, GSI2SK: `${now}#n-${n}`, EntityType: 'Notification', notificationId: `n-${n}`,
        targetUserId: userId, sourceUserId: 'u-0', notificationType: 'like', targetType: 'album', targetId: `a-${n}`, status: 'unread', createdAt: now, readAt: null,
    });
    yield update(T, key(`NOTIFICATION#n-${n}`), 'SET #status = :s, readAt = :now, GSI1SK = :g1, GSI2PK = :g2',
        { s: 'read', now: later, g1: `read#${now}#n-${n}`, g2: `USER#${userId}#NOTIFICATIONS#read` });
    // A reward: balance, total and the leaderboard's key.
    yield update(T, key(`USER#${userId}`), 'ADD pscBalance :a, pscTotalEarned :a SET pscLastTransactionAt = :now, GSI5SK = :sk',
        { a: 2.5, now: later, sk: `${earned(2.5)}#${userId}` });
}

function* business(n) {
    const [userId, now, later] = [`u-${n}`, at(n, 40), at(n, 41)];
    const request = {
        videoLength: 5, prompt: 'waves', negativePrompt: '', seed: '42', flowShift: 5, inferenceSteps: 30, cfgScale: 5, optimizePrompt: true,
        isPublic: true, enableLoras: false, width: 720, height: 1280, selectedLoras: [], loraTriggerWords: [], loraHighNoise: null, loraLowNoise: null,
    };
    yield put(T, {
        ...key(`I2VJOB#j-${n}`), GSI1PK: `I2VJOB_BY_USER#${userId}`, GSI1SK: `${now}#j-${n}`, GSI2PK: `I2VJOB_BY_MEDIA#m-${n}`, GSI2SK: `${now}#j-${n}`,
        GSI3PK: 'I2VJOB_STATUS#IN_QUEUE', GSI3SK: `${now}#j-${n}`, GSI4PK: `I2VJOB_STATUS_USER#${userId}#IN_QUEUE`, GSI4SK: `${now}#j-${n}`,
        EntityType: 'I2VJob', jobId: `j-${n}`, userId, mediaId: `m-${n}`, request, status: 'IN_QUEUE', submittedAt: now, createdAt: now, updatedAt: now,
        completedAt: null, estimatedSeconds: 90, sourceImageUrl: 'https://cdn/i.jpg', runpodModel: 'wan-2-2-i2v-720', resultMediaId: null,
    });
    yield update(T, key(`I2VJOB#j-${n}`), 'SET #status = :s, GSI3PK = :g3, GSI4PK = :g4, completedAt = :now, updatedAt = :now, executionTime = :t',
        { s: 'COMPLETED', g3: 'I2VJOB_STATUS#COMPLETED', g4: `I2VJOB_STATUS_USER#${userId}#COMPLETED`, now: later, t: 61.5 });
    yield put(T, {
        ...key(`ORDER#o-${n}`), GSI1PK: `ORDERS_BY_USER#${userId}`, GSI1SK: `${now}#o-${n}`, GSI2PK: 'ORDERS_BY_STATUS#initiated', GSI2SK: `${now}#o-${n}`,
        GSI3PK: 'ORDER_BY_ITEM#starter-monthly', GSI3SK: `${now}#o-${n}`, EntityType: 'Order', orderId: `o-${n}`, userId, item: 'starter-monthly',
        amount: '10.00', currency: 'USD', status: 'initiated', paymentProvider: 'trustpay', paymentRequestId: null, createdAt: now, updatedAt: now,
        completedAt: null, metadata: null,
    });
    yield update(T, key(`ORDER#o-${n}`), 'SET #status = :s, GSI2PK = :g, completedAt = :now, updatedAt = :now', { s: 'completed', g: 'ORDERS_BY_STATUS#completed', now: later });
    yield update(T, key(`USER#${userId}`), 'SET #plan = :p, planEndDate = :e, GSI4PK = :g4, GSI4SK = :s4, subscriptionStatus = :a',
        { p: 'starter', e: at(n, 30 * 1440), g4: 'USER_PLAN#starter', s4: `${at(n, 30 * 1440)}#${userId}`, a: 'active' });
    yield put(T, {
        PK: 'ANALYTICS#users#daily', SK: now, GSI1PK: 'ANALYTICS', GSI1SK: `daily#${now}#users`, GSI2PK: 'ANALYTICS_TYPE#users', GSI2SK: now,
        EntityType: 'Analytics', metricType: 'users', granularity: 'daily', timestamp: now, endTimestamp: later, metrics: { new: 3 }, calculatedAt: later, version: 1,
    });
    yield put(T, { PK: 'METRICS_CACHE', SK: `users-${n}`, EntityType: 'MetricsCache', metricKey: `users-${n}`, value: { total: 7 }, lastUpdated: now, ttl: epoch(later) });
    yield put(T, {
        ...key(`GEN_SETTINGS#${userId}`), EntityType: 'GenerationSettings', userId, imageSize: '1024x1024', customWidth: 1024, customHeight: 1024, batchCount: 1,
        isPublic: 'true', cfgScale: 4.5, steps: 30, negativePrompt: '', createdAt: now, updatedAt: now,
    });
    yield update(T, key(`USER#${userId}`), 'SET #role = :r, updatedAt = :now', { r: 'admin', now: later });
}

// What the documents show.
export function documented(n) {
    return [...signUp(n), ...content(n), ...community(n), ...business(n)];
}

// What they do not: entities and attributes that they never name, other values and other forms.
export function habits(n) {
    const [userId, now] = [`u-${n}`, at(n, 50)];
    return [
        put(T, {
            PK: `PSC_TRANSACTION#t-${n}`, SK: 'METADATA', GSI1PK: `PSC_TRANSACTIONS_BY_USER#${userId}`, GSI1SK: `${now}#t-${n}`,
            EntityType: 'PscTransaction', transactionId: `t-${n}`, userId, amount: 2.5, reason: 'view', createdAt: now,
        }),
        put(T, { PK: `PUSH#${userId}`, SK: `DEVICE#d-${n}`, EntityType: 'PushSubscription', userId, deviceId: `d-${n}`, endpoint: 'https://push/x', keys: null }),
        put(T, user(`h-${n}`, { lastIp: '10.0.0.1', followingCount: 3, subscriptionStatus: 'trial', provider: 'apple', preferredLanguage: 7 })),
        put(T, album(`h-${n}`, { nsfwLevel: 'high', contributors: ['u-0'] })),
        put(T, media(`h-${n}`, { status: 'processing', duration: 12.5, codec: { name: 'h264', profile: null } })),
        put(T, {
            PK: `USER#${userId}`, SK: `INTERACTION#view#m-${n}`, GSI1PK: `INTERACTION#view#m-${n}`, GSI1SK: userId,
            GSI2PK: `USER#${userId}#INTERACTIONS#view`, GSI2SK: now, GSI3PK: 'INTERACTION#view', GSI3SK: now,
            EntityType: 'UserInteraction', userId, interactionType: 'view', targetType: 'profile', targetId: `m-${n}`, createdAt: now,
        }),
        update(T, key(`USER#${userId}`), 'SET featureFlags = :f, pscBalance = :none', { f: { beta: true }, none: null }),
        update(T, key(`ORDER#o-${n}`), 'SET #status = :s, GSI2PK = :g', { s: 'refunded', g: 'ORDERS_BY_STATUS#refunded' }),
        update(T, key(`I2VJOB#j-${n}`), 'SET #request.cfgScale = :c, #request.sampler = :s', { c: 12, s: 'euler' }),
    ];
}
