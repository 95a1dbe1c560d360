// @module-tag slow
import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCode, exitCodeHelp } from '../../../../src/cli/exit-code.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { newKey } from '../../../helpers/embedded-server.ts';
import { freePort, hasSshd } from '../../../helpers/sshd.ts';
import { type SshdProject, startSshdProject } from '../../../helpers/sshd-project.ts';

const table = (): string[][] => {
  const text = readFileSync(join(packageRoot, 'docs/reference/command-line.md'), 'utf8');
  const [, rows = ''] = /\| Code \| Meaning *\|\n\|[- |]+\|\n((?:\|.*\|\n)+)/.exec(text) ?? [];
  return rows
    .trim()
    .split('\n')
    .map(row => row.split('|').map(cell => cell.trim()))
    .map(([, code = '', meaning = '']) => [code, meaning]);
};

test('the documented table of exit codes is the one of --help', () => {
  expect(table()).toEqual(exitCodeHelp.map(([code, meaning]) => [String(code), meaning]));
});

describe.skipIf(!hasSshd)('exit codes over a real sshd (needs sshd)', () => {
  let project: SshdProject;
  let front: Server;
  const links = new Set<Socket>();

  beforeAll(async () => {
    project = await startSshdProject({
      'states/empty.sls': '',
      'states/fails.sls': 'a: {test.fail_without_changes: []}\n',
      'states/unknown.sls': 'a: {file.manged: []}\n',
      'states/broken.sls': '{{ nope\n',
      'states/wrong-type.sls': '/nowhere/x: {file.managed: [{makedirs: maybe}]}\n',
      'states/wait.sls':
        'wait:\n  cmd.run:\n    - name: touch {{ pillar.mark }}; exec sleep {{ pillar.seconds }}\n',
      'odd.yaml': 'rendrer: liquid\n',
    });
    const entry = readFileSync(join(project.dir, 'roster.yaml'), 'utf8');
    const [, port = ''] = /port: (\d+)/.exec(entry) ?? [];
    front = createServer(socket => {
      const behind = createConnection(Number(port), '127.0.0.1');
      for (const one of [socket, behind]) {
        one.on('error', () => undefined);
        links.add(one);
      }
      socket.pipe(behind).pipe(socket);
    });
    await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve));
    const { port: through } = front.address() as { port: number };
    const known = readFileSync(join(project.dir, 'known_hosts'), 'utf8');
    const other = newKey();
    const others = {
      refused: entry.replace(/port: \d+/, `port: ${await freePort()}`),
      through: entry.replace(/port: \d+/, `port: ${through}`),
      unknown: entry.replace('host: 127.0.0.1', 'host: localhost'),
      'wrong-key': `${entry}  host_key: ${other.public.split(' ').slice(0, 2).join(' ')}\n`,
      'no-login': entry.replace(/priv: .*/, `priv: ${join(project.dir, 'other')}`),
      wrong: entry.replace('user:', 'usr:'),
    };
    project.write({
      other: other.private,
      known_hosts: known + known.replace(/:\d+/, `:${through}`),
      'roster.yaml':
        entry +
        Object.entries(others)
          .map(([id, text]) => text.replace('web1:', `${id}:`))
          .join(''),
    });
  });
  afterAll(async () => {
    for (const link of links) link.destroy();
    front?.close();
    await project?.close();
  });

  /** Returns the exit code of a run with these arguments. */
  const codeOf = async (...args: string[]): Promise<{ code: number | null; text: string }> => {
    const { code, stdout, stderr } = await project.run('--no-ssh-config', ...args);
    return { code, text: stdout + stderr };
  };

  test.each([
    [exitCode.ok, ['web1', 'test.ping'], 'True'],
    [exitCode.ok, ['web1', '-r', 'echo fine'], 'fine'],
    [exitCode.failed, ['web1', '-r', 'exit 3'], '3'],
    [exitCode.failed, ['web1', 'cmd.run', 'exit 3'], 'return code 3'],
    [exitCode.failed, ['web1', 'file.read', '/nowhere/x'], 'cannot be read'],
    [exitCode.failed, ['web1', 'state.apply', 'fails'], 'Failure!'],
    [exitCode.failed, ['web1', 'state.apply', 'empty'], 'Nothing to run: states/empty.sls'],
    [exitCode.failed, ['web1', 'state.apply', 'unknown'], "did you mean 'file.managed'?"],
    [exitCode.render, ['web1', 'state.apply', 'missing'], 'No matching sls found'],
    [exitCode.render, ['web1', 'state.apply', 'broken'], '(states/broken.sls:1:1)'],
    [exitCode.render, ['web1', 'state.apply', 'wrong-type'], "'makedirs' must be true or false"],
    // The host cannot be reached: these are found before.
    [exitCode.usage, ['refused', 'state.aply'], "Did you mean 'state.apply'?"],
    [exitCode.usage, ['refused', 'nosuch.fun'], "'nosuch.fun' is not available"],
    [exitCode.usage, ['refused', 'cmd.run', 'ls', 'timeout=abc'], "'timeout' must be a number"],
    [exitCode.usage, ['refused', 'state.apply', 'tets=True'], "'tets'"],
    [exitCode.usage, ['refused', 'test.ping', '--bogus'], 'There is no option --bogus'],
    [exitCode.usage, ['-c', 'odd.yaml', 'refused', 'test.ping'], "Did you mean 'renderer'?"],
    [exitCode.usage, ['wrong', 'test.ping'], "Did you mean 'user'?"],
    [exitCode.noTarget, ['nosuch', 'test.ping'], 'No host of the roster matches'],
    [exitCode.unreachable, ['refused', 'test.ping'], 'the connection was refused'],
    [exitCode.hostKey, ['unknown', 'test.ping'], '--accept-new-host-keys'],
    [exitCode.hostKey, ['wrong-key', 'test.ping'], 'key'],
    [exitCode.auth, ['no-login', 'test.ping'], 'was refused'],
    [exitCode.host, ['web1', '--timeout', '5', 'test.sleep', '60'], 'not done within 5 s'],
    // The most severe of several hosts.
    [exitCode.auth, ['-L', 'web1,refused,no-login', 'cmd.run', 'exit 3'], 'return code 3'],
  ])('%i: %j', async (expected, args, words) => {
    const { code, text } = await codeOf(...args);
    expect(text).toContain(words);
    expect(code, text).toBe(expected);
  });

  test('67: a folder without a roster', async () => {
    project.write({ 'elsewhere/tsalt.yaml': '' });
    const { code, text } = await codeOf('-c', 'elsewhere', 'web1', 'test.ping');
    expect(text).toContain(' has no roster.');
    expect(code).toBe(exitCode.noTarget);
  });

  let marks = 0;

  /** Starts a state that waits, and does something to the run once the state is running. */
  const whileWaiting = async (
    id: string,
    act: (pid: number) => void,
  ): Promise<{ code: number | null; text: string }> => {
    marks += 1;
    const mark = join(project.dir, `mark${marks}`);
    const child = spawn(
      process.execPath,
      [
        join(packageRoot, 'dist/tsalt-ssh.cjs'),
        id,
        'state.apply',
        'wait',
        `pillar={mark: ${mark}, seconds: 4}`,
        // Waits for the remains of an earlier run.
        'queue=True',
      ],
      { cwd: project.dir, env: { ...process.env, HOME: join(project.dir, 'home') } },
    );
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        text += String(chunk);
      });
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    await expect.poll(() => existsSync(mark), { timeout: 60_000 }).toBe(true);
    act(child.pid ?? 0);
    return { code: await ended, text };
  };

  test('68: the link is lost while a state runs', async () => {
    const { code, text } = await whileWaiting('through', () => {
      for (const link of links) link.destroy();
    });
    expect(text).toContain('the connection was lost');
    expect(code).toBe(exitCode.unreachable);
    // The state goes on to its end; the next run waits for it.
    expect((await codeOf('web1', 'state.apply', 'fails', 'queue=True')).code).toBe(exitCode.failed);
  }, 120_000);

  test('69: the runtime is killed on the host', async () => {
    const { code, text } = await whileWaiting('web1', () => {
      const pid = project.runtime();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    });
    expect(text).toContain('SIGKILL');
    expect(code).toBe(exitCode.host);
  }, 120_000);

  test('130: Ctrl-C', async () => {
    const { code, text } = await whileWaiting('web1', pid => process.kill(pid, 'SIGINT'));
    expect(text).toContain('Interrupted');
    expect(code).toBe(exitCode.interrupted);
  }, 120_000);

  test.skipIf(!existsSync('/dev/full'))(
    '64: the output cannot be written (needs /dev/full)',
    async () => {
      const child = spawn(
        process.execPath,
        [join(packageRoot, 'dist/tsalt-ssh.cjs'), 'web1', 'test.ping'],
        {
          cwd: project.dir,
          env: { ...process.env, HOME: join(project.dir, 'home') },
          stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
        },
      );
      let text = '';
      child.stderr?.on('data', chunk => {
        text += String(chunk);
      });
      const code = await new Promise(resolve => child.on('close', resolve));
      expect(text).toContain('ENOSPC');
      expect(code).toBe(exitCode.usage);
    },
  );
});
