import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

const program = `
import { divertOutput } from './src/runtime/divert-output.ts';
import { writeSync } from 'node:fs';
divertOutput((level, message) => writeSync(1, level + ' ' + message + '\\n'));
const bytes = Buffer.from('größe 😀\\n');
for (const byte of bytes) process.stdout.write(Uint8Array.of(byte));
process.stdout.write('text\\n');
process.stdout.write('6865780a', 'hex');
`;

test('a character that comes in pieces is logged whole', () => {
  const argv = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const said = execFileSync(process.execPath, argv, { cwd: packageRoot, encoding: 'utf8' });
  expect(said).toBe('info größe 😀\ninfo text\ninfo hex\n');
});
