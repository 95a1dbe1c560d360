import { readFileSync } from 'node:fs';
import { readPromises } from './document.ts';
import { type Report, unshown } from './results.ts';

// Fails when a promise of docs/security.md was not shown by the run whose report is given.
const [, , file = 'coverage/results.json'] = process.argv;
const promises = readPromises(readFileSync('docs/security.md', 'utf8'));
const faults = unshown(promises, JSON.parse(readFileSync(file, 'utf8')) as Report);
for (const fault of faults) console.log(fault);
console.log(
  `${promises.length} promises of docs/security.md, ${faults.length} named tests that did not pass`,
);
process.exitCode = faults.length === 0 && promises.length > 0 ? 0 : 1;
