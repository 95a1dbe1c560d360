import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import {
  type HostProcess,
  low,
  makeDir,
  opts,
  startHost,
} from '../../runtime/helpers/host-process.ts';

const hosts: HostProcess[] = [];
const start = (dir: string): HostProcess => {
  const host = startHost(dir);
  hosts.push(host);
  return host;
};
afterEach(async () => {
  for (const host of hosts.splice(0)) {
    host.hangUp();
    await host.exited;
  }
});

type Chunks = readonly ReturnType<typeof low>[];

const journalsIn = (dir: string): string[] =>
  readdirSync(dir).filter(name => name.startsWith('reactions.'));

/** The ids of the states that reacted in a run of these chunks. */
const reactions = async (dir: string, chunks: Chunks, more: PlainDict = {}): Promise<string[]> => {
  const host = start(dir);
  await host.peer.request('run', { chunks, opts: { ...opts, ...more }, fun: 'state.apply' });
  warnings = host.logs.map(({ message }) => message).join('\n');
  return host.finished
    .filter(({ result }) => result.comment === 'restarted' || result.changes.did !== undefined)
    .map(({ result }) => String(result.__id__));
};
let warnings = '';

/** Kills a runtime in the middle of the first of these states, right after it has changed something. */
const killInside = async (dir: string, chunksOf: (gate: string) => Chunks): Promise<void> => {
  const gate = join(dir, 'gate');
  execFileSync('mkfifo', [gate]);
  const host = start(dir);
  host.peer.request('run', { chunks: chunksOf(gate), opts, fun: 'state.apply' }).catch(() => {});
  await expect.poll(() => existsSync(join(dir, 'conf')), { timeout: 30_000 }).toBe(true);
  host.child.kill('SIGKILL');
  await host.exited;
  rmSync(gate);
};

const conf = (dir: string, extra: PlainDict = {}) =>
  low('file.once', 'conf', { name: join(dir, 'conf'), ...extra });

const reacting: Record<string, { readonly id: string; readonly of: (dir: string) => Chunks }> = {
  watch: {
    id: 'web',
    of: dir => [conf(dir), low('service.running', 'web', { watch: [{ file: 'conf' }] })],
  },
  watch_any: {
    id: 'web',
    of: dir => [conf(dir), low('service.running', 'web', { watch_any: [{ file: 'conf' }] })],
  },
  listen: {
    id: 'listener_web',
    of: dir => [conf(dir), low('service.running', 'web', { listen: [{ file: 'conf' }] })],
  },
  listen_in: {
    id: 'listener_web',
    of: dir => [conf(dir, { listen_in: [{ service: 'web' }] }), low('service.running', 'web')],
  },
  onchanges: {
    id: 'after',
    of: dir => [conf(dir), low('test.changes', 'after', { onchanges: [{ file: 'conf' }] })],
  },
  onchanges_any: {
    id: 'after',
    of: dir => [
      conf(dir),
      low('test.nop', 'other'),
      low('test.changes', 'after', { onchanges_any: [{ file: 'conf' }, { test: 'other' }] }),
    ],
  },
};

test.each(Object.entries(reacting))(
  'a runtime killed inside a state that changed something leaves the reaction to the next run: %s',
  async (_, { id, of }) => {
    const dir = makeDir();
    await killInside(dir, gate => of(dir).map(chunk => ({ ...chunk, gate })));

    expect(await reactions(dir, of(dir), { test: true })).toEqual(id === 'after' ? [] : [id]);
    expect(await reactions(dir, of(dir))).toEqual([id]);
    expect(await reactions(dir, of(dir))).toEqual([]);
    expect(journalsIn(dir)).toEqual([]);
  },
);

test.each(['onchanges', 'watch'])(
  'a run that is stopped between a change and its %s makes up for it in the next run, once',
  async kind => {
    const { id, of } = reacting[kind] as (typeof reacting)[string];
    const dir = makeDir();
    const host = start(dir);
    const [first, ...rest] = of(dir) as [Chunks[number], ...Chunks];
    const wait = low('cmd.run', 'wait', { name: 'sleep 600' });
    const run = host.peer.request('run', { chunks: [first, wait, ...rest], opts });
    await expect.poll(() => host.started.length, { timeout: 30_000 }).toBe(2);
    await host.peer.request('cancel', {});
    await run;

    expect(await reactions(dir, of(dir))).toEqual([id]);
    expect(await reactions(dir, of(dir))).toEqual([]);
  },
);

test('a reaction that fails is owed until it succeeds', async () => {
  const dir = makeDir();
  const chunks = [
    conf(dir),
    low('cmd.run', 'after', { name: `test -e ${dir}/good`, onchanges: [{ file: 'conf' }] }),
  ];
  const after = async () => {
    const host = start(dir);
    await host.peer.request('run', { chunks, opts });
    return host.finished.find(({ result }) => result.__id__ === 'after')?.result;
  };

  expect((await after())?.comment).toBe('exit 1');
  expect((await after())?.comment).toBe('exit 1');
  writeFileSync(join(dir, 'good'), '');
  expect((await after())?.comment).toBe('exit 0');
  expect((await after())?.__state_ran__).toBe(false);
});

test('a run that is killed before a state begins owes nothing to it', async () => {
  const dir = makeDir();
  const chunks = [
    low('cmd.run', 'wait', { name: `touch ${dir}/begun; [ -e ${dir}/go ] || sleep 600` }),
    low('test.nop', 'conf'),
    low('service.running', 'web', { watch: [{ test: 'conf' }] }),
  ];
  const host = start(dir);
  host.peer.request('run', { chunks, opts }).catch(() => {});
  await expect.poll(() => existsSync(join(dir, 'begun')), { timeout: 30_000 }).toBe(true);
  expect(journalsIn(dir)).toHaveLength(1);
  const left = host.child.pid ?? 0;
  const children = readFileSync(`/proc/${left}/task/${left}/children`, 'utf8').trim().split(' ');
  host.child.kill('SIGKILL');
  await host.exited;
  for (const child of children) process.kill(-Number(child), 'SIGKILL');
  writeFileSync(join(dir, 'go'), '');

  expect(await reactions(dir, chunks)).toEqual([]);
});

test('after a power cut every planned state that is not known to have ended counts as changed', async () => {
  const dir = makeDir();
  const of = reacting.watch?.of ?? (() => []);
  await killInside(dir, gate => of(dir).map(chunk => ({ ...chunk, gate })));
  const [journal = ''] = journalsIn(dir);
  const [header = ''] = readFileSync(join(dir, journal), 'utf8').split('\n');

  // The state's line has not reached the disk, and no restart of the host was in between …
  writeFileSync(join(dir, journal), `${header}\n`);
  expect(await reactions(dir, of(dir), { test: true })).toEqual([]);
  // … or there was one.
  const other = JSON.stringify({ ...JSON.parse(header), boot: 'another' });
  writeFileSync(join(dir, journal), `${other}\n`);
  expect(await reactions(dir, of(dir))).toEqual(['web']);
});

test('a reaction that the SLS no longer requests is named and dropped; another SLS keeps it', async () => {
  const dir = makeDir();
  const of = reacting.watch?.of ?? (() => []);
  await killInside(dir, gate => of(dir).map(chunk => ({ ...chunk, gate })));

  const other = [low('test.nop', 'x', { __sls__: 'other' })];
  expect(await reactions(dir, other)).toEqual([]);
  expect(warnings).toBe('');

  const renamed = [
    low('file.once', 'renamed', { name: join(dir, 'conf') }),
    low('service.running', 'web', { watch: [{ file: 'renamed' }] }),
  ];
  expect(await reactions(dir, renamed)).toEqual([]);
  expect(warnings).toContain('before service: web in SLS a had reacted to file: conf');
  expect(await reactions(dir, of(dir))).toEqual([]);
  expect(warnings).toBe('');
});

test('the journal shows nothing of a state with no_log', async () => {
  const dir = makeDir();
  const of = () => [
    conf(dir, { no_log: true, name: join(dir, 'conf') }),
    low('service.running', 's3cret', { no_log: true, watch: [{ file: 'conf' }] }),
  ];
  await killInside(dir, gate => of().map(chunk => ({ ...chunk, gate })));

  const [journal = ''] = journalsIn(dir);
  expect(readFileSync(join(dir, journal), 'utf8')).not.toMatch(/s3cret|conf/);
  const host = start(dir);
  await host.peer.request('run', { chunks: of(), opts });
  expect(host.finished.at(-1)?.result.changes).not.toEqual({});
});

test('a journal that is cut short or no journal is not in the way', async () => {
  const dir = makeDir();
  writeFileSync(join(dir, 'reactions.1.0'), '{"pid":1,"sta');
  writeFileSync(join(dir, 'reactions.1.1'), '');
  writeFileSync(join(dir, 'reactions.1.2'), '[]\n+1\n');

  expect(await reactions(dir, reacting.watch?.of(dir) ?? [])).toEqual(['web']);
  expect(journalsIn(dir)).toEqual([]);
});
