import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { takeRunLock } from '../../../src/runtime/run-lock.ts';
import { fault } from '../../helpers/fault.ts';
import { scratch } from '../../helpers/hosts.ts';

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
    (await takeRunLock({ chunks: [], opts: {} as never }, place))?.release();
    const lock = join(dir, 'run.lock');
    const [own, other] = [holder('own'), holder('other')];
    writeFileSync(lock, own.text);

    const turn = takeRunLock({ chunks: [], opts: {} as never, job: 'own', queue }, place);
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

/** Writes the lock of a run that was killed, and a record of the commands it waited for. */
const killed = (dir: string, record: string): void => {
  mkdirSync(dir, { recursive: true });
  const { pid } = spawnSync('true');
  const lock = { pid, begun: '1', fun: 'state.apply', since: 'then' };
  writeFileSync(join(dir, 'run.lock'), JSON.stringify(lock));
  writeFileSync(join(dir, `run.lock.${pid}.children`), record);
  writeFileSync(join(dir, `run.lock.${pid}.0`), '');
};

const take = (dir: string) =>
  takeRunLock(
    { chunks: [], opts: {} as never },
    { dir, isStopping: () => false, log: () => undefined },
  );

test('a killed run without a remaining command gives up its lock, and its files are removed', async () => {
  const dir = join(root, 'over');
  const ended = { pid: process.pid, begun: '1', program: 'apt-get' };
  for (const record of ['', '{"pid":', `${JSON.stringify(ended)}\nnull\n{"pid":-1,"begun":""}\n`]) {
    killed(dir, record);
    (await take(dir))?.release();
    expect(readdirSync(dir)).toEqual([]);
  }
});

test('only temporary files of the killed run are removed, whatever its record names', async () => {
  const dir = join(root, 'temporary');
  const other = join(root, 'others');
  const names = ['.a"b.0123456789abcdef01.tmp', '.check.0123456789abcdef01.tmp.conf'];
  const folder = mkdtempSync(join(root, 'tsalt-script-'));
  const kept = ['passwd', '.a.tmp', 'x.0123456789abcdef01.tmp'];
  mkdirSync(other);
  for (const name of [...names, ...kept]) writeFileSync(join(other, name), '');
  writeFileSync(join(folder, 'script'), '');
  killed(dir, '');
  const [lock = ''] = readdirSync(dir).filter(name => name.endsWith('.children'));
  const paths = [...names, ...kept].map(name => join(other, name));
  const record = [...paths, folder, names[0]].map(path => JSON.stringify(path)).join('\n');
  writeFileSync(join(dir, lock.replace('children', 'temporary')), `${record}\n"/cut o`);

  (await take(dir))?.release();
  expect(readdirSync(other).toSorted()).toEqual(kept.toSorted());
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(dir)).toEqual([]);
});

test('a process that has ended holds no lock, even if its parent never asks', async () => {
  const dir = join(root, 'zombie');
  // It forgets its child, which so stays a zombie: a shell would ask for one that ended before.
  const child = 'until [ "$(cat /proc/$$/comm)" = sleep ]; do :; done; exec sleep 0';
  const parent = spawn('/bin/sh', ['-c', `(${child}) & echo $!; exec sleep 60`]);
  onTestFinished(() => void parent.kill());
  const pid = Number(await new Promise(resolve => parent.stdout.once('data', resolve)));
  const stat = (): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  await expect.poll(() => stat()[1]?.[0]).toBe('Z');
  const begun = stat()[1]?.split(' ')[19];
  killed(dir, `${JSON.stringify({ pid, begun, program: 'sleep' })}\n`);
  (await take(dir))?.release();
  expect(readdirSync(dir)).toEqual([]);
});

test('a run that waits for its own job only reads the lock, and takes it once it is released', async () => {
  const dir = join(root, 'reads');
  const place = { dir, isStopping: () => false, log: () => undefined };
  mkdirSync(dir);
  const own = holder('own');
  writeFileSync(join(dir, 'run.lock'), own.text);
  const made: string[] = [];
  const watcher = watch(dir, (_, name) => void made.push(String(name)));
  onTestFinished(() => watcher.close());

  const turn = takeRunLock({ chunks: [], opts: {} as never, job: 'own' }, place);
  await pause(200);
  expect(made).toEqual([]);
  rmSync(join(dir, 'run.lock'));
  expect(await turn).toHaveProperty('release');
});

test('processes that take turns never hold the lock together, and all of them get it', {
  tags: 'slow',
}, async () => {
  const dir = join(root, 'turns');
  const program = join(root, 'turns.cjs');
  mkdirSync(dir);
  await build({
    entryPoints: [join(import.meta.dirname, '../../runtime/helpers/take-turns.ts')],
    bundle: true,
    platform: 'node',
    outfile: program,
  });
  const ran = await Promise.all(
    Array.from({ length: 10 }, () => promisify(execFile)(process.execPath, [program, dir, '60'])),
  );
  expect(ran.map(({ stdout }) => stdout)).toEqual(ran.map(() => '0 overlaps\n'));
  expect(readdirSync(dir)).toEqual([]);
});
