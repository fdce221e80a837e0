// Items of the media site as it wrote them before its later indexes and attributes came, and the table of that time.
import { documented, filled } from './entities.mjs';
import { call, client, items, sdk } from './lib.mjs';

export const table = 'pornspot';
const data = (entity) => items('pornspot', table, entity);
const without = (item, ...names) => Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

// An item with the keys that it had at the time: those of the table and of some indexes.
function aged(entity, item, indexes) {
    const keys = filled(documented.pornspot[entity], item);
    const kept = Object.entries(keys).filter(([name]) => /^[PS]K$/.test(name) || indexes.includes(name.slice(0, 4)));
    return { ...item, ...Object.fromEntries(kept) };
}

export const albums = data('Album').map((item) => aged('Album', without(item, 'isPublic', 'viewCount', 'type', 'GSI6SK'), ['GSI1']));
export const media = data('Media').map((item) => aged('Media', without(item, 'isPublic', 'type', 'GSI6SK'), ['GSI1', 'GSI2']));
export const users = data('User').map((item) =>
    aged('User', without(item, 'pscTotalEarned', 'emailPreferences'), ['GSI1', 'GSI2', 'GSI3']));
export const sessions = data('UserSession').map((item) => aged('UserSession', item, ['GSI1', 'GSI2']));
// A few who have earned something before the leaderboard came.
users.slice(0, 6).forEach((user, i) => (user.pscTotalEarned = [7, 12.5, 150, 9.25, 1000, 99][i]));

const key = (name) => [{ AttributeName: name + 'PK', KeyType: 'HASH' }, { AttributeName: name + 'SK', KeyType: 'RANGE' }];

export async function createTable() {
    const names = ['', 'GSI1', 'GSI2', 'GSI3', 'GSI4'];
    await client.send(new sdk.CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: key(''),
        AttributeDefinitions: names.flatMap((name) =>
            ['PK', 'SK'].map((part) => ({ AttributeName: name + part, AttributeType: 'S' }))),
        GlobalSecondaryIndexes: names.slice(1).map((name) =>
            ({ IndexName: name, KeySchema: key(name), Projection: { ProjectionType: 'ALL' } })),
    }));
}

export async function putAll(TableName, list) {
    for (let i = 0; i < list.length; i += 25) {
        const writes = list.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }));
        await call('BatchWrite', { RequestItems: { [TableName]: writes } });
    }
}
