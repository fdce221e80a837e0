// `make run`: serves the models with their data, and what it says one should try works.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { binary, modelFile, root } from './lib.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-run.'));
after(() => rmSync(directory, { recursive: true, force: true }));
const models = ['shop', 'pornspot', 'figureforge', 'asset-creator', 'kinex-fit'].map(modelFile).join(' ');

async function freePort() {
    const listener = net.createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address();
    listener.close();
    await once(listener, 'close');
    return port;
}

// Starts it as `make run` does; answers what it printed and how to stop it.
async function run(data, files) {
    const port = await freePort();
    const args = [binary, String(port), path.join(directory, data), files];
    const child = spawn(path.join(root, 'models/serve'), args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = [];
    for await (const line of readline.createInterface({ input: child.stdout })) {
        lines.push(line);
        if (line.includes('listening on')) break;
    }
    const stop = async () => {
        child.kill('SIGTERM');
        const [code] = await once(child, 'exit');
        assert.equal(code, 0);
    };
    return { port, lines, stop };
}

const shell = (command) => execFileSync('sh', ['-c', command], { encoding: 'utf8', cwd: root });

test('make run serves the models, and the commands it prints work', async () => {
    const { lines, stop } = await run('new', models);
    const commands = lines.filter((line) => line.startsWith('  '));
    assert.equal(commands.length, 6);
    const [patterns, customer, plan, orders, events, refused] = commands.map(shell);
    assert.match(patterns, /customerByEmail\(email email\)/);
    assert.equal(JSON.parse(customer).email, 'ada@example.com');
    assert.match(plan, /ORDERS#open#2026-06/);
    assert.equal(JSON.parse(orders).items.length, 2);
    assert.match(events, /order\.(open|paid|sent)/);
    assert.match(JSON.parse(refused).detail, /\/email: .*\/name: .*\/level: /);
    await stop();
});

test('make run leaves a data directory that is there as it is', async () => {
    const { port, lines, stop } = await run('new', models);
    assert.ok(!lines.some((line) => line.includes('is new')), lines.join('\n'));
    const url = `http://127.0.0.1:${port}`;
    const found = shell(`${binary} query spotter-users userByEmail email=ada@kinex.example --endpoint ${url}`);
    assert.equal(JSON.parse(found).firstName, 'Ada');
    await stop();
});

test('make run MODELS= serves without models', async () => {
    const { port, lines, stop } = await run('plain', '');
    assert.equal(lines.length, 1);
    const listed = shell(`${binary} call ListTables '{}' --endpoint http://127.0.0.1:${port}`);
    assert.deepEqual(JSON.parse(listed).TableNames, []);
    await stop();
});
