import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';
import { hasTmux, startTmux } from '../../../helpers/tmux.ts';

describe.skipIf(!hasSshd)('console and watch', () => {
  let project: Project;
  let sshd: Sshd;
  let env: Record<string, string> = {};

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    const entry = `host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}`;
    project.write({
      known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
      'roster.yaml': `web1: {${entry}, thin_dir: ${project.dir}/w1}\nweb2: {${entry}, thin_dir: ${project.dir}/w2}\n`,
      'states/motd.sls': `${project.dir}/motd:\n  file.managed:\n    - contents: one\n`,
    });
    env = { HOME: join(project.dir, 'home'), XDG_CACHE_HOME: join(project.dir, 'home/.cache') };
  });
  afterAll(async () => {
    await sshd?.close();
    await project.close();
  });

  const logins = (): number => sshd.log().split('Accepted publickey').length - 1;

  const start = (...words: string[]) =>
    startTmux([process.execPath, join(packageRoot, 'dist/tsalt-ssh.cjs'), ...words], {
      cwd: project.dir,
      env,
    });

  test('a console runs lines over one login for each host', { tags: 'slow' }, async () => {
    const before = logins();
    const lines = [
      'test.ping',
      "cmd.run 'echo first line'",
      'test on',
      `state.single file.touch ${project.dir}/touched`,
      'cmd.run id',
      'test off',
      'on web2 cmd.run "echo only there"',
      'no.such',
      "broken 'quote",
      '',
    ];
    const { code, stdout, stderr } = await project.runWith(
      { input: lines.join('\n') },
      'console',
      'web*',
    );
    expect(stdout).toContain('web1:\n    first line\n');
    expect(stdout).toMatch(/is set to be created/);
    expect(existsSync(join(project.dir, 'touched'))).toBe(false);
    expect(stdout.match(/only there/g)).toHaveLength(1);
    expect(stderr).toContain("'cmd.run' has no test mode");
    expect(stderr).toContain("'no.such' is not available");
    expect(stderr).toContain('A quote is not closed');
    expect(code).toBe(64);
    expect(logins() - before).toBe(2);
  });

  test.skipIf(!hasTmux)(
    'a console has completion and a private history',
    { tags: 'slow' },
    async () => {
      const tmux = start('console', 'web*');
      try {
        await tmux.shows(/web\*> $|web\*>$/m);
        tmux.type('test.pin');
        tmux.press('Tab');
        await tmux.shows(/web\*> test\.ping/);
        tmux.press('Enter');
        await tmux.shows(/web2:\s+True|web1:\s+True[\s\S]*True/);
        tmux.type('test on');
        tmux.press('Enter');
        await tmux.shows(/web\* \(test\)>/);
        tmux.press('Up', 'Up');
        await tmux.shows(/web\* \(test\)> test\.ping/);
        tmux.press('C-u');
        tmux.press('C-d');
        expect(await tmux.ended()).toBe(0);
      } finally {
        tmux.close();
      }
      const history = join(env.XDG_CACHE_HOME ?? '', 'tsalt-ssh/console-history');
      expect(readFileSync(history, 'utf8')).toBe('test on\ntest.ping\n');
      expect(statSync(history).mode & 0o777).toBe(0o600);
    },
  );

  test.skipIf(!hasTmux)('a console runs all lines that are pasted at once', async () => {
    const tmux = start('console', 'web1');
    try {
      await tmux.shows(/web1> ?$/m);
      tmux.type("cmd.run 'echo one'\ncmd.run 'echo two'\n");
      await tmux.shows(/web1> cmd\.run 'echo two'\s+web1:\s+two/);
      tmux.press('C-d');
      expect(await tmux.ended()).toBe(0);
    } finally {
      tmux.close();
    }
  });

  test('a console names a target without hosts before it reads a line', async () => {
    const { code, stderr } = await project.runWith({ input: 'test.ping\n' }, 'console', 'nope*');
    expect(code).toBe(67);
    expect(stderr.match(/No host of the roster matches the glob target 'nope\*'/g)).toHaveLength(1);
  });

  test.skipIf(!hasTmux)(
    'watch plans again when a file is saved, over the same login',
    { tags: 'slow' },
    async () => {
      const before = logins();
      const tmux = start('watch', 'web1', 'state.apply', 'motd', 'test=True');
      try {
        await tmux.shows(/Waiting for a change/);
        project.write({ 'states/motd.sls': `${project.dir}/other:\n  file.managed: []\n` });
        await tmux.shows(/states\/motd\.sls has changed[\s\S]*\/other[\s\S]*Waiting/);
        project.write({ 'states/motd.sls': 'a: [\n' });
        await tmux.shows(/states\/motd\.sls:\d[\s\S]*Waiting/);
        tmux.press('C-c');
        expect(await tmux.ended()).toBe(0);
      } finally {
        tmux.close();
      }
      expect(logins() - before).toBe(1);
    },
  );

  test('both name what they need', async () => {
    expect((await project.run('console')).code).toBe(64);
    const { code, stderr } = await project.run('watch', 'web1');
    expect(code).toBe(64);
    expect(stderr).toContain("tsalt-ssh watch 'web*' state.apply test=True");
  });
});
