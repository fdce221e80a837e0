// The scripts that the media site's documents name, by what the documents say of them.
import { call } from './lib.mjs';

const TableName = 'pornspot';

async function* scan(EntityType) {
    let ExclusiveStartKey;
    do {
        const page = await call('Scan', {
            TableName,
            ExclusiveStartKey,
            FilterExpression: 'EntityType = :type',
            ExpressionAttributeValues: { ':type': EntityType },
        });
        yield* page.Items;
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
}

function set({ PK, SK }, values) {
    const names = Object.keys(values);
    return call('Update', {
        TableName,
        Key: { PK, SK },
        UpdateExpression: 'SET ' + names.map((name, i) => `#${i} = :${i}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
        ExpressionAttributeValues: Object.fromEntries(names.map((name, i) => [`:${i}`, values[name]])),
    });
}

// backend/scripts/backfill-isPublic.ts: only items that lack it, with "true".
export async function backfillIsPublic() {
    for (const type of ['Album', 'Media'])
        for await (const item of scan(type)) if (item.isPublic === undefined) await set(item, { isPublic: 'true' });
}

// backend/scripts/backfill-gsi4-albums.ts: all albums that have a creator.
export async function backfillGsi4Albums() {
    for await (const album of scan('Album')) {
        if (!album.createdBy) continue;
        await set(album, { GSI4PK: 'ALBUM_BY_CREATOR', GSI4SK: `${album.createdBy}#${album.createdAt}#${album.id}` });
    }
}

// scripts/backfill-gsi5-user-psc-earned.js: two decimals, zero-padded to 23 characters.
export async function backfillGsi5Users() {
    for await (const user of scan('User')) {
        const earned = (user.pscTotalEarned ?? 0).toFixed(2).padStart(23, '0');
        await set(user, { GSI5PK: 'USER_PSC_TOTAL_EARNED', GSI5SK: `${earned}#${user.userId}` });
    }
}

// scripts/set-admin-role.js SESSION ROLE: the user of a session.
export async function setAdminRole(sessionId, role) {
    const { Item } = await call('Get', { TableName, Key: { PK: `SESSION#${sessionId}`, SK: 'METADATA' } });
    await set({ PK: `USER#${Item.userId}`, SK: 'METADATA' }, { role, updatedAt: new Date().toISOString() });
    return Item.userId;
}
