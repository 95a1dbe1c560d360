import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolder } from '../../helpers/remove-folder.ts';

const writing = `
const { mkdirSync, writeFileSync } = require('node:fs');
const until = Date.now() + 700;
for (let i = 0; Date.now() < until; i += 1)
  try { writeFileSync(process.argv[1] + '/cache/' + i, ''); }
  catch { try { mkdirSync(process.argv[1] + '/cache'); } catch {} }
`;

test('a folder goes even while a program still writes into it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-remove-'));
  const writer = spawn(process.execPath, ['-e', writing, folder]);
  while (!existsSync(join(folder, 'cache', '9')))
    await new Promise(resolve => setTimeout(resolve, 5));
  removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
  await once(writer, 'close');
});
