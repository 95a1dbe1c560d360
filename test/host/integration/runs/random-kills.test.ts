import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { seeded } from '../../../helpers/random.ts';
import { hasSshd } from '../../../helpers/sshd.ts';
import { type SshdProject, startSshdProject } from '../../../helpers/sshd-project.ts';

/** How often each side is killed. */
const kills = Number(process.env.TSALT_KILLS ?? (process.env.CI ? 20 : 5));
const seed = Number(process.env.TSALT_SEED ?? Date.now() % 1e9);

/** Each reaction appends the content of the watched file to a file of this name. */
const reactions = ['watch', 'listen', 'onchanges'] as const;

const states = `{% assign root = grains.root %}
watched:
  file.managed:
    - name: {{ root }}/watched
    - contents: "{{ pillar.round }}"
between:
  cmd.run:
    - name: sleep 0.02
    - require: [{file: watched}]
by watch:
  cmd.wait:
    - name: cat {{ root }}/watched >>{{ root }}/watch
    - watch: [{file: watched}]
by listen:
  cmd.wait:
    - name: cat {{ root }}/watched >>{{ root }}/listen
    - listen: [{file: watched}]
by onchanges:
  cmd.run:
    - name: cat {{ root }}/watched >>{{ root }}/onchanges
    - onchanges: [{file: watched}]
`;

let project: SshdProject;
/** Milliseconds that an undisturbed run takes: all of it, and its part on the host. */
let whole = 0;
let onHost = 0;
let round = 0;

/** Follows the load of the machine, so that about every sixth run ends before it is killed. */
const stretch = (factor: number): void => {
  whole *= factor;
  onHost *= factor;
};

type Run = { readonly child: ChildProcess; readonly ended: Promise<number | null> };

/** Starts a run as a user does. */
const start = (...more: string[]): Run & { readonly output: () => string } => {
  const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
  const args = ['web1', 'state.apply', 'react', `pillar={round: ${round}}`, ...more];
  const env = { ...process.env, HOME: join(project.dir, 'home'), SSH_AUTH_SOCK: '', NO_COLOR: '1' };
  const child = spawn(process.execPath, [program, ...args], { cwd: project.dir, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text: Buffer) => {
      output += String(text);
    });
  const ended = new Promise<number | null>(resolve => child.on('close', resolve));
  return { child, ended, output: () => output };
};

/** Resolves with the process of the run that holds the host, as soon as one does. */
const runtimeOf = async ({ child }: Run): Promise<number | undefined> => {
  let pid = project.runtime();
  for (; pid === undefined && child.exitCode === null; pid = project.runtime()) await pause(1);
  return pid;
};

/** How often each reaction happened to the content of this round. */
const counts = (): number[] =>
  reactions.map(name => {
    const path = join(project.dir, name);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    return lines.filter(line => line === String(round)).length;
  });

const runWhole = async (): Promise<void> => {
  const run = start('queue=True');
  expect(await run.ended, run.output()).toBe(0);
};

const sides: Record<string, (at: number) => Promise<boolean>> = {
  // From the moment on at which the run holds the host: before, it has done nothing.
  runtime: async at => {
    const run = start();
    const pid = await runtimeOf(run);
    await pause(at * onHost);
    const isKilled = pid !== undefined && project.runtime() === pid;
    if (isKilled) process.kill(pid, 'SIGKILL');
    await run.ended;
    return isKilled;
  },
  // Every other time in its part on the host, which is short.
  control: async at => {
    const run = start();
    if (round % 2 === 0) await runtimeOf(run);
    await pause(at * (round % 2 === 0 ? onHost : whole));
    const isKilled = run.child.exitCode === null && run.child.kill('SIGKILL');
    await run.ended;
    return isKilled;
  },
};

describe.skipIf(!hasSshd)('reactions owed by runs that are killed at random moments', () => {
  beforeAll(async () => {
    project = await startSshdProject({ 'states/react.sls': states });
    await runWhole();
    round += 1;
    const begin = Date.now();
    const run = start();
    await runtimeOf(run);
    const held = Date.now();
    while (project.runtime() !== undefined) await pause(1);
    onHost = Date.now() - held;
    await run.ended;
    whole = Date.now() - begin;
    expect(counts()).toEqual([1, 1, 1]);
  });
  afterAll(() => project.close());

  test.each(Object.keys(sides))(
    'kill -9 of the %s at random moments loses no reaction and repeats none that is done',
    { tags: 'slow', timeout: 120_000 + kills * 20_000 },
    async side => {
      const random = seeded(seed);
      const found = { killed: 0, unbroken: 0, owed: 0, lost: 0, interrupted: 0 };
      while (found.killed < kills) {
        round += 1;
        const at = random();
        if (!(await sides[side]?.(at))) {
          expect(counts()).toEqual([1, 1, 1]);
          found.unbroken += 1;
          stretch(0.9);
          continue;
        }
        found.killed += 1;
        stretch(1.02);
        const before = counts();
        await runWhole();
        const after = counts();
        const where = `${side}, seed ${seed}, kill ${found.killed} at ${at}: ${before} before, ${after} after`;
        found.owed += before.filter(count => count === 0).length;
        found.lost += after.filter(count => count === 0).length;
        found.interrupted += after.filter(count => count > 1).length;
        expect(Math.min(...after), where).toBe(1);
        // A reaction that is interrupted itself has to happen again. A host whose control node was
        // killed finishes what it has begun.
        const most = side === 'runtime' ? reactions.length + 1 : reactions.length;
        expect(
          after.reduce((sum, count) => sum + count),
          where,
        ).toBeLessThanOrEqual(most);
        if (found.killed % 5 > 0) continue;
        await runWhole();
        expect(counts(), where).toEqual(after);
        const left = readdirSync(project.workspace).filter(name => /^(run|reac)/.test(name));
        expect(left, where).toEqual([]);
      }
      if (process.env.TSALT_KILLS) console.info(side, seed, found);
    },
  );
});
