import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  killAllChildren,
  runChecked,
  runCommand,
} from '../../../src/modules/_shared/commands/run-command.ts';

const isRoot = process.getuid?.() === 0;

/** A zombie that nobody has reaped yet does not run. */
const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('returns code, stdout and stderr of a program', async () => {
  const result = await runCommand(['sh', '-c', 'echo out; echo err >&2; exit 3']);
  expect(result).toMatchObject({ code: 3, stdout: 'out\n', stderr: 'err\n', timedOut: false });
});

test('arguments never reach a shell', async () => {
  const { stdout } = await runCommand(['printf', '%s', '$(id); `id` "x']);
  expect(stdout).toBe('$(id); `id` "x');
});

test('a command line goes to the shell that is named', async () => {
  const { stdout } = await runCommand({ shell: '/bin/bash', command: 'a=(1 2); echo ${#a[@]}' });
  expect(stdout).toBe('2\n');
});

test('stdin is empty by default and can be given', async () => {
  expect((await runCommand(['cat'])).stdout).toBe('');
  expect((await runCommand(['cat'], { stdin: 'läuft' })).stdout).toBe('läuft');
});

test('a command that does not read its input does no harm', async () => {
  expect((await runCommand(['true'], { stdin: 'x'.repeat(1 << 20) })).code).toBe(0);
});

test('the process group dies on timeout, grandchildren too', { tags: 'slow' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-run-'));
  const file = join(folder, 'pid');
  const result = await runCommand(
    { command: `sleep 60 & echo $! > ${file}; wait` },
    { timeout: 3 },
  );
  expect(result.timedOut).toBe(true);
  const grandchild = Number(readFileSync(file, 'utf8'));
  expect(isRunning(grandchild)).toBe(false);
});

test('a daemon that keeps the pipes open does not hold the answer back', async () => {
  const { stdout } = await runCommand({ command: 'sleep 600 & echo $!' });
  const daemon = Number(stdout);
  expect(isRunning(daemon)).toBe(true);
  process.kill(daemon);
});

test('killAllChildren ends what still runs', async () => {
  const running = runCommand(['sleep', '60']);
  await new Promise(resolve => setTimeout(resolve, 100));
  await killAllChildren();
  expect(await running).toMatchObject({ signal: 'SIGTERM', code: 143 });
});

test('the environment is added to, taken from, or replaced', async () => {
  const added = await runCommand(
    { command: 'echo "$A-$HOME-$LC_ALL"' },
    {
      env: { A: '1', HOME: null },
      plainLocale: true,
    },
  );
  expect(added.stdout).toBe('1--C\n');
  const clean = await runCommand(['/usr/bin/env'], { cleanEnv: true, env: { B: '2' } });
  expect(clean.stdout).toBe('B=2\n');
});

test('programs find those of the system that the login leaves out of PATH', async () => {
  const before = process.env.PATH;
  process.env.PATH = '/usr/bin:/bin';
  try {
    const { stdout } = await runCommand({ command: 'echo $PATH' });
    expect(stdout.trim().split(':')).toEqual(expect.arrayContaining(['/usr/sbin', '/sbin']));
    expect(stdout).toMatch(/^\/usr\/bin:\/bin:/);
  } finally {
    process.env.PATH = before;
  }
});

test('umask holds for the child only', async () => {
  const before = process.umask();
  expect((await runCommand({ command: 'umask' }, { umask: 0o077 })).stdout.trim()).toMatch(/077$/);
  expect(process.umask()).toBe(before);
});

test('output over the limit is dropped, not kept', async () => {
  const { stdout, dropped } = await runCommand(['head', '-c', '1000000', '/dev/zero'], {
    outputLimit: 10,
  });
  expect(stdout).toHaveLength(10);
  expect(dropped).toEqual({ stdout: 999_990, stderr: 0 });
});

test('pieces of output are whole characters, and no more of them than is kept', async () => {
  let heard = '';
  const { stdout } = await runCommand(['/bin/sh', '-c', 'printf x; yes ü | head -c 400000'], {
    outputLimit: 300_001,
    onOutput: (_, text) => {
      heard += text;
    },
  });
  expect(heard).toBe(stdout);
  expect(heard).toHaveLength(200_001);
  expect(heard).not.toContain('\ufffd');
});

test('says what is missing', async () => {
  await expect(runCommand(['no-such-program'])).rejects.toThrow(
    'Cannot run no-such-program: command not found.',
  );
  await expect(runCommand(['true'], { cwd: '/no/such' })).rejects.toThrow(
    'the working directory /no/such does not exist',
  );
  await expect(runCommand(['true'], { runas: 'nobody-such' })).rejects.toThrow(
    "User 'nobody-such' is not available",
  );
  await expect(runChecked(['sh', '-c', 'echo why >&2; exit 4'])).rejects.toThrow(
    'failed with exit status 4: why',
  );
});

test.skipIf(!isRoot)('runs as another user with that home', async () => {
  const { stdout } = await runCommand(
    { command: 'id -un; echo $HOME $USER' },
    {
      runas: 'nobody',
    },
  );
  expect(stdout).toMatch(/^nobody\n\/\S+ nobody\n$/);
});
