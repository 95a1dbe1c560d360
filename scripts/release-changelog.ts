// Runs after `changeset version`, which writes the new version at the top of CHANGELOG.md: moves
// what is listed below "Unreleased" to that version, and adds the date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasedChangelog } from './changelog-text.ts';

const folder = process.argv[2] ?? process.cwd();
const file = join(folder, 'CHANGELOG.md');
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
try {
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, releasedChangelog(readFileSync(file, 'utf8'), version, date));
} catch (error) {
  process.stderr.write(`${file}: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
