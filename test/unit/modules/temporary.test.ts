import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
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

test('recordTemporary names the temporary files that exist, and does not grow with others', () => {
  const file = join(dir, 'record');
  const end = recordTemporary(file);
  for (let at = 0; at < 1000; at += 1) writeAtomic(join(dir, `file${at}`), 'x');
  expect(statSync(file).size).toBeLessThan(40_000);

  const temps = ['one', 'two'].map(name => openTemp(dir, name));
  writeAtomic(join(dir, 'other'), 'x');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const paths = temps.map(({ path }) => path);
  expect(lines.map(line => JSON.parse(line))).toEqual(expect.arrayContaining(paths));

  removeRecorded(file);
  expect(temps.map(({ path }) => existsSync(path))).toEqual([false, false]);
  expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('x');
  for (const temp of temps) discardTemp(temp);
  end();
  writeAtomic(join(dir, 'later'), 'x');
  expect(readdirSync(dir).filter(name => !/^(file\d+|other|later)$/.test(name))).toEqual([]);
});
