// The entities as the documents have them: their keys, word for word, and their attributes. For
// each one a test: what the server has stored for the sample data has exactly these keys, and
// every attribute is known, so that a value of a wrong type is refused and named.
import { assert, call, items, test } from './lib.mjs';

const words = ([text]) => text.split(/\s+/);

// `names`: what a name inside the keys is called among the attributes.
const pornspot = {
    Album: {
        stays: true, // its media would go with it
        keys: {
            PK: 'ALBUM#{albumId}', SK: 'METADATA',
            GSI1PK: 'ALBUM', GSI1SK: '{createdAt}#{albumId}',
            GSI2PK: 'ALBUM_COVER_IMAGE', GSI2SK: '{coverImageMediaId}#{albumId}',
            GSI3PK: 'ALBUM_BY_USER_{isPublic}', GSI3SK: '{createdBy}#{createdAt}#{albumId}',
            GSI4PK: 'ALBUM_BY_CREATOR', GSI4SK: '{createdBy}#{createdAt}#{albumId}',
            GSI5PK: 'ALBUM', GSI5SK: '{isPublic}',
            GSI6PK: 'POPULARITY', GSI6SK: '{GSI6SK}',
            GSI7PK: 'CONTENT', GSI7SK: '{createdAt}',
            GSI8PK: 'VISIBILITY_UPDATED', GSI8SK: '{isPublic}#{updatedAt}#{albumId}',
        },
        attributes: words`id title tags coverImageUrl thumbnailUrls coverImageMediaId createdAt updatedAt
            mediaCount isPublic likeCount bookmarkCount viewCount commentCount metadata type optimizedVideoUrl
            createdBy createdByType GSI6SK`,
    },
    Media: {
        keys: {
            PK: 'MEDIA#{mediaId}', SK: 'METADATA',
            GSI1PK: 'MEDIA_BY_CREATOR', GSI1SK: '{createdBy}#{createdAt}#{mediaId}',
            GSI2PK: 'MEDIA_ID', GSI2SK: '{mediaId}',
            GSI3PK: 'MEDIA_BY_USER_{isPublic}', GSI3SK: '{createdBy}#{createdAt}#{mediaId}',
            GSI4PK: 'MEDIA', GSI4SK: '{createdAt}#{mediaId}',
            GSI5PK: 'MEDIA', GSI5SK: '{isPublic}',
            GSI6PK: 'POPULARITY', GSI6SK: '{GSI6SK}',
            GSI7PK: 'CONTENT', GSI7SK: '{createdAt}',
            GSI8PK: 'MEDIA_BY_TYPE_AND_CREATOR', GSI8SK: '{type}#{createdBy}#{createdAt}#{mediaId}',
        },
        attributes: words`id filename originalFilename mimeType size width height url thumbnailUrl
            thumbnailUrls status createdAt updatedAt isPublic likeCount bookmarkCount viewCount commentCount
            metadata createdBy createdByType GSI6SK`,
    },
    AlbumMedia: {
        keys: {
            PK: 'ALBUM#{albumId}', SK: 'MEDIA#{mediaId}',
            GSI1PK: 'MEDIA#{mediaId}', GSI1SK: 'ALBUM#{albumId}#{addedAt}',
            GSI2PK: 'ALBUM_MEDIA_BY_DATE', GSI2SK: '{addedAt}#{albumId}#{mediaId}',
        },
        attributes: words`albumId mediaId addedAt addedBy`,
    },
    AlbumTag: {
        made: ({ EntityType }) => EntityType === 'AlbumTag', // by the server
        keys: {
            PK: 'ALBUM_TAG#{normalizedTag}', SK: 'ALBUM#{albumId}#{createdAt}',
            GSI1PK: 'ALBUM_TAG', GSI1SK: '{normalizedTag}#{createdAt}#{albumId}',
            GSI2PK: 'ALBUM_TAG#{normalizedTag}#{isPublic}', GSI2SK: '{createdAt}',
            GSI3PK: 'ALBUM_TAG#{userId}#{isPublic}', GSI3SK: '{normalizedTag}#{createdAt}',
        },
        attributes: words`albumId userId tag normalizedTag createdAt isPublic`,
    },
    Comment: {
        keys: {
            PK: 'COMMENT#{commentId}', SK: 'METADATA',
            GSI1PK: 'COMMENTS_BY_TARGET', GSI1SK: '{targetType}#{targetId}#{createdAt}#{commentId}',
            GSI2PK: 'COMMENTS_BY_USER', GSI2SK: '{userId}#{createdAt}#{commentId}',
            GSI3PK: 'INTERACTION#comment', GSI3SK: '{createdAt}',
        },
        attributes: words`id content targetType targetId userId username createdAt updatedAt likeCount isEdited`,
    },
    User: {
        keys: {
            PK: 'USER#{userId}', SK: 'METADATA',
            GSI1PK: 'USER_EMAIL', GSI1SK: '{email}',
            GSI2PK: 'USER_GOOGLE', GSI2SK: '{googleId}',
            GSI3PK: 'USER_USERNAME', GSI3SK: '{username}',
            GSI4PK: 'USER_PLAN#{plan}', GSI4SK: '{planEndDate || \'9999-12-31T00:00:00.000Z\'}#{userId}',
            GSI5PK: 'USER_PSC_TOTAL_EARNED', GSI5SK: '{pscTotalEarned}#{userId}',
        },
        attributes: words`userId email username firstName lastName passwordHash salt provider createdAt
            isActive isEmailVerified lastLoginAt lastActive googleId bio location website preferredLanguage
            avatarUrl avatarThumbnails role plan subscriptionId subscriptionStatus planStartDate planEndDate
            imagesGeneratedThisMonth imagesGeneratedToday lastGenerationAt bonusGenerationCredits
            profileInsights followerCount pscBalance pscTotalEarned pscTotalSpent pscTotalWithdrawn
            pscLastTransactionAt lastSentUnreadNotificationsEmailAt lastSentPscBalanceEmailAt emailPreferences
            i2vCreditsSecondsPurchased i2vCreditsSecondsFromPlan`,
    },
    UserSession: {
        keys: {
            PK: 'SESSION#{sessionId}', SK: 'METADATA',
            GSI1PK: 'USER_SESSION_EXPIRY', GSI1SK: '{expiresAt}#{sessionId}',
            GSI2PK: 'USER#{userId}#SESSION', GSI2SK: '{createdAt}#{sessionId}',
        },
        attributes: words`sessionId userId userEmail createdAt expiresAt lastAccessedAt ttl`,
    },
    UserInteraction: {
        keys: {
            PK: 'USER#{userId}', SK: 'INTERACTION#{interactionType}#{targetId}',
            GSI1PK: 'INTERACTION#{interactionType}#{targetId}', GSI1SK: '{userId}',
            GSI2PK: 'USER#{userId}#INTERACTIONS#{interactionType}', GSI2SK: '{createdAt}',
            GSI3PK: 'INTERACTION#{interactionType}', GSI3SK: '{createdAt}',
        },
        attributes: words`userId interactionType targetType targetId createdAt`,
    },
    EmailVerificationToken: {
        keys: {
            PK: 'EMAIL_VERIFICATION#{token}', SK: 'METADATA',
            GSI1PK: 'EMAIL_VERIFICATION_EXPIRY', GSI1SK: '{expiresAt}#{token}',
        },
        attributes: words`token userId email createdAt expiresAt ttl`,
    },
    PasswordResetToken: {
        keys: {
            PK: 'PASSWORD_RESET#{token}', SK: 'TOKEN',
            GSI1PK: 'PASSWORD_RESET_EXPIRY', GSI1SK: '{expiresAt}#{token}',
        },
        attributes: words`token userId email createdAt expiresAt ttl`,
    },
    Analytics: {
        keys: {
            PK: 'ANALYTICS#{metricType}#{granularity}', SK: '{timestamp}',
            GSI1PK: 'ANALYTICS', GSI1SK: '{granularity}#{timestamp}#{metricType}',
            GSI2PK: 'ANALYTICS_TYPE#{metricType}', GSI2SK: '{timestamp}',
        },
        attributes: words`metricType granularity timestamp endTimestamp metrics calculatedAt version`,
    },
    MetricsCache: {
        keys: {
            PK: 'METRICS_CACHE', SK: '{metricKey}',
        },
        attributes: words`metricKey value lastUpdated ttl`,
    },
    GenerationSettings: {
        keys: {
            PK: 'GEN_SETTINGS#{userId}', SK: 'METADATA',
        },
        attributes: words`userId imageSize customWidth customHeight batchCount isPublic cfgScale steps
            negativePrompt createdAt updatedAt`,
    },
    Follow: {
        keys: {
            PK: 'FOLLOW#{followerId}#{followedId}', SK: 'METADATA',
            GSI1PK: 'FOLLOWING#{followerId}', GSI1SK: '{createdAt}#{followedId}',
            GSI2PK: 'FOLLOWERS#{followedId}', GSI2SK: '{createdAt}#{followerId}',
        },
        attributes: words`followerId followedId createdAt`,
    },
    I2VJob: {
        keys: {
            PK: 'I2VJOB#{jobId}', SK: 'METADATA',
            GSI1PK: 'I2VJOB_BY_USER#{userId}', GSI1SK: '{createdAt}#{jobId}',
            GSI2PK: 'I2VJOB_BY_MEDIA#{mediaId}', GSI2SK: '{createdAt}#{jobId}',
            GSI3PK: 'I2VJOB_STATUS#{status}', GSI3SK: '{createdAt}#{jobId}',
            GSI4PK: 'I2VJOB_STATUS_USER#{userId}#{status}', GSI4SK: '{createdAt}#{jobId}',
        },
        attributes: words`jobId userId mediaId request status submittedAt updatedAt completedAt
            estimatedCompletionTimeAt estimatedSeconds sourceImageUrl runpodModel delayTime executionTime
            resultMediaId refundedAt refundedSeconds retryJobId retryOfJobId`,
    },
    Order: {
        keys: {
            PK: 'ORDER#{orderId}', SK: 'METADATA',
            GSI1PK: 'ORDERS_BY_USER#{userId}', GSI1SK: '{createdAt}#{orderId}',
            GSI2PK: 'ORDERS_BY_STATUS#{status}', GSI2SK: '{createdAt}#{orderId}',
            GSI3PK: 'ORDER_BY_ITEM#{item}', GSI3SK: '{createdAt}#{orderId}',
        },
        attributes: words`orderId userId item amount currency status paymentProvider paymentRequestId createdAt
            updatedAt completedAt metadata`,
    },
    Notification: {
        keys: {
            PK: 'NOTIFICATION#{notificationId}', SK: 'METADATA',
            GSI1PK: 'USER#{targetUserId}#NOTIFICATIONS', GSI1SK: '{status}#{createdAt}#{notificationId}',
            GSI2PK: 'USER#{targetUserId}#NOTIFICATIONS#{status}', GSI2SK: '{createdAt}#{notificationId}',
        },
        attributes: words`notificationId targetUserId sourceUserId notificationType targetType targetId status
            createdAt readAt`,
    },
    AdminUser: {
        keys: {
            PK: 'ADMIN#{adminId}', SK: 'METADATA',
            GSI1PK: 'ADMIN_USERNAME', GSI1SK: '{username}',
        },
        attributes: words`adminId username passwordHash salt createdAt isActive`,
    },
    AdminSession: {
        keys: {
            PK: 'SESSION#{sessionId}', SK: 'METADATA',
            GSI1PK: 'SESSION_EXPIRY', GSI1SK: '{expiresAt}#{sessionId}',
        },
        attributes: words`sessionId adminId adminUsername createdAt expiresAt lastAccessedAt ttl`,
    },};
pornspot.Album.names = { albumId: 'id' };
pornspot.Media.names = { mediaId: 'id' };
pornspot.Comment.names = { commentId: 'id' };
// "Zero-padded to 23 chars for proper sorting": twenty digits, the point and two decimals.
pornspot.User.forms = { pscTotalEarned: (value) => value.toFixed(2).padStart(23, '0') };
pornspot.User.otherwise = { planEndDate: '9999-12-31T00:00:00.000Z' };
pornspot.MetricsCache.any = ['value'];

const common = words`created_at deleted_at`;
const figureforge = {
    User: {
        keys: { pk: 'USER#{user_id}', sk: 'PROFILE', byEmail_pk: 'EMAIL#{email}', byEmail_sk: 'USER#{user_id}' },
        attributes: common,
    },
    Subscription: {
        keys: {
            pk: 'USER#{user_id}', sk: 'SUB#{stripe_sub_id}',
            byStripeSub_pk: 'SUB#{stripe_sub_id}', byStripeSub_sk: 'USER#{user_id}',
        },
        attributes: common,
    },
    GenerationJob: {
        keys: { pk: 'USER#{user_id}', sk: 'JOB#{job_id}', jobsByStatus_pk: 'JOBSTATUS#{status}' },
        attributes: common,
    },
    Image: {
        keys: { pk: 'IMG#{image_id}', sk: 'META', imagesByUser_pk: 'USER#{user_id}' },
        attributes: words`user_id url tags prompt_json provider provider_model_id cost_cents favorited_count public
            private_gallery_ids flag_status created_at deleted_at`,
    },
    // The server makes them.
    TagIndex: { keys: { pk: 'TAG#{tag_value}', sk: 'IMG#{image_id}' }, attributes: common, made: ({ pk }) => pk.startsWith('TAG#') },
    Report: {
        keys: { pk: 'IMG#{image_id}', sk: 'REPORT#{report_id}', reportsByStatus_pk: 'REPORTSTATUS#{status}' },
        attributes: common,
    },
    FeatureFlag: { keys: { pk: 'FEATUREFLAG#global', sk: '{flag_name}' }, attributes: common },
    Plan: {
        keys: { pk: 'PLAN#{plan_id}', sk: 'META', plansByActive_pk: 'PLANACTIVE#{active}' },
        attributes: common,
    },
};

const assetCreator = {
    Project: {
        keys: { PK: 'PROJECT#{project_id}', SK: 'PROJECT#{project_id}' },
        attributes: words`name style_profile quotas created_at`,
        any: ['style_profile', 'quotas'],
    },
    Job: {
        keys: {
            PK: 'PROJECT#{project_id}', SK: 'JOB#{job_id}', GSI1PK: 'JOB_STATUS#{status}', GSI1SK: '{updated_at}',
        },
        attributes: words`asset_type status current_step created_at updated_at`,
    },
    Step: {
        keys: { PK: 'JOB#{job_id}', SK: 'STEP#{step_name}#{ts}', GSI2PK: 'STEP_STATUS#{status}', GSI2SK: '{ts}' },
        attributes: words`status artifacts metrics error approved_by decided_at`,
        any: ['error'],
    },
    AssetVersion: {
        keys: {
            PK: 'PROJECT#{project_id}', SK: 'ASSET#{asset_id}#V#{version}',
            GSI3PK: 'ASSET_TYPE#{type}', GSI3SK: '{created_at}',
        },
        attributes: words`type files metadata cdn_url created_at`,
    },
    Outbox: {
        keys: { PK: 'OUTBOX#{event_id}', SK: 'OUTBOX#{event_id}' },
        attributes: words`type payload status ts`,
    },
    Idempotency: {
        keys: { PK: 'IDEMPOTENCY#{key}', SK: 'IDEMPOTENCY#{key}' },
        attributes: words`job_id step_name created_at ttl`,
    },
    Audit: {
        stays: true, // it is append only
        keys: { PK: 'PROJECT#{project_id}', SK: 'AUDIT#{ts}#{actor}' },
        attributes: words`action details`,
        any: ['details'],
    },
};

const kinexFit = {
    User: {
        keys: { id: '{id}', email: '{email}', stripeCustomerId: '{stripeCustomerId}' },
        attributes: words`id email firstName lastName passwordHash image subscriptionTier subscriptionStatus
            subscriptionStartDate subscriptionEndDate trialEndsAt stripeCustomerId stripeSubscriptionId scanQuotaUsed
            scanQuotaResetDate ocrQuotaUsed instagramImportsUsed workoutsSaved aiRequestsUsed aiRequestsLimit
            ocrQuotaLimit instagramImportsLimit currentMonthCost totalCost currentMonthTokens totalTokens
            lastCostReset trainingProfile onboardingCompleted onboardingCompletedAt createdAt updatedAt`,
    },
    Workout: {
        keys: { userId: '{userId}', id: '{id}', createdAt: '{createdAt}' },
        attributes: words`id userId title description source duration difficulty tags notes exercises scheduledFor
            isRecurring recurringPattern isCompleted completedAt actualDuration aiModel aiPrompt aiTokensUsed aiCost
            createdAt updatedAt`,
    },
    WorkoutCompletion: {
        keys: { userId: '{userId}', completedAt: '{completedAt}' },
        attributes: words`id userId workoutId completedAt duration difficulty notes exercisesCompleted energyLevel
            enjoyment createdAt`,
    },
    WebhookEvent: {
        keys: { eventId: '{eventId}' },
        attributes: words`eventId eventType processedAt userId data ttl`,
    },
};

export const documented = { pornspot, figureforge, 'asset-creator': assetCreator, 'kinex-fit': kinexFit };

// A documented key filled with an item's attributes; undefined if one is missing.
function fill(template, item, { names = {}, forms = {}, otherwise = {} }) {
    const native = /^\{(\w+)\}$/.exec(template)?.[1];
    if (typeof item[native] === 'number' && !forms[native]) return item[native];
    let missing = false;
    const text = template.replace(/\{(\w+)[^}]*\}/g, (_, word) => {
        const name = names[word] ?? word;
        const value = item[name] ?? otherwise[name];
        if (value === undefined || value === null) missing = true;
        return missing ? '' : (forms[name] ?? String)(value);
    });
    return missing ? undefined : text;
}

// An index entry is whole or not there: what its two keys are, or nothing.
export function filled(entity, item) {
    const keys = {};
    for (const [name, template] of Object.entries(entity.keys)) keys[name] = fill(template, item, entity);
    for (const name of Object.keys(keys)) {
        const other = name.replace(/PK$/, 'SK');
        if (other !== name && keys[other] === undefined) delete keys[name];
        else if (keys[name] === undefined) delete keys[name];
    }
    for (const name of Object.keys(keys)) {
        const other = name.replace(/SK$/, 'PK');
        if (other !== name && other in entity.keys && !(other in keys)) delete keys[name];
    }
    return keys;
}

const bytes = new Uint8Array([1, 2, 3]);

function checkKeys(entity, stored) {
    const wanted = filled(entity, stored);
    const actual = {};
    for (const name of Object.keys(entity.keys)) if (name in stored) actual[name] = stored[name];
    assert.deepEqual(actual, wanted);
}

async function checkAttributes(table, entity, stored) {
    for (const name of entity.attributes) {
        if (entity.any?.includes(name)) continue;
        const item = { ...stored, [name]: bytes };
        await assert.rejects(call('Put', { TableName: table, Item: item }), (error) => {
            assert.equal(error.name, 'ValidationException', `${name}: ${error}`);
            assert.match(error.message, new RegExp(`\\b${name}\\b`));
            return true;
        });
    }
}

// The application sends the keys itself. The right ones make the same item; wrong ones are refused.
async function checkWrites(table, entity, sample, stored) {
    const hash = 'PK' in entity.keys ? ['PK', 'SK'] : 'pk' in entity.keys ? ['pk', 'sk'] : undefined;
    if (!hash) return;
    const Key = Object.fromEntries(hash.map((name) => [name, stored[name]]));
    const item = { ...sample, ...filled(entity, stored) };
    if (!entity.stays) {
        await call('Delete', { TableName: table, Key });
        await call('Put', { TableName: table, Item: item });
        const { Item } = await call('Get', { TableName: table, Key });
        assert.deepEqual(Item, stored);
    }
    for (const name of Object.keys(filled(entity, stored)).filter((key) => !hash.includes(key)))
        await assert.rejects(call('Put', { TableName: table, Item: { ...item, [name]: 'WRONG' } }), {
            name: 'ValidationException',
        });
}

async function readAll(table) {
    const found = [];
    let ExclusiveStartKey;
    do {
        const page = await call('Scan', { TableName: table, ExclusiveStartKey });
        found.push(...page.Items);
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return found;
}

// The plain attributes of a sample item are all stored; what the server read out of keys comes on top.
function isOf(sample) {
    const names = Object.keys(sample);
    return (stored) => names.every((name) => stored[name] === sample[name]);
}

const scalar = (item) =>
    Object.fromEntries(Object.entries(item).filter(([, value]) => typeof value !== 'object'));

// One test for each entity of a model. The tests leave the tables as they are, so that each is read
// only once.
export function entities(model, tableOf) {
    const tables = new Map();
    const read = (table) => tables.get(table) ?? tables.set(table, readAll(table)).get(table);
    for (const [name, entity] of Object.entries(documented[model])) {
        test(`Entity ${name}: documented keys and attributes`, async () => {
            const table = tableOf(name);
            const stored = await read(table);
            if (entity.made) {
                const made = stored.filter(entity.made);
                assert.ok(made.length > 20, `${made.length} items`);
                for (const item of made) checkKeys(entity, item);
                return;
            }
            const samples = items(model, table, name);
            for (const sample of samples) {
                const found = stored.filter(isOf(scalar(sample)));
                assert.equal(found.length, 1, `stored once: ${JSON.stringify(sample)}`);
                if (!found[0].deleted_at) checkKeys(entity, found[0]);
            }
            const first = stored.find(isOf(scalar(samples[0])));
            await checkAttributes(table, entity, first);
            await checkWrites(table, entity, samples[0], first);
        });
    }
}
