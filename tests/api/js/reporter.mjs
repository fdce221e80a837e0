// A reporter for node's test runner: prints failures only, with the way to them,
// and 'N passed, N failed' as its last line. Suites and files are not counted,
// unless a file itself broke.

function describeError(error) {
    const cause = error?.cause ?? error;
    const text = cause?.code === 'ERR_ASSERTION' ? cause.message : cause?.stack ?? String(cause);
    return text
        .split('\n')
        .filter((line) => !line.includes('node:internal') && !line.includes('/node_modules/'))
        .slice(0, 40)
        .map((line) => '    ' + line)
        .join('\n');
}

export default async function* reporter(source) {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    const path = [];
    for await (const { type, data } of source) {
        if (type === 'test:start') path[data.nesting] = data.name;
        if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
        if (type !== 'test:pass' && type !== 'test:fail') continue;
        const suite = data.details?.type === 'suite';
        const childrenFailed = data.details?.error?.failureType === 'subtestsFailed';
        if (type === 'test:fail' && !childrenFailed) {
            failed++;
            const way = [...path.slice(0, data.nesting), data.name].join(' > ');
            yield `FAIL ${way}\n${describeError(data.details.error)}\n`;
        } else if (type === 'test:pass' && !suite) {
            if (data.skip !== undefined && data.skip !== false) skipped++;
            else passed++;
        }
    }
    if (skipped) yield `${skipped} skipped\n`;
    yield `${passed} passed, ${failed} failed\n`;
}
