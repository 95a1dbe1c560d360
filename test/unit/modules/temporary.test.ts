import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  discardTemp,
  openTemp,
  writeAtomic,
} from '../../../src/modules/_shared/files/atomic-write.ts';
import { recordTemporary, removeRecorded } from '../../../src/modules/_shared/files/temporary.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-temporary');
afterAll(remove);

test('recordTemporary leads to the temporary files that exist, and does not grow with others', () => {
  const file = join(dir, 'record');
  const end = recordTemporary(file);
  for (let at = 0; at < 1000; at += 1) writeAtomic(join(dir, `file${at}`), 'x');
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
  for (let at = 0; at < 1000; at += 1) {
    mkdirSync(join(dir, `folder${at}`));
    writeAtomic(join(dir, `folder${at}`, 'file'), 'x');
  }
  expect(statSync(file).size).toBeLessThan(40_000);

  const temps = ['one', 'two'].map(name => openTemp(dir, name));
  writeAtomic(join(dir, 'other'), 'x');
  // Another process's, in the same folder.
  const others = '.one.0123456789abcdef01.tmp';
  writeFileSync(join(dir, others), 'x');

  removeRecorded(file);
  expect(existsSync(join(dir, others))).toBe(true);
  unlinkSync(join(dir, others));
  expect(temps.map(({ path }) => existsSync(path))).toEqual([false, false]);
  expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('x');
  for (const temp of temps) discardTemp(temp);
  end();
  writeAtomic(join(dir, 'later'), 'x');
  expect(readdirSync(dir).filter(name => !/^(file\d+|folder\d+|other|later)$/.test(name))).toEqual(
    [],
  );
});
