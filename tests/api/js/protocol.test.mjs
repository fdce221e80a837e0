// The wire: HTTP, headers, authentication, JSON, compression. No SDK here.
import { test } from 'node:test';
import net from 'node:net';
import zlib from 'node:zlib';
import {
    assert, AUTHORIZATION, endpoint, httpRequest, makeTable, put, raw, REAL, S,
} from './lib.mjs';

const url = new URL(endpoint);
const headers = {
    'X-Amz-Target': 'DynamoDB_20120810.ListTables',
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Date': '20260101T000000Z',
    Authorization: AUTHORIZATION,
};

test('every answer has a CRC, a request id and the JSON content type', REAL, async () => {
    for (const answer of [await raw('ListTables', {}), await raw('ListTables', { Limit: 0 })]) {
        assert.equal(answer.headers['content-type'], 'application/x-amz-json-1.0');
        assert.match(answer.headers['x-amzn-requestid'], /^[A-Za-z0-9-]{36,52}$/);
        assert.equal(answer.headers['x-amz-crc32'], String(crc32(answer.body)));
        assert.equal(answer.headers['content-length'], String(answer.body.length));
    }
});

function crc32(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
}

test('GET / answers that the server is healthy', REAL, async () => {
    const answer = await httpRequest({ method: 'GET' });
    assert.equal(answer.status, 200);
    assert.match(answer.body.toString(), /^healthy: /);
});

test('pages of other origins may not ask', REAL, async () => {
    const preflight = await httpRequest({
        method: 'OPTIONS',
        headers: {
            Origin: 'http://example.com',
            'Access-Control-Request-Method': 'POST',
            'Access-Control-Request-Headers': 'x-amz-target,authorization',
        },
    });
    assert.equal(preflight.status, 403);
    assert.equal(preflight.headers['access-control-allow-origin'], undefined);
    const answer = await raw('ListTables', {}, { Origin: 'http://example.com' });
    assert.equal(answer.status, 403);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
});

const AUTH = [
    ['no authorization', { Authorization: undefined }, 'MissingAuthenticationTokenException',
        'Request is missing Authentication Token'],
    ['an empty authorization', { Authorization: '' }, 'MissingAuthenticationTokenException',
        'Request is missing Authentication Token'],
    ['an authorization of another scheme', { Authorization: 'Basic abc' }, 'MissingAuthenticationTokenException',
        'Request is missing Authentication Token'],
    ['a signature without its parts', { Authorization: 'AWS4-HMAC-SHA256' }, 'IncompleteSignatureException', /Authorization header requires/],
    ['a word that is no parameter', { Authorization: 'AWS4-HMAC-SHA256 hello' }, 'IncompleteSignatureException', /'hello' not a valid key=value pair \(missing equal-sign\)/],
    ['no Signature', { Authorization: AUTHORIZATION.replace(/, Signature=.*/, '') }, 'IncompleteSignatureException',
        /Authorization header requires 'Signature' parameter\./],
    ['no Credential', { Authorization: AUTHORIZATION.replace(/Credential=[^,]*, /, '') }, 'IncompleteSignatureException',
        /Authorization header requires 'Credential' parameter\./],
    ['no SignedHeaders', { Authorization: AUTHORIZATION.replace(/SignedHeaders=[^,]*, /, '') },
        'IncompleteSignatureException', /Authorization header requires 'SignedHeaders' parameter\./],
    ['no date', { 'X-Amz-Date': undefined }, 'IncompleteSignatureException',
        /Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header\./],
];
for (const [title, change, name, message] of AUTH) {
    test('authentication: ' + title, REAL, async () => {
        const all = { ...headers, ...change };
        for (const key of Object.keys(all)) if (all[key] === undefined) delete all[key];
        const answer = await httpRequest({ headers: all, body: '{}' });
        const json = JSON.parse(answer.body.toString());
        assert.equal(json.__type, 'com.amazon.coral.service#' + name);
        const text = json.message ?? json.Message;
        if (message instanceof RegExp) assert.match(text, message);
        else assert.equal(text, message);
        assert.equal(answer.status, 400);
    });
}

const TARGETS = [
    ['an unknown operation', 'DynamoDB_20120810.Nothing'],
    ['an operation in the wrong case', 'DynamoDB_20120810.listTables'],
    ['an unknown service', 'Other_20120810.ListTables'],
    ['no operation', 'DynamoDB_20120810'],
];
for (const [title, target] of TARGETS) {
    test('target: ' + title, REAL, async () => {
        const answer = await httpRequest({ headers: { ...headers, 'X-Amz-Target': target }, body: '{}' });
        assert.equal(answer.status, 400);
        assert.deepEqual(JSON.parse(answer.body.toString()), {
            __type: 'com.amazon.coral.service#UnknownOperationException',
        });
    });
}

test('validation errors and others have their own type prefixes', REAL, async () => {
    const validation = await raw('ListTables', { Limit: 0 });
    assert.equal(validation.json.__type, 'com.amazon.coral.validate#ValidationException');
    const missing = await raw('DescribeTable', { TableName: 'there-is-no-such-table' });
    assert.equal(missing.json.__type, 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException');
    assert.equal(missing.status, 400);
});

const BAD_JSON = [
    ['no JSON', 'hello'],
    ['half an object', '{"Limit": 1'],
    ['a trailing comma', '{"Limit": 1,}'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['nothing', ''],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a lone surrogate escape', '{"ExclusiveStartTableName": "\\ud800"'],
    ['a deep nest', '['.repeat(100000)],
];
for (const [title, body] of BAD_JSON) {
    test('bad JSON: ' + title, REAL, async () => {
        const answer = await raw('ListTables', body);
        assert.equal(answer.json.__type, 'com.amazon.coral.service#SerializationException');
        assert.equal(answer.status, 400);
    });
}

test('unknown members of a request are ignored', async () => {
    const answer = await raw('ListTables', { NoSuchMember: { a: [1, null] }, Limit: 1 });
    assert.equal(answer.status, 200);
});

test('a null member is as if it were absent', async () => {
    const answer = await raw('ListTables', { Limit: null, ExclusiveStartTableName: null });
    assert.equal(answer.status, 200);
});

test('escapes and non-ASCII text survive', async () => {
    const name = await makeTable();
    const text = 'é\u{1f600}\u0000\u001f"\\/\b\f\n\r\t\u2028';
    await put(name, { pk: S('x'), text: S(text) });
    const answer = await raw('GetItem', `{"TableName":"${name}","Key":{"pk":{"S":"\\u0078"}}}`);
    assert.equal(answer.json.Item.text.S, text);
});

test('a gzip-compressed request is understood', REAL, async () => {
    const body = zlib.gzipSync(JSON.stringify({ Limit: 1 }));
    const answer = await raw('ListTables', body, { 'Content-Encoding': 'gzip' });
    assert.equal(answer.status, 200);
    const bad = await httpRequest({ headers: { ...headers, 'Content-Encoding': 'gzip' }, body: 'not gzip at all' });
    assert.equal(bad.status, 400);
});

test('a large answer is compressed for those who accept it', REAL, async () => {
    const name = await makeTable();
    await put(name, { pk: S('x'), text: S('hello '.repeat(5000)) });
    const request = { TableName: name, Key: { pk: S('x') } };
    const answer = await raw('GetItem', request, { 'Accept-Encoding': 'gzip' });
    assert.equal(answer.headers['content-encoding'], 'gzip');
    assert.equal(answer.headers['x-amz-crc32'], String(crc32(answer.body)));
    const json = JSON.parse(zlib.gunzipSync(answer.body).toString());
    assert.equal(json.Item.text.S.length, 30000);
    const identity = await raw('GetItem', request);
    assert.equal(identity.headers['content-encoding'], undefined);
});

test('a chunked request is understood', async () => {
    const name = await makeTable();
    const body = JSON.stringify({ TableName: name, Item: { pk: S('chunked') } });
    const lines = Object.entries({ ...headers, 'X-Amz-Target': 'DynamoDB_20120810.PutItem' });
    const chunks = [...body.match(/.{1,10}/g)].map((c) => `${c.length.toString(16)}\r\n${c}\r\n`).join('');
    const answer = await exchange(
        `POST / HTTP/1.1\r\nHost: ${url.host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n` +
            lines.map(([k, v]) => `${k}: ${v}\r\n`).join('') +
            `\r\n${chunks}0\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 200 /);
});

test('pipelined requests are answered in their order', async () => {
    const name = await makeTable();
    for (let i = 0; i < 20; i++) await put(name, { pk: S('k' + i) });
    const request = (i, close) => {
        const body = JSON.stringify({ TableName: name, Key: { pk: S('k' + i) } });
        return (
            `POST / HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: ${body.length}\r\n` +
            (close ? 'Connection: close\r\n' : '') +
            Object.entries({ ...headers, 'X-Amz-Target': 'DynamoDB_20120810.GetItem' })
                .map(([k, v]) => `${k}: ${v}\r\n`)
                .join('') +
            `\r\n${body}`
        );
    };
    let text = '';
    for (let i = 0; i < 20; i++) text += request(i, i === 19);
    const answer = await exchange(text);
    const keys = [...answer.matchAll(/"pk":\{"S":"(k\d+)"\}/g)].map((m) => m[1]);
    assert.deepEqual(keys, Array.from({ length: 20 }, (_, i) => 'k' + i));
});

// Sends bytes, answers all that comes until the server closes.
function exchange(text, { half = false, wait = 5000 } = {}) {
    return new Promise((resolve, reject) => {
        const socket = net.connect(url.port, url.hostname, () => (half ? socket.end(text) : socket.write(text)));
        let answer = '';
        const timer = setTimeout(() => socket.destroy(new Error('no end after: ' + answer)), wait);
        socket.on('data', (data) => (answer += data));
        socket.on('error', (error) => {
            clearTimeout(timer);
            if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(answer);
            else reject(error);
        });
        socket.on('close', () => (clearTimeout(timer), resolve(answer)));
    });
}

const BAD_HTTP = [
    ['garbage', '\x16\x03\x01\x02\x00 hello\r\n\r\n'],
    ['a header without a colon', 'POST / HTTP/1.1\r\nHost x\r\n\r\n'],
    ['an old version', 'POST / HTTP/0.3\r\n\r\n'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a bad chunk size', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
    ['endless headers', 'POST / HTTP/1.1\r\n' + 'X-Header: ' + 'x'.repeat(200000)],
];
for (const [title, text] of BAD_HTTP) {
    test('bad HTTP: ' + title, REAL, async () => {
        const answer = await exchange(text);
        if (answer !== '') assert.match(answer, /^HTTP\/1\.1 (4\d\d|505) /);
        // And the server lives on.
        assert.equal((await raw('ListTables', {})).status, 200);
    });
}

test('a body above the limit is refused, not read', REAL, async () => {
    const answer = await exchange(
        `POST / HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 100000000\r\n` +
            Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('') + '\r\n{',
    );
    assert.match(answer, /^HTTP\/1\.1 413 /);
});

test('a half-closed connection gets its answer', REAL, async () => {
    const body = '{}';
    const answer = await exchange(
        `POST / HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n` +
            Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('') + '\r\n' + body,
        { half: true },
    );
    assert.match(answer, /^HTTP\/1\.1 200 /);
});

test('a connection that goes away in the middle of a request does no harm', async () => {
    for (let i = 0; i < 20; i++) {
        await new Promise((resolve) => {
            const socket = net.connect(url.port, url.hostname, () => {
                socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"a":');
                setTimeout(() => socket.destroy(), 2);
            });
            socket.on('close', resolve);
            socket.on('error', () => {});
        });
    }
    assert.equal((await raw('ListTables', {})).status, 200);
});

test('tables do not depend on the access key; ARNs carry the region of the request', REAL, async () => {
    const name = await makeTable();
    const other = AUTHORIZATION.replace('Credential=test/20260101/us-east-1', 'Credential=OTHER/20260101/eu-west-3');
    const answer = await raw('DescribeTable', { TableName: name }, { Authorization: other });
    assert.equal(answer.json.Table.TableArn, `arn:aws:dynamodb:eu-west-3:000000000000:table/${name}`);
});

test('many connections at once', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => raw('ListTables', { Limit: 1 })));
    assert.ok(answers.every((a) => a.status === 200));
});

test('a method that is neither POST, GET nor OPTIONS is refused', REAL, async () => {
    const answer = await httpRequest({ method: 'DELETE', headers, body: '' });
    assert.ok(answer.status >= 400 && answer.status < 500);
});
