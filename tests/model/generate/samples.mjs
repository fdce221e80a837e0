// Makes each stored item of the models' sample data again, of its attributes alone, with the generated client;
// what comes out must be what the server's guard stored. node samples.mjs ENDPOINT MODULE…
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({
    endpoint: process.argv[2], region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
}));
let failed = 0;
let count = 0;

// The entity's client knows what belongs to it, which its types do not show.
function again(entities, item) {
    const entity = entities.find((one) => one.kind.fits(item));
    if (entity === undefined) throw new Error('no entity');
    const { derived, version, counted } = entity.kind;
    const made = entity.item(Object.fromEntries(Object.entries(item).filter(([name]) => !derived.includes(name))));
    if (version !== undefined) made[version] = item[version];
    for (const name of counted) made[name] = item[name]; // only the server counts
    return made;
}

for (const path of process.argv.slice(3)) {
    const module = await import(pathToFileURL(path));
    for (const Table of Object.values(module).filter((one) => /Table$/.test(one?.name ?? ''))) {
        const table = new Table(client);
        const entities = Object.values(table).filter((one) => one instanceof module.EntityClient);
        let here = 0;
        try {
            for await (const page of paginateScan({ client }, { TableName: table.tableName })) {
                for (const item of page.Items ?? []) {
                    const made = again(entities, item);
                    if (!isDeepStrictEqual(made, item))
                        throw new Error(`stored ${JSON.stringify(item)}\n  made ${JSON.stringify(made)}`);
                    here++;
                }
            }
            if (here === 0) throw new Error('no items');
            count += here;
            console.log(`ok samples of ${table.tableName}`);
        } catch (error) {
            failed++;
            console.log(`not ok samples of ${table.tableName}\n${error.message}`);
        }
    }
}
console.log(`${count} items`);
process.exit(failed ? 1 : 0);
