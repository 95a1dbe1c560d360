import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../../src/modules/_shared/commands/run-lock.ts';

/** Takes the lock of a folder many times, and counts how often another process holds it too. */
const [, , dir = '', turns] = process.argv;
const inside = join(dir, 'inside');
const deadline = Date.now() + 30_000;
let overlaps = 0;

const attempt = (work: () => void): void => {
  try {
    work();
  } catch {
    overlaps += 1;
  }
};

for (let turn = 0; turn < Number(turns); ) {
  if (Date.now() > deadline) throw new Error('The lock was not released.');
  const lock = takeLock(dir, 'state.apply', 'job');
  if ('pid' in lock) continue;
  turn += 1;
  attempt(() => closeSync(openSync(inside, 'wx')));
  attempt(() => unlinkSync(inside));
  lock.release();
}
console.log(`${overlaps} overlaps`);
