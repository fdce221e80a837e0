// The models themselves: they are right, their READMEs are up to date, and the linter names what is
// wrong with the documents they come from.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
import { binary, modelFile, root } from './lib.mjs';

const systems = ['pornspot', 'figureforge', 'asset-creator', 'kinex-fit'];
const models = ['shop', ...systems];

// What the linter finds in a model. Findings may make it fail.
function findings(model) {
    let printed;
    try {
        printed = execFileSync(binary, ['lint', modelFile(model), '--json'], { encoding: 'utf8' });
    } catch (error) {
        printed = error.stdout;
    }
    return JSON.parse(printed).flatMap(({ lint }) => lint.findings);
}

for (const model of models) {
    test(`models/${model} is right`, () => {
        execFileSync(binary, ['check', modelFile(model)]);
    });
}

// Every pattern of a model is named by a test of this directory.
for (const model of systems) {
    test(`Every access pattern of ${model} is tested`, () => {
        const tests = readFileSync(new URL(`${model}.test.mjs`, import.meta.url), 'utf8');
        const names = [...readFileSync(modelFile(model), 'utf8').matchAll(/^access (\w+)\(/gm)].map((match) => match[1]);
        assert.ok(names.length > 0);
        assert.deepEqual(names.filter((name) => !new RegExp(`\\W'${name}'`).test(tests)), []);
    });
}

test('The READMEs are up to date', () => {
    execFileSync(path.join(root, 'models/readmes'), [binary, '--check']);
});

test('The sample data are up to date', () => {
    execFileSync(path.join(root, 'models/sample-data'), ['--check']);
});

// A newcomer meets it first: it has to be a model to copy from.
test('The linter finds nothing in the shop', () => {
    assert.deepEqual(findings('shop'), []);
});

// The others are as their documents are: what the linter finds is accepted, one by one, with a reason.
for (const model of systems) {
    test(`Every finding of the linter in ${model} is accepted with its reason`, () => {
        assert.deepEqual(findings(model).filter((one) => !one.suppressed), []);
        const accepted = readFileSync(modelFile(model), 'utf8').match(/lint: ignore L.*/g);
        assert.ok(accepted.length > 0);
        for (const comment of accepted) assert.match(comment, /^lint: ignore L\d{3}(, L\d{3})*: .{8,}/);
    });
}

// The TypeScript of Kinex Fit's document: each interface and field of docs/SEEDS.list is in the generated client.
const interfaces = (text) => Object.fromEntries(
    [...text.matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)].map(([, name, body]) =>
        [name, Object.fromEntries([...body.matchAll(/^ {2}(?:readonly )?(\w+)(\??): (.*);$/gm)].map(([, field, optional, type]) =>
            [field, type + optional]))]));

test('The generated types are those of the document', () => {
    const made = interfaces(execFileSync(binary, ['generate', 'typescript', modelFile('kinex-fit')], { encoding: 'utf8' }));
    const listed = readFileSync(path.join(root, 'docs/SEEDS.list'), 'utf8')
        .matchAll(/^004\/(?:table|shared)\S*\/typescript-\d\/(\w+)\.(\w+)\tattribute\t(.*)$/gm);
    let count = 0;
    for (const [, name, field, type] of listed) {
        const found = made[name]?.[field]?.replace(/ \| null\?$/, '?'); // an optional attribute may be null, too
        assert.ok(found, `${name}.${field}`);
        assert.equal(found.endsWith('?'), type.endsWith('?'), `${name}.${field} is optional, or is not`);
        if (/^(string|number|boolean|string\[\])\??$/.test(type)) assert.equal(found, type, `${name}.${field}`);
        count++;
    }
    assert.ok(count > 80, `${count} fields`);
});

// What is wrong in the documents stays visible.
const mistakes = {
    pornspot: [
        ['L001', /every Album is in one partition of GSI1/],
        ['L003', /the sort key of Album in GSI5 has 2 values only/],
        ['L006', /UserSession and AdminSession can have the same key/],
        ['L021', /albumsByVisibilityAndDate also reads Media/],
    ],
    'asset-creator': [
        ['L004', /version of AssetVersion sorts as text in the table: 10 comes before 9/],
        ['L009', /only the time ts tells two Audit items of a partition apart/],
    ],
    'kinex-fit': [['L009', /only the time completedAt tells two WorkoutCompletion items of a partition apart/]],
    figureforge: [['L001', /every FeatureFlag is in one partition of the table/]],
};
for (const [model, list] of Object.entries(mistakes)) {
    test(`The linter names the mistakes in ${model}`, () => {
        const found = findings(model);
        for (const [code, message] of list)
            assert.ok(found.some((one) => one.code === code && message.test(one.message)), `${code} ${message}`);
    });
}
