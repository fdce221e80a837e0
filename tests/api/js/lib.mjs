// What all test files share: clients of the server under test, short names for
// attribute values, tables that are deleted at the end, and table-driven cases.
//
// The endpoint comes in by DOLMEN_ENDPOINT (see ../../lib/with-server). With
// DOLMEN_FOREIGN=1 the server may be another implementation: cases marked with
// REAL, where others are known to differ from the real service, are skipped, and
// the texts of errors are compared only with DOLMEN_STRICT=1.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import * as sdk from '@aws-sdk/client-dynamodb';

export { assert, sdk };

export const endpoint = process.env.DOLMEN_ENDPOINT;
if (!endpoint) throw new Error('DOLMEN_ENDPOINT is not set; use ./run');
export const foreign = process.env.DOLMEN_FOREIGN === '1';
const anyText = foreign && process.env.DOLMEN_STRICT !== '1';
// The server verifies signatures (with-server): every request has to have a good one.
export const secured = process.env.DOLMEN_SECURED === '1';
export const REAL = { skip: foreign ? 'real service only' : false };

export const credentials = { accessKeyId: process.env.AWS_ACCESS_KEY_ID, secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY };
export function makeClient(options = {}) {
    return new sdk.DynamoDBClient({
        endpoint,
        region: 'us-east-1',
        credentials,
        maxAttempts: 1,
        ...options,
    });
}
export const client = makeClient();
after(() => client.destroy());

// One operation by its name: call('GetItem', {...}).
export function call(operation, input) {
    return client.send(new sdk[operation + 'Command'](input));
}

// ---- Attribute values -------------------------------------------------------

export const S = (s) => ({ S: s });
export const N = (n) => ({ N: String(n) });
export const B = (bytes) => ({ B: typeof bytes === 'string' ? Buffer.from(bytes) : Uint8Array.from(bytes) });
export const SS = (...s) => ({ SS: s });
export const NS = (...n) => ({ NS: n.map(String) });
export const BS = (...b) => ({ BS: b.map((x) => Buffer.from(x)) });
export const L = (...l) => ({ L: l });
export const M = (m) => ({ M: m });
export const BOOL = (b) => ({ BOOL: b });
export const NULL = { NULL: true };

// Buffers and Uint8Arrays compare as different classes; this makes them one, and
// sorts what has no order (sets).
export function plain(value) {
    if (value instanceof Uint8Array) return 'b64:' + Buffer.from(value).toString('base64');
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== 'object') return value;
    const out = {};
    for (const [name, inner] of Object.entries(value)) {
        if (inner === undefined || name === '$metadata') continue;
        out[name] = plain(inner);
        if (['SS', 'NS', 'BS'].includes(name) && Array.isArray(inner)) out[name].sort();
    }
    return out;
}
export function same(actual, expected, message) {
    assert.deepEqual(plain(actual), plain(expected), message);
}

// ---- Tables -----------------------------------------------------------------

let counter = 0;
export function uniqueName(hint = 'table') {
    return `js-${hint}-${process.pid}-${++counter}`;
}

// key('pk', 'sk') or key('pk:N', 'sk:B'): a KeySchema with its definitions.
function parseKey(names) {
    return names.map((text, i) => {
        const [name, type = 'S'] = text.split(':');
        return { name, type, role: i === 0 ? 'HASH' : 'RANGE' };
    });
}
function schemaOf(parts) {
    return parts.map(({ name, role }) => ({ AttributeName: name, KeyType: role }));
}

// A CreateTable request in short:
//   tableSpec({ key: ['pk', 'sk:N'], gsi: { byName: ['name'] }, lsi: {...}, projection: {...} })
// An index may also be { key: [...], projection: 'KEYS_ONLY' | ['a', 'b'] }, or have
// hash: [...] and range: [...] for keys of several attributes.
export function tableSpec({ name, key = ['pk'], gsi = {}, lsi = {}, ...rest }) {
    const types = new Map();
    const note = (parts) => (parts.forEach((p) => types.set(p.name, p.type)), parts);
    const projectionOf = (p) =>
        Array.isArray(p)
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: p }
            : { ProjectionType: p ?? 'ALL' };
    const indexes = (group) =>
        Object.entries(group).map(([indexName, index]) => {
            const def = Array.isArray(index) ? { key: index } : index;
            const parts = def.key
                ? parseKey(def.key)
                : [
                      ...parseKey(def.hash).map((p) => ({ ...p, role: 'HASH' })),
                      ...parseKey(def.range ?? []).map((p) => ({ ...p, role: 'RANGE' })),
                  ];
            return {
                IndexName: indexName,
                KeySchema: schemaOf(note(parts)),
                Projection: projectionOf(def.projection),
            };
        });
    const keySchema = schemaOf(note(parseKey(key)));
    const globals = indexes(gsi);
    const locals = indexes(lsi);
    return {
        TableName: name ?? uniqueName(),
        KeySchema: keySchema,
        ...(globals.length && { GlobalSecondaryIndexes: globals }),
        ...(locals.length && { LocalSecondaryIndexes: locals }),
        AttributeDefinitions: [...types].map(([n, t]) => ({ AttributeName: n, AttributeType: t })),
        BillingMode: 'PAY_PER_REQUEST',
        ...rest,
    };
}

// Creates a table, usable at once, deleted after the file's tests. Answers its name.
export async function makeTable(spec = {}) {
    const request = tableSpec(spec);
    await call('CreateTable', request);
    after(() => call('DeleteTable', { TableName: request.TableName }).catch(() => {}));
    return request.TableName;
}

export async function waitFor(description, check, milliseconds = 20000) {
    const end = Date.now() + milliseconds;
    for (;;) {
        const value = await check();
        if (value) return value;
        if (Date.now() > end) throw new Error('timed out waiting for ' + description);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

export const put = (TableName, Item, rest = {}) => call('PutItem', { TableName, Item, ...rest });
export const get = async (TableName, Key, rest = {}) =>
    (await call('GetItem', { TableName, Key, ConsistentRead: true, ...rest })).Item;
export async function putAll(TableName, items) {
    for (let i = 0; i < items.length; i += 25) {
        const writes = items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }));
        const { UnprocessedItems } = await call('BatchWriteItem', { RequestItems: { [TableName]: writes } });
        assert.deepEqual(UnprocessedItems, {});
    }
}

// All items of all pages, and the number of pages.
export async function allPages(operation, input) {
    const items = [];
    let pages = 0;
    let ExclusiveStartKey;
    do {
        const page = await call(operation, { ...input, ExclusiveStartKey });
        items.push(...(page.Items ?? []));
        pages++;
        assert.ok(pages < 100000, 'paging does not end');
        ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return { items, pages };
}

// ---- Errors -----------------------------------------------------------------

// The call must fail with this exception and message (text or pattern); answers the error.
export async function fails(promise, name, message, status = 400) {
    let error;
    try {
        await promise;
    } catch (e) {
        error = e;
    }
    assert.ok(error, `expected ${name}, but the call succeeded`);
    checkError(error.name, error.message, name, message);
    assert.equal(error.$metadata?.httpStatusCode, status);
    return error;
}

function checkError(actualName, actualMessage, name, message) {
    const actual = `${actualName}: ${actualMessage}`;
    if (message instanceof RegExp && !anyText) {
        assert.equal(actualName, name, actual);
        assert.match(actualMessage ?? '', message);
    } else if (message === undefined || anyText) {
        assert.equal(actualName, name, actual);
    } else {
        assert.equal(actual, `${name}: ${message}`);
    }
}

export const VALIDATION = 'ValidationException';
export const NOT_FOUND = 'ResourceNotFoundException';
export const IN_USE = 'ResourceInUseException';
export const CONDITION = 'ConditionalCheckFailedException';
export const CANCELED = 'TransactionCanceledException';
export const SERIALIZATION = 'SerializationException';
export const INVALID = 'One or more parameter values were invalid: ';

// What these refuse before they look at the table, the service tells in an envelope.
const ENVELOPED = ['PutItem', 'UpdateItem', 'DeleteItem'];
export const ENVELOPE = '1 validation error detected: ';
function enveloped(message) {
    if (message instanceof RegExp) return new RegExp(message.source.replace('^', '^' + ENVELOPE), message.flags);
    return /^\d+ validation errors? detected: /.test(message) ? message : ENVELOPE + message;
}

// Rows of [title, request or () => request, exception, message, options], each one test.
// A request in raw form (strings, wrong types) is sent without the SDK by { raw: true }.
// { bare: true } marks what is not told in the envelope. Options for all rows may follow them.
export function errorCases(operation, rows, common = {}) {
    for (const [title, input, name, text, own = {}] of rows) {
        const options = { ...common, ...own };
        const wrap = ENVELOPED.includes(operation) && name === VALIDATION && text && !options.bare;
        const message = wrap ? enveloped(text) : text;
        test(`${operation}: ${title}`, options.real ? REAL : {}, async () => {
            const request = typeof input === 'function' ? input() : input;
            if (options.raw) {
                const answer = await raw(operation, request);
                checkError(answer.error, answer.message, name, message);
                assert.equal(answer.status, 400);
            } else {
                await fails(call(operation, request), name, message);
            }
        });
    }
}

// ---- Raw requests -------------------------------------------------------------

export const AUTHORIZATION =
    'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, ' +
    'SignedHeaders=host;x-amz-date;x-amz-target, Signature=' + '0'.repeat(64);

// Any HTTP request; answers { status, headers, body (Buffer) }.
export function httpRequest({ method = 'POST', path = '/', headers = {}, body }) {
    const url = new URL(endpoint);
    return new Promise((resolve, reject) => {
        const request = (url.protocol === 'https:' ? https : http).request(
            { host: url.hostname, port: url.port, method, path, headers, agent: false },
            (response) => {
                const chunks = [];
                response.on('data', (chunk) => chunks.push(chunk));
                response.on('end', () =>
                    resolve({
                        status: response.statusCode,
                        headers: response.headers,
                        body: Buffer.concat(chunks),
                    }),
                );
                response.on('error', reject);
            },
        );
        request.on('error', reject);
        request.end(body);
    });
}

// The headers with a signature that a secured server accepts.
function signed(headers, body) {
    const hash = (text) => crypto.createHash('sha256').update(text).digest('hex');
    const mac = (key, text) => crypto.createHmac('sha256', key).update(text).digest();
    const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    const all = Object.entries({ ...headers, Host: new URL(endpoint).host, 'X-Amz-Date': date }).filter(([name]) => name !== 'Authorization');
    const lines = all.map(([name, value]) => [name.toLowerCase(), value]).sort(([a], [b]) => (a < b ? -1 : 1));
    const names = lines.map(([name]) => name).join(';');
    const canonical = ['POST', '/', '', ...lines.map((line) => line.join(':')), '', names, hash(body)].join('\n');
    const scope = [date.slice(0, 8), 'us-east-1', 'dynamodb', 'aws4_request'];
    const key = scope.reduce(mac, 'AWS4' + credentials.secretAccessKey);
    const signature = mac(key, ['AWS4-HMAC-SHA256', date, scope.join('/'), hash(canonical)].join('\n')).toString('hex');
    const Authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...Object.fromEntries(all), Authorization };
}

// An operation with a body of our own: an object, or text sent as it is. Answers the
// HTTP answer with `json`, and for errors `error` (the bare exception name) and `message`.
export async function raw(operation, body, headers = {}) {
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const all = {
        'X-Amz-Target': 'DynamoDB_20120810.' + operation,
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Date': '20260101T000000Z',
        Authorization: AUTHORIZATION,
        ...headers,
    };
    const answer = await httpRequest({ headers: secured ? signed(all, bytes) : all, body: bytes });
    if (!answer.headers['content-encoding']) answer.json = JSON.parse(answer.body.toString() || 'null');
    if (answer.status !== 200 && answer.json) {
        answer.error = answer.json.__type?.split('#').pop();
        answer.message = answer.json.message ?? answer.json.Message;
    }
    return answer;
}
