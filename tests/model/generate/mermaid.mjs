// Parses the diagrams of Markdown files: node mermaid.mjs FILE…
import { readFile } from 'node:fs/promises';
import mermaid from 'mermaid';

// Mermaid reads the labels of these with a browser's parser, which is not here.
const SIMPLE = {
    'flowchart LR': /^ {4}\w+ -- "[^"{}<>[\]|]*" --> \w+(\["[^"{}<>[\]|]*"\])?$/,
    'stateDiagram-v2': /^ {4}(state "[^"]*" as \w+|(\w+|\[\*\]) --> \w+)$/,
};

async function typeOf(text) {
    const [head, ...lines] = text.trimEnd().split('\n');
    if (!(head in SIMPLE)) return (await mermaid.parse(text)).diagramType;
    const wrong = lines.find((line) => !SIMPLE[head].test(line));
    if (lines.length === 0 || wrong !== undefined) throw new Error(`in a ${head}: ${wrong}`);
    return head.replace(/ LR|Diagram-v2/, '');
}

let failed = 0;
for (const file of process.argv.slice(2)) {
    const diagrams = [...(await readFile(file, 'utf8')).matchAll(/```mermaid\n([^]*?)```/g)];
    try {
        const types = [];
        for (const [, text] of diagrams) types.push(await typeOf(text));
        // One of entities, at the end; before it those of transitions, and of what makes what.
        if (types.filter((type) => type === 'er').length !== 1 || types.some((type) => !['er', 'state', 'flowchart'].includes(type)))
            throw new Error(`diagrams of the types ${types.join(', ')}`);
        console.log(`ok the diagram of ${file}`);
    } catch (error) {
        failed++;
        console.log(`not ok the diagram of ${file}\n${error.message}`);
    }
}
process.exit(failed ? 1 : 0);
