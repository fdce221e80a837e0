// What the tests of the models share: a server of their own, the models and their sample data, and
// the pair of tests that each access pattern has.
//
// What a query must answer is computed here from the sample data by plain filtering and sorting,
// and knows nothing of keys: so the tests show that the keys which the server derives are those of
// the documents.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as sdk from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as lib from '@aws-sdk/lib-dynamodb';

export { assert, sdk, test };
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const binary = path.resolve(root, process.env.DOLMEN_BIN ?? 'build/dolmen');

// ---- A server -------------------------------------------------------------------------------

export const server = { endpoint: undefined };
let child;
let directory;

async function start(options) {
    directory = mkdtempSync(path.join(tmpdir(), 'dolmen-models.'));
    const log = openSync(path.join(directory, 'log'), 'w');
    const args = ['serve', '--port', '0', '--data', path.join(directory, 'data'), '--durability', 'relaxed', ...options];
    child = spawn(binary, args, { stdio: ['ignore', 'pipe', log] });
    const lines = readline.createInterface({ input: child.stdout });
    const [line] = await once(lines, 'line');
    const match = /listening on (http:\S+)/.exec(line);
    assert.ok(match, `the server said: ${line}`);
    server.endpoint = match[1];
}

async function stop() {
    documents.destroy();
    client.destroy();
    child.kill('SIGTERM');
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    const said = readFileSync(path.join(directory, 'log'), 'utf8');
    rmSync(directory, { recursive: true, force: true });
    assert.equal(code, 0, `the server did not stop cleanly: ${said}`);
}

export let client;
export let documents;

// Starts a server before the tests of a file, with these models applied and their data loaded, or
// what a function prepares. A list has options of the server.
export function serve(...models) {
    const options = models.filter(Array.isArray).flat();
    before(async () => {
        await start(options);
        const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
        const { endpoint } = server;
        client = new sdk.DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
        documents = DynamoDBDocumentClient.from(client);
        for (const model of models.filter((one) => !Array.isArray(one))) {
            if (typeof model === 'function') {
                await model();
                continue;
            }
            await dolmen('apply', modelFile(model));
            await load(model);
        }
    });
    after(stop);
}

// One operation by its name, with plain values.
export const call = (operation, input) => documents.send(new lib[operation + 'Command'](input));

// `dolmen COMMAND …` on the server; answers what it printed.
export async function dolmen(command, ...args) {
    const all = [command, ...args, '--endpoint', server.endpoint];
    try {
        return (await promisify(execFile)(binary, all, { maxBuffer: 1 << 26 })).stdout;
    } catch (error) {
        throw new Error(`dolmen ${all.join(' ')}: ${error.stdout}${error.stderr}`);
    }
}

// A request of the data API; answers { status, body }.
export async function http(method, target, body) {
    const response = await fetch(server.endpoint + target, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

// ---- Models and data ------------------------------------------------------------------------

export const modelFile = (model) => path.join(root, 'models', model, model + '.dolmen');
const dataOf = (model) => path.join(root, 'models', model, 'data');

export async function load(model) {
    for (const table of readdirSync(dataOf(model)))
        await dolmen('import', table, path.join(dataOf(model), table), '--format', 'json', '--quiet');
}

export function items(model, table, entity) {
    const file = path.join(dataOf(model), table, entity + '.jsonl');
    assert.ok(existsSync(file), file);
    return readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
}

// ---- What comes back ------------------------------------------------------------------------

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// The sample items that a pattern must answer, in their order.
function expected(found, { order, descending }) {
    if (!order) return found;
    const sorted = [...found].sort((a, b) => compare(order(a), order(b)));
    return descending ? sorted.reverse() : sorted;
}

// Each item must have all attributes of the sample's.
function checkItems(actual, wanted, { order, same }) {
    assert.equal(actual.length, wanted.length, 'number of items');
    const rest = [...actual];
    for (const item of wanted) {
        const at = order ? 0 : rest.findIndex((other) => same(other) === same(item));
        const [other] = rest.splice(at, 1);
        const part = Object.fromEntries(Object.keys(item).map((name) => [name, other?.[name]]));
        assert.deepEqual(part, item);
    }
}

async function queryAll(input) {
    const found = { items: [], scanned: 0 };
    let ExclusiveStartKey;
    do {
        const page = await call('Query', { ...input, ExclusiveStartKey });
        found.items.push(...page.Items);
        found.scanned += page.ScannedCount;
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return found;
}

async function viaSdk(row, wanted) {
    if (row.get) {
        const { Item } = await call('Get', { TableName: row.table, Key: row.get, ConsistentRead: row.consistent });
        return checkItems(Item ? [Item] : [], wanted, row);
    }
    const found = await queryAll({
        TableName: row.table,
        IndexName: row.index,
        KeyConditionExpression: row.keys,
        ExpressionAttributeValues: row.values,
        ExpressionAttributeNames: row.names,
        ScanIndexForward: !row.descending,
        ...(row.filter && { FilterExpression: row.filter }),
    });
    checkItems(found.items, wanted, row);
    assert.equal(found.scanned, row.scanned?.length ?? wanted.length, 'ScannedCount');
}

// The items of a named pattern, by `dolmen query`.
export async function query(table, pattern, ...args) {
    const printed = await dolmen('query', table, pattern, ...args, '--json', '--keys', '--all');
    return printed.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

async function allPages(target) {
    const found = [];
    let cursor;
    do {
        const page = await http('GET', target + (cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''));
        assert.equal(page.status, 200, JSON.stringify(page.body));
        found.push(...page.body.items);
        cursor = page.body.cursor;
    } while (cursor);
    return found;
}

// The same by its name: `dolmen query`, and the data API, which must give the same items.
async function viaName(row, wanted) {
    const [pattern, params] = row.named;
    const args = Object.entries(params).map(([name, value]) => `${name}=${value}`);
    checkItems(await query(row.table, pattern, ...args), wanted, row);
    const target = `/v1/${row.table}/${pattern}?${new URLSearchParams(params)}`;
    checkItems(await allPages(target + '&keys=true'), wanted, row);
    checkPlan((await http('GET', target + '&explain=true')).body, row);
}

// The pattern is compiled to the document's own request, never a scan. Where the document leaves the
// sort key open, the pattern may have its constant beginning.
function checkPlan(plan, row) {
    assert.equal(plan.operation, row.get ? 'GetItem' : 'Query');
    assert.equal(plan.index ?? undefined, row.index);
    if (!row.keys) return;
    const keys = row.keys.replace(/:\w+/g, (name) => JSON.stringify(row.values[name]));
    assert.ok(plan.keys === keys || plan.keys.startsWith(`${keys} AND begins_with(`), `${plan.keys}, not ${keys}`);
}

// One access pattern: a test by the SDK with the document's own index and key condition, and one by
// the pattern's name. A row has
//   table, index, keys, names, values   the document's query; or get: the key of a GetItem
//   named: [pattern, { parameter: value }]
//   found: () => sample items, order: (item) => text or number, descending
//   same: (item) => identity            for what has no order
//   scanned: sample items that the query reads, if it has a filter
export function pattern(title, row) {
    const answer = () => expected(row.found(), row);
    test(`${title}, by the SDK`, async () => {
        const wanted = answer();
        assert.ok(wanted.length > 0, 'the sample data have nothing for this');
        await viaSdk(row, wanted);
    });
    test(`${title}, by its name`, () => viaName(row, answer()));
}
