// @module-tag slow
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CliResult, packageRoot } from '../../../helpers/cli.ts';
import { hasSshd } from '../../../helpers/sshd.ts';
import { type SshdProject, startSshdProject } from '../../../helpers/sshd-project.ts';

/** A command that goes on until `hold` is removed, and then leaves a line. */
const held = `begin() { echo $$ >begun.new; mv begun.new begun; }
cd {{ grains.root }}; begin; while [ -e hold ]; do sleep 0.05; done; echo {{ pillar.run }} >>ended`;

const indented = held.replaceAll('\n', '\n        ');

let project: SshdProject;
const running: Promise<CliResult>[] = [];
const commands: number[] = [];

const file = (name: string): string => join(project.dir, name);
const read = (name: string): string =>
  existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '';
const apply = (sls: string, run: string, ...more: string[]): Promise<CliResult> =>
  project.run('web1', 'state.apply', sls, `pillar={run: ${run}}`, ...more);

/** Starts a run and waits until its command has begun. */
const begin = async (
  sls: string,
  run: string,
): Promise<{ run: Promise<CliResult>; pid: number }> => {
  rmSync(file('begun'), { force: true });
  const started = apply(sls, run);
  running.push(started);
  let early = '';
  void started.then(({ stdout, stderr }) => {
    early = stdout + stderr;
  });
  await expect.poll(() => early || existsSync(file('begun'))).toBe(true);
  const pid = Number(read('begun'));
  commands.push(pid);
  return { run: started, pid };
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(!hasSshd)('runs on a host that were killed or cut off', () => {
  beforeAll(async () => {
    project = await startSshdProject({
      'states/held.sls': `held:\n  cmd.run:\n    - name: |\n        ${indented}\nlater:\n  test.nop: []\n`,
      'states/secret.sls': `the-secret:\n  cmd.run:\n    - name: |\n        ${indented}\n    - no_log: true\n`,
      'states/daemons.sls': `in the background:
  cmd.run:
    - name: echo $$ >{{ grains.root }}/background; exec sleep 300
    - bg: true
by a shell:
  cmd.run:
    - name: sleep 300 & echo $! >{{ grains.root }}/daemon
held:
  cmd.run:
    - name: |
        ${indented}
    - require: [{cmd: by a shell}]
`,
      'states/checked.sls': `{{ grains.root }}/checked:
  file.managed:
    - contents: x
    - tmp_dir: {{ grains.root }}/temporary
    - check_cmd: |
        ${indented}
        true
`,
      'states/steps.sls': `{% for at in (1..5) %}
step{{ at }}:
  cmd.run:
    - name: sleep 0.1; echo {{ grains.id }} >>{{ grains.root }}/steps
{% endfor %}
`,
      'states/quick.sls': 'quick: {cmd.run: [{name: "true"}]}\n',
    });
  });
  afterAll(() => project.close());
  beforeEach(() => {
    writeFileSync(file('hold'), '');
    rmSync(file('ended'), { force: true });
  });
  afterEach(async () => {
    rmSync(file('hold'), { force: true });
    await Promise.all(running.splice(0));
    await expect.poll(() => commands.some(isAlive)).toBe(false);
  });

  const killRuntime = (): void => {
    process.kill(project.runtime() ?? 0, 'SIGKILL');
  };
  const leftovers = (): string[] =>
    readdirSync(project.workspace).filter(name => /^(run\.|reactions|lost-run)/.test(name));

  test('a run is refused while a command of a killed run still runs', async () => {
    const { run, pid } = await begin('held', 'first');
    killRuntime();
    expect((await run).code).toBe(69);
    expect(isAlive(pid)).toBe(true);

    const refused = await apply('quick', 'second');
    expect([refused.code, refused.stdout]).toEqual([
      69,
      expect.stringMatching(
        new RegExp(
          `The function "state\\.apply" that was started at \\S+ \\S+ UTC was killed, but its command \\w+ of held \\(cmd\\.run\\) is still running as PID ${pid}\\.`,
        ),
      ),
    ]);
    expect(refused.stdout).toContain('queue=True waits for it, concurrent=True runs beside it.');
    expect((await project.run('web1', 'state.running')).stdout).toContain(`as PID ${pid}`);
    const kept = await project.run('clean', 'web1');
    expect([kept.code, kept.stdout]).toEqual([
      20,
      expect.stringContaining(`A command of a killed run works there as PID ${pid}.`),
    ]);
    expect((await apply('quick', 'third', 'concurrent=True')).code).toBe(0);

    rmSync(file('hold'));
    await expect.poll(() => read('ended')).toBe('first\n');
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await apply('quick', 'fourth')).code).toBe(0);
    expect(leftovers()).toEqual([]);
  });

  test('queue=True waits for a command of a killed run', async () => {
    const { run } = await begin('held', 'first');
    killRuntime();
    await run;
    const next = apply('held', 'second', 'queue=True');
    running.push(next);
    const waits = (): boolean =>
      readdirSync(project.workspace).some(name => name.startsWith('run.wait.'));
    await expect.poll(waits).toBe(true);
    expect(read('ended')).toBe('');
    rmSync(file('hold'));
    expect((await next).code).toBe(0);
    expect(read('ended')).toBe('first\nsecond\n');
    expect(leftovers()).toEqual([]);
  });

  test('saltutil.kill_all_jobs ends a command of a killed run', async () => {
    const { run, pid } = await begin('held', 'first');
    killRuntime();
    await run;
    expect((await project.run('web1', 'saltutil.kill_all_jobs')).stdout).toContain(`at pid ${pid}`);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await apply('quick', 'second')).code).toBe(0);
  });

  test('the id of a state with no_log is not recorded', async () => {
    const { run, pid } = await begin('secret', 'first');
    const record = `run.lock.${project.runtime()}.children`;
    expect(readFileSync(join(project.workspace, record), 'utf8')).not.toContain('the-secret');
    killRuntime();
    await run;
    const refused = await apply('quick', 'second');
    expect(refused.stdout).toContain(`of a cmd.run state is still running as PID ${pid}.`);
  });

  test('no run waits for what a killed run left in the background on purpose', async () => {
    const { run, pid } = await begin('daemons', 'first');
    killRuntime();
    await run;
    rmSync(file('hold'));
    await expect.poll(() => isAlive(pid)).toBe(false);
    const daemons = [Number(read('daemon')), Number(read('background'))];
    expect(daemons.map(isAlive)).toEqual([true, true]);
    expect((await apply('quick', 'second')).code).toBe(0);
    for (const daemon of daemons) process.kill(daemon, 'SIGKILL');
  });

  test('temporary files of a killed run are removed once its command has ended', async () => {
    mkdirSync(file('temporary'));
    const { run, pid } = await begin('checked', 'first');
    killRuntime();
    await run;
    const temporary = [expect.stringMatching(/^\.check\.[0-9a-f]{18}\.tmp$/)];
    expect((await apply('quick', 'second')).code).toBe(69);
    expect(readdirSync(file('temporary'))).toEqual(temporary);
    rmSync(file('hold'));
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await apply('quick', 'third')).code).toBe(0);
    expect(readdirSync(file('temporary'))).toEqual([]);
    expect(leftovers()).toEqual([]);
  });

  test('a state finishes when its sshd process is killed, and the next run reports it', async () => {
    const { run, pid } = await begin('held', 'first');
    const runtime = project.runtime() ?? 0;
    process.kill(sshdOf(runtime), 'SIGKILL');
    expect([(await run).code, isAlive(pid)]).toEqual([68, true]);

    await expect
      .poll(async () => (await apply('quick', 'second')).stdout, { timeout: 60_000 })
      .toMatch(
        new RegExp(
          `is running as PID ${runtime} .*; its connection was lost, and it still finishes held \\(cmd\\.run\\)\\.`,
        ),
      );
    rmSync(file('hold'));
    const next = await apply('quick', 'third', 'queue=True');
    expect([next.code, next.stdout + next.stderr]).toEqual([
      0,
      expect.stringMatching(
        /The connection was lost during an earlier state\.apply; on the host it went on until \S+: 1 states ran, 0 failed/,
      ),
    ]);
    expect(read('ended')).toBe('first\n');
    expect(leftovers()).toEqual([]);
  });

  test('"| head -3" on three hosts leaves no run behind that refuses the next', async () => {
    const roster = readFileSync(file('roster.yaml'), 'utf8');
    const hosts = ['h1', 'h2', 'h3'].map(id =>
      roster.replace('web1:', `${id}:`).replace(project.workspace, `${project.workspace}-${id}`),
    );
    project.roster(roster + hosts.join(''));
    const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const line = `"${process.execPath}" "${program}" 'h*' state.apply steps | head -3; exit $PIPESTATUS`;
    for (let round = 1; round <= 2; round += 1) {
      const cut = spawnSync('bash', ['-c', line], { cwd: project.dir, encoding: 'utf8' });
      expect([cut.status, cut.stdout.split('\n').length, cut.stderr]).toEqual([0, 4, '']);
      const next = await project.run('h*', 'state.apply', 'steps');
      expect([next.code, next.stdout + next.stderr]).toEqual([
        0,
        expect.not.stringMatching(/is running as PID|connection was lost/),
      ]);
      expect(read('steps').trim().split('\n')).toHaveLength(30 * round);
    }
  });
});

/** The process that serves a connection: the nearest sshd above a process. */
const sshdOf = (pid: number): number => {
  for (let at = pid; at > 1; ) {
    const stat = readFileSync(`/proc/${at}/stat`, 'utf8');
    if (/\(sshd/.test(stat)) return at;
    at = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  }
  throw new Error(`no sshd above ${pid}`);
};
