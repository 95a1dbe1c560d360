import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { canCount, managedFiles, readTrace, traced } from '../../../helpers/host-counts.ts';
import { hasSshd } from '../../../helpers/sshd.ts';
import { type SshdProject, startSshdProject } from '../../../helpers/sshd-project.ts';

type Counts = ReturnType<typeof readTrace>;

/** Counts, not times: they are the same on a busy machine. The bounds are a little above them. */
describe.skipIf(!canCount || !hasSshd)('costs on the control node (needs strace and sshd)', () => {
  let project: SshdProject;
  const counts: Record<string, Counts> = {};

  const run = async (...args: string[]): Promise<Counts> => {
    const trace = join(project.dir, 'trace');
    rmSync(trace, { force: true });
    const options = ['-f', '-qq', '--seccomp-bpf', '-s', '200', '-e', `trace=connect,${traced}`];
    const { code, stderr } = await tsalt(['web1', ...args, '--out=quiet'], {
      cwd: project.dir,
      env: { XDG_CACHE_HOME: join(project.dir, 'xdg') },
      enter: ['strace', ...options, '-o', trace],
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, socket] =
      /connect\((\d+), \{sa_family=AF_INET, sin_port=htons/.exec(readFileSync(trace, 'utf8')) ?? [];
    return readTrace(trace, Number(socket));
  };

  beforeAll(async () => {
    project = await startSshdProject({
      'states/one.jinja': 'number {{ number }}\n',
      'states/many100.sls': managedFiles(100),
      'states/many1000.sls': managedFiles(1000),
    });
    // The first runs make caches, of which those of a ping without grains are others.
    for (const args of [['test.ping'], ['test.ping'], ['test.ping']])
      counts.ping = await run(...args);
    for (const name of ['many100', 'many1000'])
      for (let times = 0; times < 3; times += 1) counts[name] = await run('state.apply', name);
  });
  afterAll(() => project?.close());

  /** Of one state: what 900 states more cost more. */
  const perState = (pick: (counts: Counts) => number): number =>
    (pick(counts.many1000 as Counts) - pick(counts.many100 as Counts)) / 900;

  test('a ping starts no program, and writes each flight of packets at once', () => {
    const { calls, writes, sent } = counts.ping as Counts;
    // strace's own execve is one.
    expect(calls.execve).toBe(1);
    expect(writes).toBeLessThanOrEqual(13);
    expect(sent).toBeLessThanOrEqual(10_000);
  });

  test('runs after the first ones read one code cache, and write none', () => {
    for (const { opened } of Object.values(counts)) {
      const caches = opened.filter(path => /\/xdg\/tsalt-ssh\/cli-/.test(path));
      expect(caches.map(path => /\.cache$/.test(path))).toEqual([true]);
    }
  });

  test('an unchanged template is not looked at again for each state, and takes less than 700 bytes', () => {
    expect(perState(({ calls }) => calls.openat ?? 0)).toBeLessThanOrEqual(0.01);
    expect(perState(({ calls }) => calls.statx ?? 0)).toBeLessThanOrEqual(0.01);
    expect(perState(({ writes }) => writes)).toBeLessThanOrEqual(0.1);
    expect(perState(({ sent }) => sent)).toBeLessThanOrEqual(700);
  });
});
