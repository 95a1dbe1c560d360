import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

const program = `
import { openWire } from './src/runtime/wire.ts';
const wire = openWire();
const bytes = Buffer.alloc(64 * 1024, 'x');
const written = Array.from({ length: 40 }, () => wire.write(bytes));
Promise.all(written).then(() => wire.flush()).then(() => process.exit(0));
`;

test('many writers wait for a slow reader together, without a word on stderr', async () => {
  const argv = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, argv, { cwd: packageRoot, stdio: 'pipe' });
  let size = 0;
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += String(chunk);
  });
  await once(child.stdout, 'readable');
  await new Promise(resolve => setTimeout(resolve, 300));
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  const [code] = await once(child, 'close');

  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(size).toBe(40 * 64 * 1024);
});
