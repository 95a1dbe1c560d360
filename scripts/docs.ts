// Writes the reference manual (docs/ref) from the sources of the built-in modules and of the
// functions of the control node. `npm run docs` after a change; a test holds it current.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtinMetadata } from '../src/bundle/metadata.ts';
import { wrapperModules } from '../src/wrapper/table.ts';
import { referencePages } from './reference.ts';

const folder = fileURLToPath(new URL('../docs/ref/', import.meta.url));
const pages = referencePages([...builtinMetadata(), ...wrapperModules()]);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(`${folder}${name}`);
for (const [name, text] of pages) writeFileSync(`${folder}${name}`, text);
console.log(`docs/ref: ${pages.size} pages`);
