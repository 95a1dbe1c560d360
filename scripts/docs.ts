// Writes the reference manual from the sources of the built-in modules and of the functions of the
// control node: `npm run docs [-- FOLDER]`, into docs/ref by default.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinMetadata } from '../src/bundle/metadata.ts';
import { rulesPage } from '../src/validate/lint/rules-page.ts';
import { wrapperModules } from '../src/wrapper/table.ts';
import { referencePages } from './reference.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docs/ref', import.meta.url));
const pages = referencePages([...builtinMetadata(), ...wrapperModules()]);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder))
  if (/^(?:README|(?:exec|state|grains)-\w+)\.md$/.test(name) && !pages.has(name))
    rmSync(join(folder, name));
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
console.log(`${folder}: ${pages.size} pages`);
if (process.argv[2] === undefined)
  writeFileSync(
    fileURLToPath(new URL('../docs/reference/lint-rules.md', import.meta.url)),
    rulesPage(),
  );
