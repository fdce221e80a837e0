// Parses the diagrams of Markdown files: node mermaid.mjs FILE…
import { readFile } from 'node:fs/promises';
import mermaid from 'mermaid';

let failed = 0;
for (const file of process.argv.slice(2)) {
    const diagrams = [...(await readFile(file, 'utf8')).matchAll(/```mermaid\n([^]*?)```/g)];
    try {
        if (diagrams.length !== 1) throw new Error(`${diagrams.length} diagrams`);
        const { diagramType } = await mermaid.parse(diagrams[0][1]);
        if (diagramType !== 'er') throw new Error(`a diagram of type ${diagramType}`);
        console.log(`ok the diagram of ${file}`);
    } catch (error) {
        failed++;
        console.log(`not ok the diagram of ${file}\n${error.message}`);
    }
}
process.exit(failed ? 1 : 0);
