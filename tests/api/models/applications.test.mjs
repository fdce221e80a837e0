// The four applications run: their writes, as the documents show them, pass on the enforced models. What the documents do not show
// (applications/*.mjs, habits) passes under `guard warn, unmatched warn`, and `dolmen report` proposes the lines with which `enforce` takes it, too:
// for the documents' models, and for those that `dolmen infer` makes of the data.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import * as assetCreator from './applications/asset-creator.mjs';
import * as figureforge from './applications/figureforge.mjs';
import * as kinexFit from './applications/kinex-fit.mjs';
import * as pornspot from './applications/pornspot.mjs';
import { assert, call, client, dolmen, modelFile, sdk, serve, test } from './lib.mjs';

const applications = { pornspot, figureforge, 'asset-creator': assetCreator, 'kinex-fit': kinexFit };
const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-applications.'));
after(() => rmSync(directory, { recursive: true, force: true }));
serve(async () => {});

const read = (file) => readFileSync(file, 'utf8');
const tablesOf = (text) => [...text.matchAll(/^table (\S+)/gm)].map(([, name]) => name);

function write(name, text) {
    const file = path.join(directory, name);
    writeFileSync(file, text);
    return file;
}

// A write in a table of another name.
const renamed = (input, rename) => JSON.parse(JSON.stringify(input), (name, value) => (name === 'TableName' ? rename(value) : value));

async function play(writes, rename = (name) => name) {
    for (const [operation, input] of writes) {
        try {
            await call(operation, renamed(input, rename));
        } catch (error) {
            assert.fail(`${error.name}: ${error.message} ${JSON.stringify(error.CancellationReasons ?? '')}\n${operation} ${JSON.stringify(input)}`);
        }
    }
}

// What the server counts: 0 when it was put, and whatever it has come to since.
const counted = /^(media|like|bookmark|comment|follower)Count$|^workoutsSaved$/;

// What was put last is there with all of its attributes; an index key that was null is left out.
async function stored(writes) {
    const puts = writes.filter(([operation]) => operation === 'Put').map(([, input]) => input);
    const touched = new Set(writes.filter(([operation]) => operation !== 'Put').flatMap(([, input]) => Object.values(input.Key ?? {})));
    for (const { TableName, Item } of puts) {
        const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName }));
        const Key = Object.fromEntries(Table.KeySchema.map(({ AttributeName }) => [AttributeName, Item[AttributeName]]));
        if (Object.values(Key).some((value) => touched.has(value))) continue; // changed since, or gone
        const found = (await call('Get', { TableName, Key })).Item;
        for (const name of Object.keys(Item).filter((name) => counted.test(name))) assert.ok(found?.[name] >= Item[name], name);
        const sent = Object.entries(Item).filter(([name]) => !counted.test(name));
        assert.deepEqual(Object.fromEntries(sent.map(([name]) => [name, found?.[name]])), Object.fromEntries(sent));
    }
}

const warning = (text) => text.replace(/^ *(guard|unmatched) .*\n/gm, '').replace(/^table .*\{\n/gm, '$&  guard warn\n  unmatched warn\n');
const enforced = (text) => text.replace(/^ *(guard|unmatched) warn\n/gm, '');

// A model with the lines and entities that reports of its tables propose.
function pasted(text, reports) {
    const lines = text.split('\n');
    const changes = reports.flatMap(({ Lines }) => Lines).sort((a, b) => b.At - a.At || a.New - b.New);
    for (const { At, New, Line } of changes) lines.splice(New ? At : At - 1, New ? 0 : 1, Line);
    return [lines.join('\n'), ...reports.map(({ Entities }) => Entities)].join('\n');
}

// Warn, play, report, paste: until nothing would be refused.
async function mended(name, text, writes) {
    for (let round = 0; round < 4; round++) {
        await dolmen('apply', write(`${name}.dolmen`, text));
        await writes(round);
        const reports = [];
        for (const TableName of tablesOf(text)) {
            const report = JSON.parse(await dolmen('call', 'DescribeModelReport', JSON.stringify({ TableName })));
            const open = report.Findings.filter((finding) => finding.Refused && !finding.Proposed);
            assert.deepEqual(open, [], `${TableName}: no line accepts this`);
            if (report.Refused > 0 || report.OfNoEntity > 0) reports.push(report);
        }
        if (reports.length === 0) return text;
        text = pasted(text, reports);
    }
    return assert.fail(`the report of ${name} does not come to an end`);
}

for (const [name, { documented, habits }] of Object.entries(applications)) {
    const model = read(modelFile(name));
    const all = tablesOf(model);

    test(`${name}: what the documents show is written on the enforced model`, async () => {
        await dolmen('apply', modelFile(name));
        await play(documented(1));
        await stored(documented(1));
    });

    test(`${name}: what they do not show is refused there`, async () => {
        for (const [operation, input] of habits(1)) await call(operation, input).catch(() => {});
        const refused = await Promise.allSettled(habits(1).map(([operation, input]) => call(operation, input)));
        assert.ok(refused.some(({ reason }) => reason?.name === 'ValidationException'));
    });

    test(`${name}: all of it passes under warn, and the reported lines make enforce accept it`, async () => {
        const all = (n) => [...documented(n), ...habits(n)];
        const text = await mended(name, warning(model), (round) => play([...all(10 + round), ...all(20 + round)]));
        await dolmen('apply', write(`${name}.dolmen`, enforced(text)), '--yes'); // some of it is older than it is kept
        await play(all(30));
        await stored(all(30));
    });

    test(`${name}: a model inferred from the data comes to be enforced`, async () => {
        const live = (table) => `${table}-live`;
        // The table of NextAuth.js is written by its adapter: see kinex-fit.test.mjs.
        const tables = all.filter((table) => JSON.stringify(documented(1)).includes(`"TableName":"${table}"`));
        for (const table of tables) await copyTable(table, live(table));
        for (let n = documented(1).length; n > 0; n--) await play(documented(n).slice(0, n), live); // many are on their way
        for (const table of tables) {
            const file = path.join(directory, `${table}.dolmen`);
            await dolmen('infer', live(table), '--out', file);
            const writes = (n) => [...documented(n), ...habits(n)].filter(([, input]) => input.TransactItems || input.TableName === table);
            const text = await mended(table, warning(read(file)), (round) => play([...writes(100 + round), ...writes(200 + round)], live));
            await dolmen('apply', write(`${table}.dolmen`, enforced(text)));
            await play(writes(300), live);
        }
    });
}

// A table with the same keys and indexes, and without a model.
async function copyTable(from, to) {
    const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: from }));
    await client.send(new sdk.CreateTableCommand({
        TableName: to,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: Table.KeySchema,
        AttributeDefinitions: Table.AttributeDefinitions,
        GlobalSecondaryIndexes: Table.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection })),
    }));
}
