import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { takeTurn } from '../../src/runtime/turn.ts';
import { fault } from '../helpers/fault.ts';
import { scratch } from '../helpers/hosts.ts';

const { path: root, remove } = scratch('tsalt-turn');
afterAll(remove);

/** A process of another run that lives until the test ends, as the holder of a lock is written. */
const holder = (job: string) => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const begun = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const text = JSON.stringify({ pid: child.pid, begun, fun: 'state.apply', job, since: 'now' });
  return { text, kill: () => child.kill() };
};

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

test.each([true, false])(
  'a run waits for its own job under another id, and then for another job: queue=%s',
  async queue => {
    const dir = join(root, String(queue));
    const place = { dir, isStopping: () => false, log: () => undefined };
    (await takeTurn({ chunks: [], opts: {} as never }, place))?.release();
    const lock = join(dir, 'run.lock');
    const [own, other] = [holder('own'), holder('other')];
    writeFileSync(lock, own.text);

    const turn = takeTurn({ chunks: [], opts: {} as never, job: 'own', queue }, place);
    const settled = turn.then(
      () => 'taken',
      () => 'refused',
    );
    await pause(50);
    writeFileSync(lock, other.text);
    own.kill();
    await pause(100);

    if (queue) {
      other.kill();
      expect(await settled).toBe('taken');
    } else expect((await fault(turn)).code).toBe('run-conflict');
  },
);
