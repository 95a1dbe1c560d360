import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

const types = join(packageRoot, 'dist/types');

/** The declarations of the library, and of the events and results that it returns. */
const files = [
  'library/index',
  'library/options',
  'library/run',
  'library/fleet-run',
  'library/connect',
  'library/load-roster',
  'library/states',
  'protocol/event',
  'protocol/result',
  'protocol/error',
];

// A change that is wanted: npx vitest run test/host/library/api-report.test.ts -u, and a changeset.
test('the declarations of the library are those of the API report', async () => {
  const report = files
    .map(file => `// ${file}\n${readFileSync(join(types, `${file}.d.ts`), 'utf8')}`)
    .join('\n');
  await expect(report).toMatchFileSnapshot('api-report.txt');
});
