import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { extract } from '../../../src/transport/fetch-node.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-extract');
afterAll(remove);
const nothing = async (): Promise<void> => undefined;

test('an unreadable archive ends the unpacking, and is reported', async () => {
  mkdirSync(join(dir, 'folder'));
  await expect(extract(join(dir, 'folder'), 'x', nothing)).rejects.toThrow('EISDIR');
  await expect(extract(join(dir, 'absent'), 'x', nothing)).rejects.toThrow('ENOENT');
  writeFileSync(join(dir, 'cut'), gzipSync(randomBytes(100_000)).subarray(0, 50_000));
  await expect(extract(join(dir, 'cut'), 'x', nothing)).resolves.toBe(false);
  writeFileSync(join(dir, 'empty'), gzipSync(Buffer.alloc(1024)).subarray(0, 12));
  await expect(extract(join(dir, 'empty'), 'x', nothing)).rejects.toThrow('unexpected end of file');
});
