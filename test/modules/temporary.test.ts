import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  discardTemp,
  openTemp,
  writeAtomic,
} from '../../src/modules/_shared/files/atomic-write.ts';
import { recordTemporary, removeRecorded } from '../../src/modules/_shared/files/temporary.ts';
import { scratch } from '../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-temporary');
afterAll(remove);

test('recordTemporary names the temporary files that exist, and does not grow with others', () => {
  const file = join(dir, 'record');
  const end = recordTemporary(file);
  for (let at = 0; at < 20; at += 1) writeAtomic(join(dir, `file${at}`), 'x');
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);

  const temps = ['one', 'two'].map(name => openTemp(dir, name));
  writeAtomic(join(dir, 'other'), 'x');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  expect(lines.map(line => JSON.parse(line)).slice(0, 2)).toEqual(temps.map(({ path }) => path));

  removeRecorded(file);
  expect(temps.map(({ path }) => existsSync(path))).toEqual([false, false]);
  expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('x');
  for (const temp of temps) discardTemp(temp);
  end();
  writeAtomic(join(dir, 'later'), 'x');
  expect(readdirSync(dir).filter(name => !/^(file\d+|other|later)$/.test(name))).toEqual([]);
});
