import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { readMounts } from '../../../src/modules/_shared/files/mounts.ts';
import { splitCommandArgs } from '../../../src/modules/_shared/text/command-args.ts';
import type { PlainDict } from '../../../src/modules/api.ts';
import { run_chroot } from '../../../src/modules/cmd/exec/cmd/chroot.ts';
import * as programs from '../../../src/modules/cmd/exec/cmd/programs.ts';
import * as running from '../../../src/modules/cmd/exec/cmd/run.ts';
import * as scripting from '../../../src/modules/cmd/exec/cmd/script.ts';
import { call, wait_call } from '../../../src/modules/cmd/states/cmd/call.ts';
import { mod_watch } from '../../../src/modules/cmd/states/cmd/mod_watch.ts';
import * as runs from '../../../src/modules/cmd/states/cmd/run.ts';
import * as scripts from '../../../src/modules/cmd/states/cmd/script.ts';
import * as waits from '../../../src/modules/cmd/states/cmd/wait.ts';
import * as mount from '../../../src/modules/disk/exec/mount/active.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const cmd = { ...programs, ...running, ...scripting };
const state = { ...runs, ...scripts, ...waits, call, mod_watch, wait_call };
const context = contextOf({ cmd });
const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);

/** The steps of Salt's own recorded run; see test/golden. */
const golden = JSON.parse(
  readFileSync('test/golden/cases/results/cmd_run_results.json', 'utf8'),
) as { expect: { return: Record<string, PlainDict> } };

test.each([
  ['ok', {}],
  ['bad', {}],
  ['okcodes', { success_retcodes: [3] }],
  ['stateful', { stateful: true }],
  ['stateful2', { stateful: true }],
  ['env', { env: [{ A: 1 }, { B: 'yes' }] }],
  ['hide', { hide_output: true }],
])('cmd.run reports as Salt did: %s', async (id, options) => {
  const recorded = Object.values(golden.expect.return).find(result => result.__id__ === id) ?? {};
  const result = await run(() => state.run(String(recorded.name), options));
  if ('pid' in result.changes) result.changes.pid = '{{PID}}';
  const { name, changes, comment } = recorded;
  expect(result).toEqual({ name, changes, comment, result: recorded.result });
});

test('cmd.run returns both streams in their original order', async () => {
  expect(await run(() => cmd.run('echo a; echo b >&2; sleep 0.1; echo c'))).toMatch(
    /^(a\nb|b\na)\nc$/,
  );
});

test('a list of words never meets a shell', async () => {
  expect(await run(() => cmd.run(['echo', '$HOME', '|', 'cat']))).toBe('$HOME | cat');
  expect(await run(() => cmd.run(`echo '$HOME' "a  b"`, { python_shell: false }))).toBe(
    '$HOME a  b',
  );
});

test('words are split as a shell splits them', () => {
  expect(splitCommandArgs(`a 'b c' "d\\"e" f\\ g ''`)).toEqual(['a', 'b c', 'd"e', 'f g', '']);
  expect(() => splitCommandArgs("a 'b")).toThrow('A quote is not closed');
});

test('the exit status of the call is the one of the command unless it is ignored', async () => {
  expect(await run(() => cmd.retcode('exit 7'))).toBe(7);
  expect(context.context.retcode).toBe(7);
  await run(() => cmd.run('exit 7', { ignore_retcode: true }));
  expect(context.context.retcode).toBe(0);
});

test('stdin, cwd, umask, prepend_path and clean_env reach the command', async () => {
  expect(await run(() => cmd.run('cat', { stdin: 'one\\ntwo' }))).toBe('one\ntwo');
  expect(await run(() => cmd.run('pwd', { cwd: '/usr' }))).toBe('/usr');
  expect(await run(() => cmd.run('umask', { umask: '077' }))).toMatch(/077$/);
  expect(await run(() => cmd.run('echo $PATH', { prepend_path: '/opt/x' }))).toMatch(/^\/opt\/x:/);
  expect(await run(() => cmd.run('echo "[$HOME]"', { clean_env: true }))).toBe('[]');
});

test('a command that takes too long is killed and says so', async () => {
  const result = await run(() => cmd.run_all('sleep 30', { timeout: 0.2 }));
  expect(result).toMatchObject({ retcode: 1, stdout: 'sleep 30 : Timed out after 0.2 seconds' });
  const ignored = await run(() => state.run('sleep 30', { timeout: 0.2, ignore_timeout: true }));
  expect(ignored.result).toBe(true);
});

test('success_stdout makes a failure a success', async () => {
  expect(await run(() => cmd.retcode('echo fine; exit 5', { success_stdout: 'fine' }))).toBe(0);
});

test('arguments that make no sense are refused', async () => {
  await expect(run(() => cmd.run('true', { umask: '0' }))).rejects.toThrow(
    'Zero umask is not allowed.',
  );
  await expect(run(() => cmd.run('true', { cwd: 'relative' }))).rejects.toThrow(
    "Specified cwd 'relative' either not absolute or does not exist",
  );
  await expect(run(() => cmd.run('true', { shell: '/no/shell' }))).rejects.toThrow(
    'The shell /no/shell is not available',
  );
  await expect(run(() => cmd.run('true', { template: 'jinja' }))).rejects.toThrow('"template"');
});

test('a state with a missing folder or bad env fails without running', async () => {
  expect(await run(() => state.run('echo x', { cwd: '/no/such' }))).toMatchObject({
    result: false,
    comment: 'Desired working directory "/no/such" is not available',
  });
  expect(await run(() => state.run('echo x', { env: 'A=1' }))).toMatchObject({
    result: false,
    comment: "Invalidly-formatted 'env' parameter. See documentation.",
  });
});

test('test mode runs nothing', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tsalt-cmd-')), 'made');
  const result = await within(testing(context), () => state.run(`touch ${file}`));
  expect(result).toEqual({
    name: `touch ${file}`,
    changes: { cmd: `touch ${file}` },
    result: null,
    comment: `Command "touch ${file}" would have been executed`,
  });
  expect(() => readFileSync(file)).toThrow();
});

test('a stateful command may name what to run in test mode', async () => {
  const result = await within(testing(context), () =>
    state.run('exit 1', { stateful: [{ test_name: 'echo "changed=yes comment=would"' }] }),
  );
  expect(result).toMatchObject({ result: null, comment: 'would' });
});

test('cmd.wait does nothing until what it watches changes', async () => {
  expect(await run(() => state.wait('echo hi'))).toEqual({
    name: 'echo hi',
    changes: {},
    result: true,
    comment: '',
  });
  const woken = await run(() => state.mod_watch('echo hi', { sfun: 'wait' }));
  expect(woken).toMatchObject({ result: true, changes: { stdout: 'hi' } });
});

test('a script is fetched, run with arguments and taken away', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tsalt-cmd-')), 'script.sh');
  writeFileSync(file, '#!/bin/sh\necho "$0 $1"\n');
  const cp = { cache_file: async () => file, get_template: async () => '' };
  const result = await within(contextOf({ cmd, cp }), () => state.script('salt://script.sh word'));
  expect(result).toMatchObject({ result: true, comment: "Command 'salt://script.sh word' run" });
  const [path = '', word] = String(result.changes.stdout).split(' ');
  expect(word).toBe('word');
  expect(() => readFileSync(path)).toThrow();
  const none = await within(contextOf({ cmd, cp: { cache_file: async () => '' } }), () =>
    state.script('salt://none.sh'),
  );
  expect(none).toMatchObject({
    result: false,
    comment: "Unable to cache script salt://none.sh from saltenv 'base'",
  });
});

test('a stateful command promises no changes in test mode', async () => {
  const result = await within(testing(context), () => state.run('exit 3', { stateful: true }));
  expect(result).toEqual({ name: 'exit 3', changes: {}, result: null, comment: '' });
});

test('a command that a signal ends has minus its number as exit status, as in Python', async () => {
  expect(await run(() => cmd.retcode('kill -9 $$'))).toBe(-9);
  expect(await run(() => cmd.retcode('kill -15 $$', { success_retcodes: [-15] }))).toBe(0);
});

test('cmd.run leaves stderr out on request', async () => {
  const line = 'echo out; echo err >&2';
  expect(await run(() => cmd.run(line, { redirect_stderr: false }))).toBe('out');
});

test('commands run in the shell that the grain names', async () => {
  const bash = which('bash') ?? '/bin/sh';
  const host = contextOf({ cmd }, { grains: { shell: bash } });
  expect(await within(host, () => cmd.run('echo $0'))).toBe(bash);
});

test.skipIf(process.getuid?.() !== 0 || !which('su'))(
  'with runas a command has the environment of a login: its profile, and nothing that a profile prints',
  async () => {
    const shell = join(mkdtempSync(join(tmpdir(), 'tsalt-cmd-')), 'shell');
    writeFileSync(shell, '#!/bin/sh\necho noise\nexport FROM_LOGIN="a=b c"\nexec /bin/sh "$@"\n', {
      mode: 0o755,
    });
    const options = { runas: 'root', shell, env: { OWN: 'mine' } };
    const lines = (await run(() => cmd.run(['env'], options))).split('\n');
    expect(lines).toEqual(expect.arrayContaining(['FROM_LOGIN=a=b c', 'OWN=mine', 'USER=root']));
    expect(lines).not.toContain('noise');
    const clean = await run(() => cmd.run(['env'], { ...options, clean_env: true }));
    expect(clean).toContain('FROM_LOGIN=a=b c');
  },
);

test('code runs by its interpreter', async () => {
  expect(await run(() => cmd.exec_code('sh', ['echo "$1"'], { args: ['a b'] }))).toBe('a b');
});

test('a script that waits runs when what it watches changed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-wait-'));
  const source = join(dir, 'script.sh');
  writeFileSync(source, '#!/bin/sh\necho "ran $1"\n');
  const cp = { get_file: async () => source, cache_file: async () => source };
  const options = { source, args: 'it' };
  const where = contextOf({ cmd, cp });
  expect(await within(where, () => state.wait_script('script', options))).toMatchObject({
    result: true,
    changes: nothing,
  });
  const woken = await within(where, () =>
    state.mod_watch('script', { sfun: 'wait_script', ...options }),
  );
  rmSync(dir, { recursive: true });
  expect(woken).toMatchObject({ result: true, changes: { stdout: 'ran it' } });
});

test('cmd.call reports what its function answers; wait_call calls it when it is woken', async () => {
  const func = (word: unknown, { more }: { more: string }) => `${word} ${more}`;
  const options = {
    func: func as (...args: unknown[]) => unknown,
    args: ['one'],
    kws: { more: 'two' },
  };
  const answer = { name: 'f', result: true, changes: { retval: 'one two' }, comment: 'one two' };
  expect(await run(() => state.call('f', options))).toEqual(answer);
  expect(await run(() => state.wait_call('f', options))).toMatchObject({ changes: nothing });
  const woken = { sfun: 'wait_call', ...options } as unknown as { sfun: string } & PlainDict;
  expect(await run(() => state.mod_watch('f', woken))).toEqual(answer);
  const told = { func: () => ({ result: false, comment: 'no' }) };
  expect(await run(() => state.call('f', told))).toMatchObject({ result: false, comment: 'no' });
});

test('cmd.run takes stderr into stdout, and refuses an encoding that it cannot read', async () => {
  expect(await run(() => state.run('echo x >&2', { redirect_stderr: true }))).toMatchObject({
    changes: { stdout: 'x', stderr: '' },
  });
  expect(await run(() => state.run('echo x', { output_encoding: 'cp437' }))).toMatchObject({
    result: false,
    comment: "'output_encoding: cp437' is not supported: the output of commands is read as UTF-8",
  });
});

test('arguments of Python, PowerShell and other encodings are refused by name', async () => {
  for (const [name, value] of [
    ['log_callback', 'f'],
    ['encoded_cmd', true],
    ['output_encoding', 'latin1'],
    ['template', 'jinja'],
  ])
    await expect(run(() => cmd.run('true', { [String(name)]: value }))).rejects.toThrow(
      `"${name}"`,
    );
  expect(await run(() => cmd.run('echo x', { output_encoding: 'UTF-8', use_vt: true }))).toBe('x');
  await expect(run(() => cmd.powershell('ls'))).rejects.toThrow('shell=pwsh');
});

test('a shell reports its version, other programs do not', async () => {
  const told = await run(() => cmd.shell_info('bash'));
  expect(told).toMatchObject({ installed: true, path: which('bash') });
  expect(told.version).toBe(
    await run(() =>
      cmd.run('bash -c \'echo "${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}"\''),
    ),
  );
  expect(await run(() => cmd.shell_info('fishy'))).toMatchObject({ installed: null });
  expect(await run(() => cmd.tty('../etc/motd', 'x'))).toHaveProperty('Error');
  expect(await run(() => cmd.tty('pts99999', 'x'))).toHaveProperty('Error');
});

test('a program is run with the options of a command', async () => {
  const code = ['echo "$1 $A"', 'exit 3'];
  const done = await run(() =>
    cmd.exec_code_all('sh', code, { args: ['x'], env: { A: 'y' }, success_retcodes: [3] }),
  );
  expect(done).toMatchObject({ stdout: 'x y', retcode: 0 });
});

test.skipIf(process.getuid?.() !== 0 || !which('ldd'))(
  'a command in another root sees what is mounted there, and nothing stays mounted (needs root)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-jail-'));
    const jail = join(folder, 'jail');
    const shared = join(folder, 'shared');
    const inside = join(jail, shared);
    for (const place of [join(jail, 'bin'), join(jail, 'proc'), shared, inside])
      mkdirSync(place, { recursive: true });
    writeFileSync(join(shared, 'note'), 'here');
    for (const program of ['sh', 'cat']) {
      const path = realpathSync(which(program) ?? '');
      copyFileSync(path, join(jail, 'bin', program));
      for (const [library] of execFileSync('ldd', [path]).toString().matchAll(/\/\S+/g)) {
        mkdirSync(dirname(join(jail, library)), { recursive: true });
        copyFileSync(library, join(jail, library));
      }
    }
    const jailed = contextOf({ cmd, mount });
    const done = await within(jailed, () =>
      run_chroot(jail, `cat ${shared}/note; read -r line < /proc/self/mounts; echo " $line"`, {
        binds: [shared],
      }),
    );
    expect(done).toMatchObject({ retcode: 0, stdout: expect.stringMatching(/^here \S+/) });
    expect(readMounts().filter(({ path }) => path.startsWith(folder))).toEqual([]);
    removeFolder(folder);
  },
);

test('an output that is cut says so at its end, by stream', async () => {
  const line = 'head -c 50331748 /dev/zero | tr "\\0" a';
  const { stdout, stderr } = await run(() => cmd.run_all(line));
  expect(stdout.slice(-100)).toMatch(
    /a\n\[stdout is cut: the first 48 MB are kept, 100 bytes more are not\.\]$/,
  );
  expect(stderr).toBe('');
});
