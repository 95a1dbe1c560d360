import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeAccount, type TestAccount } from '../../../helpers/accounts.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { givesTerminals, hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';
import { hasProgram, hasTmux, startTmux } from '../../../helpers/tmux.ts';

const isRoot = process.getuid?.() === 0;
const canSudo = isRoot && hasProgram('sudo');

describe.skipIf(!hasSshd)('ssh', () => {
  let project: Project;
  let sshd: Sshd;
  let jump: Sshd;
  let account: TestAccount | undefined;
  const password = randomBytes(6).toString('hex');
  const sudoers = `/etc/sudoers.d/tsalt-${randomBytes(4).toString('hex')}`;

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    chmodSync(project.dir, 0o755);
    const config = ['PasswordAuthentication no', 'AcceptEnv NOTHING'];
    sshd = await startSshd({ dir: join(project.dir, 'sshd'), config });
    jump = await startSshd({ dir: join(project.dir, 'jump'), config: ['PermitTTY no'] });
    copyFileSync(
      join(project.dir, 'sshd/authorized_keys'),
      join(project.dir, 'jump/authorized_keys'),
    );
    chmodSync(join(project.dir, 'sshd'), 0o755);
    chmodSync(join(project.dir, 'sshd/authorized_keys'), 0o644);
    const entry = (id: string, more: string): string =>
      `${id}: {host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}${more}}\n`;
    if (canSudo) {
      account = makeAccount();
      execFileSync('chpasswd', { input: `${account.name}:${password}\n` });
      writeFileSync(sudoers, `${account.name} ALL=(ALL) ALL\n`, { mode: 0o440 });
    }
    project.write({
      known_hosts: [sshd, jump]
        .map(({ port, hostKeys }) => `[127.0.0.1]:${port} ${hostKeys[0]}\n`)
        .join(''),
      'roster.yaml': [
        entry('web1', ''),
        entry('web2', `, proxy_jump: "${jump.user}@127.0.0.1:${jump.port}"`),
        `away: {host: 127.0.0.1, port: 1, user: x}\n`,
        ...(account
          ? [
              `sudo1: {host: 127.0.0.1, port: ${sshd.port}, user: ${account.name}, priv: ${sshd.key}, sudo: true, sudo_passwd: ${password}}\n`,
              `ask1: {host: 127.0.0.1, port: ${sshd.port}, user: ${account.name}, priv: ${sshd.key}, sudo: true}\n`,
              `bad1: {host: 127.0.0.1, port: ${sshd.port}, user: ${account.name}, priv: ${sshd.key}, sudo: true, sudo_passwd: wrong}\n`,
            ]
          : []),
      ].join(''),
    });
  });
  afterAll(async () => {
    await Promise.all([sshd?.close(), jump?.close()]);
    rmSync(sudoers, { force: true });
    account?.remove();
    await project.close();
  });

  test('runs a command with its options, and passes its exit code on', {
    tags: 'slow',
  }, async () => {
    const { code, stdout, stderr } = await project.run(
      'ssh',
      'web1',
      'printf %s -l; echo to-stderr >&2; exit 7',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: '-l', stderr: 'to-stderr\n' });
    expect((await project.run('ssh', 'web1', 'ls', '-d', '/')).stdout).toBe('/\n');
    expect((await project.run('ssh', 'web1', 'kill -TERM $$')).code).toBe(143);
  });

  test('passes standard input on, of any bytes and size', { tags: 'slow' }, async () => {
    const input = randomBytes(3_000_000).toString('latin1');
    const { code, stdout } = await project.runWith({ input }, 'ssh', 'web1', 'sha256sum; exit 3');
    const sum = execFileSync('sha256sum', { input, encoding: 'utf8' });
    expect({ code, stdout }).toEqual({ code: 3, stdout: sum });
    const large = await project.run('ssh', 'web1', 'head -c 5000000 /dev/zero | tr "\\0" x');
    expect(large.stdout.length).toBe(5_000_000);
  });

  test('goes through the jump host of the roster', async () => {
    const { code, stdout } = await project.run('ssh', 'web2', 'echo $SSH_CONNECTION');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(` 127\\.0\\.0\\.1 ${sshd.port}\n`));
    expect(jump.log()).toMatch(/Accepted publickey/);
  });

  test('reports faults of the way as a run does', async () => {
    const away = await project.run('ssh', 'away', 'true');
    expect(away.code).toBe(68);
    expect(away.stderr).toContain('the connection was refused');
    const none = await project.run('ssh', 'nobody', 'true');
    expect(none.code).toBe(67);
    const several = await project.run('ssh', 'web*', 'true');
    expect(several.code).toBe(64);
    expect(several.stderr).toContain('It matches web1, web2.');
    expect((await project.run('ssh')).code).toBe(64);
  });

  test('runs on this machine too', async () => {
    expect((await project.run('ssh', '@local', 'echo here; exit 4')).code).toBe(4);
  });

  test('passes the lines of a pipe on and ends with it', async () => {
    const { stdout } = await project.runWith(
      { input: 'one\ntwo\n' },
      'ssh',
      'web1',
      'cat; echo end',
    );
    expect(stdout).toBe('one\ntwo\nend\n');
  });

  test.skipIf(!canSudo)(
    'becomes the user of the roster, whose password is not shown',
    { tags: 'slow' },
    async () => {
      const { code, stdout, stderr } = await project.runWith(
        { input: 'for the command\n' },
        'ssh',
        'sudo1',
        'id -un; cat; exit 5',
      );
      expect({ code, stdout, stderr }).toEqual({
        code: 5,
        stdout: 'root\nfor the command\n',
        stderr: '',
      });
      const wrong = await project.run('ssh', 'bad1', 'id');
      expect(wrong.code).toBe(77);
      expect(wrong.stderr).toContain('sudo does not take the password');
      const nobody = await project.run('ssh', 'ask1', 'id');
      expect(nobody.code).toBe(77);
      expect(nobody.stderr).toContain('needs a sudo password');
    },
  );

  describe.skipIf(!hasTmux || !givesTerminals())('at a terminal', () => {
    const bin = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const start = (...words: string[]) =>
      startTmux([process.execPath, bin, ...words], {
        cwd: project.dir,
        env: { HOME: join(project.dir, 'home'), XDG_CACHE_HOME: join(project.dir, 'home/.cache') },
      });

    test('is a login shell with a terminal that follows the size of the window', async () => {
      const tmux = start('ssh', 'web1');
      try {
        await tmux.shows(/[#$] ?$/m);
        tmux.type('tty; stty size; echo "term $TERM"');
        tmux.press('Enter');
        await tmux.shows(/\/dev\/pts\/\d+\n30 100\nterm (?:tmux|screen)/);
        tmux.type('sleep 100');
        tmux.press('Enter');
        tmux.press('C-c');
        tmux.resize(70, 20);
        tmux.type('stty size; echo "after $?"');
        tmux.press('Enter');
        await tmux.shows(/20 70\nafter 0/);
        tmux.type('exit 9');
        tmux.press('Enter');
        expect(await tmux.ended()).toBe(9);
      } finally {
        tmux.close();
      }
    });

    test('ends by ~. at the beginning of a line', async () => {
      const tmux = start('ssh', 'web1', 'echo up; cat; sleep 100');
      try {
        await tmux.shows(/^up$/m);
        tmux.type('marked');
        tmux.press('Enter');
        await tmux.shows(/marked\nmarked/);
        tmux.type('~~x');
        tmux.press('Enter');
        await tmux.shows(/~x\n~x/);
        tmux.type('~.');
        await tmux.ended();
      } finally {
        tmux.close();
      }
    });

    test.skipIf(!canSudo)('asks for the sudo password without an echo', async () => {
      const tmux = start('ssh', 'ask1');
      try {
        await tmux.shows(/\[sudo\] password for/);
        tmux.type(password);
        tmux.press('Enter');
        await tmux.shows(/# ?$/m);
        tmux.type('id -un; stty -a | grep -o " echo "; pwd');
        tmux.press('Enter');
        const screen = await tmux.shows(/root\n echo\n\/root/);
        expect(screen).not.toContain(password);
        expect(screen).not.toContain('-began');
      } finally {
        tmux.close();
      }
    });

    test.skipIf(!isRoot)('is a shell in a folder of this machine', async () => {
      const tmux = start('ssh', '@chroot/proc/self/root');
      try {
        await tmux.shows(/[#$] ?$/m);
        tmux.type('echo "home $HOME"; tty; exit 6');
        tmux.press('Enter');
        await tmux.shows(/home \/root\n\/dev\/pts\/\d+/);
        expect(await tmux.ended()).toBe(6);
      } finally {
        tmux.close();
      }
    });
  });
});
