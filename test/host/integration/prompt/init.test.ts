import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';
import { hasTmux, startTmux } from '../../../helpers/tmux.ts';

describe.skipIf(!hasSshd)('init', () => {
  let project: Project;
  let sshd: Sshd;
  let address = '';

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    address = `${sshd.user}@127.0.0.1:${sshd.port}`;
    const keys = join(project.dir, 'home/.ssh');
    mkdirSync(keys, { mode: 0o700 });
    copyFileSync(sshd.key, join(keys, 'id_ed25519'));
    // The folder in which it is called is not a project.
    mkdirSync(join(project.dir, 'empty'));
  });
  afterAll(async () => {
    await sshd?.close();
    await project.close();
  });

  test('writes a project that works at once, and explains it', { tags: 'slow' }, async () => {
    const words = ['init', 'first', '--host', address];
    const { code, stdout } = await project.run('--accept-new-host-keys', ...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/roster\.yaml +your hosts: host1\n/);
    expect(stdout).toContain('host1: works\n');
    expect(stdout).toContain("  cd first\n  tsalt-ssh '*' state.apply test=True");
    const dir = join(project.dir, 'first');
    expect(statSync(join(dir, 'roster.yaml')).mode & 0o777).toBe(0o600);
    const dry = await project.run('-c', 'first', '*', 'state.apply', 'test=True');
    expect(dry.stdout).toContain('/var/tmp/hello-from-tsalt-ssh.txt');
    expect(dry.stdout).toMatch(/Succeeded: 1 \((?:unchanged=1|changed=1)?/);
    expect(dry.code).toBe(0);

    const before = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
    const again = await project.run(...words);
    expect(again.code).toBe(64);
    expect(again.stderr).toContain('nothing was written');
    expect(readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before);
  });

  test('keeps a .gitignore, and names this machine', async () => {
    project.write({ 'second/.gitignore': 'mine\n', 'second/README.md': 'mine\n' });
    const { code, stdout } = await project.run('init', 'second', '--host', '@local');
    expect(code).toBe(0);
    expect(stdout).toContain('.gitignore existed already');
    expect(readFileSync(join(project.dir, 'second/.gitignore'), 'utf8')).toBe('mine\n');
    expect((await project.run('-c', 'second', 'local', 'test.ping')).stdout).toContain('True');
  });

  test('writes nothing without a host, or for what is not one', async () => {
    const nobody = await project.run('init', 'third');
    expect(nobody.code).toBe(64);
    expect(nobody.stderr).toContain('tsalt-ssh init --host deploy@192.0.2.10');
    expect((await project.run('init', 'third', '--host', 'a b')).code).toBe(64);
    expect((await project.run('init', 'a', 'b')).code).toBe(64);
    expect((await project.run('init', 'known_hosts', '--host', '@local')).code).toBe(64);
    expect(existsSync(join(project.dir, 'third'))).toBe(false);
  });

  test('keeps the project where the login fails, with the line to type', async () => {
    const words = ['init', 'fourth', '--host', 'x@127.0.0.1:1'];
    const { code, stdout } = await project.run(...words);
    expect(code).toBe(68);
    expect(stdout).toContain('tsalt-ssh doctor host1');
    expect(existsSync(join(project.dir, 'fourth/roster.yaml'))).toBe(true);
  });

  test.skipIf(!hasTmux)(
    'asks for the host, and whether its key is right',
    { tags: 'slow' },
    async () => {
      const home = join(project.dir, 'other-home');
      mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
      copyFileSync(sshd.key, join(home, '.ssh/id_ed25519'));
      const tmux = startTmux([process.execPath, join(packageRoot, 'dist/tsalt-ssh.cjs'), 'init'], {
        cwd: join(project.dir, 'empty'),
        env: { HOME: home, XDG_CACHE_HOME: join(home, '.cache') },
      });
      try {
        await tmux.shows(/First host/);
        tmux.type(address);
        tmux.press('Enter');
        await tmux.shows(/SHA256:[\s\S]*do you trust it\? \[y\/N\]/);
        tmux.type('y');
        tmux.press('Enter');
        await tmux.shows(/host1: works[\s\S]*Next:/);
        expect(await tmux.ended()).toBe(0);
      } finally {
        tmux.close();
      }
      const { code } = await project.runWith(
        { env: { HOME: home } },
        '-c',
        'empty',
        '*',
        'state.apply',
        'test=True',
      );
      expect(code).toBe(0);
    },
  );
});
