// Prints the notes of this version, for its release page.
import { readFileSync } from 'node:fs';
import { notesOf } from './changelog-text.ts';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json'));
process.stdout.write(notesOf(read('CHANGELOG.md'), version));
