// @module-tag slow
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { processStart } from '../../../../src/modules/_shared/commands/run-lock.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: Project;
let root = '';

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/slow.sls': `slow:
  cmd.run:
    - name: 'touch {{ grains.root }}/begun; while [ -e {{ grains.root }}/hold ]; do sleep 0.05; done'
`,
    },
  });
  root = project.hosts.web1?.root ?? '';
});
afterAll(() => project.close());

const running: Promise<CliResult>[] = [];

beforeEach(() => {
  writeFileSync(join(root, 'hold'), '');
  // The process of the test before may still write its code cache.
  removeFolder(join(root, '.cache'));
});
afterEach(async () => {
  rmSync(join(root, 'hold'), { force: true });
  await Promise.all(running.splice(0));
});

const workspaces = (): string[] => {
  const cache = join(root, '.cache');
  return existsSync(cache) ? readdirSync(cache) : [];
};

/** Starts a run that goes on until `hold` is removed. */
const startSlow = async (...options: string[]): Promise<{ run: Promise<CliResult> }> => {
  rmSync(join(root, 'begun'), { force: true });
  const run = project.run('web1', 'state.apply', 'slow', ...options);
  running.push(run);
  await expect.poll(() => existsSync(join(root, 'begun')), { timeout: 15_000 }).toBe(true);
  return { run };
};

const slowly = { timeout: 60_000 };

test(
  'the next run on a host removes what a killed run with --rand-thin-dir left',
  slowly,
  async () => {
    const { run } = await startSlow('-W');
    const [left = ''] = workspaces().filter(name => /^tsalt-ssh-[0-9a-f]{16}$/.test(name));
    const owner = JSON.parse(readFileSync(join(root, '.cache', left, 'owner.json'), 'utf8'));

    expect((await project.run('web1', 'test.ping')).code).toBe(0);
    expect(workspaces()).toContain(left);

    process.kill(owner.pid, 'SIGKILL');
    rmSync(join(root, 'hold'));
    await run;
    expect(workspaces()).toContain(left);
    expect((await project.run('web1', 'test.ping')).code).toBe(0);
    expect(workspaces()).toEqual(['tsalt-ssh']);
  },
);

test(
  'folders of killed uploads are removed after an hour, others with like names never',
  slowly,
  async () => {
    const cache = join(root, '.cache');
    const [old, young, other] = ['0123456789abcdef', 'fedcba9876543210', 'notes'].map(end => {
      mkdirSync(join(cache, `tsalt-ssh-${end}`), { recursive: true, mode: 0o700 });
      return `tsalt-ssh-${end}`;
    });
    for (const name of [old, other]) utimesSync(join(cache, `${name}`), 1e9, 1e9);

    expect((await project.run('web1', 'test.ping')).code).toBe(0);
    expect(workspaces().toSorted()).toEqual(['tsalt-ssh', young, other]);
  },
);

test(
  'runs with --rand-thin-dir wait for each other and for usual runs, and leave nothing',
  slowly,
  async () => {
    const first = await startSlow('-W');
    for (const options of [['-W'], []]) {
      const { code, stdout } = await project.run('web1', 'state.apply', 'slow', ...options);
      expect([code, stdout]).toEqual([
        69,
        expect.stringMatching(/The function "state.apply" is running as PID \d+/),
      ]);
    }
    rmSync(join(root, 'hold'));
    expect((await first.run).code).toBe(0);
    expect((await project.run('web1', 'state.apply', 'slow', '-w')).code).toBe(0);
    expect((await project.run('web1', 'state.apply', 'slow', '-W')).code).toBe(0);
    // The host removes it while its process ends.
    await expect.poll(workspaces).toEqual([]);
  },
);

test(
  '--wipe leaves a workspace in which another run works, and names that run',
  slowly,
  async () => {
    const first = await startSlow();
    const { code, stderr } = await project.run('web1', 'test.ping', '--wipe');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /The workspace \S+tsalt-ssh is not removed: The function "state.apply" is running as PID/,
      ),
    ]);
    expect(readdirSync(join(root, '.cache/tsalt-ssh'))).toContain('run.lock');
    rmSync(join(root, 'hold'));
    expect((await first.run).code).toBe(0);
    expect((await project.run('web1', 'test.ping', '--wipe')).code).toBe(0);
    await expect.poll(workspaces).toEqual([]);
  },
);

test('clean removes no workspace in which a run works, and fails', slowly, async () => {
  const first = await startSlow();
  const kept = await project.run('clean', 'web1');
  expect([kept.code, kept.stdout]).toEqual([
    20,
    expect.stringMatching(
      /kept \S+tsalt-ssh: The function state.apply works there as PID \d+\. Wait/,
    ),
  ]);
  const refused = await project.run('web1', 'state.apply', 'slow');
  expect(refused.stdout).toContain('is running as PID');
  rmSync(join(root, 'hold'));
  expect((await first.run).code).toBe(0);
  expect((await project.run('clean', 'web1')).code).toBe(0);
  expect(workspaces()).toEqual([]);
});

test('clean removes no guard that may still put things back', slowly, async () => {
  const guard = join(root, '.cache/tsalt-ssh/guard-0123456789abcdef');
  mkdirSync(guard, { recursive: true, mode: 0o700 });
  const watchdog = spawn('sleep', ['60']);
  const { pid = 0 } = watchdog;
  const lock = { pid, begun: processStart(pid), fun: 'guard', since: '' };
  writeFileSync(join(guard, 'run.lock'), JSON.stringify(lock));
  try {
    const kept = await project.run('clean', 'web1');
    expect([kept.code, kept.stdout]).toEqual([
      20,
      expect.stringMatching(new RegExp(`kept \\S+: A guard works there as PID ${pid}\\.`)),
    ]);
    // A number that now belongs to another process holds nothing.
    writeFileSync(join(guard, 'run.lock'), JSON.stringify({ ...lock, begun: '1' }));
    expect((await project.run('clean', 'web1')).code).toBe(0);
    expect(workspaces()).toEqual([]);
  } finally {
    watchdog.kill('SIGKILL');
  }
});
