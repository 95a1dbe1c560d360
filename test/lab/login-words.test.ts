import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

const missing = labMissing();
const lab = createLab(22);

describe.skipIf(missing !== undefined)(
  `words of real hosts${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;
    const sh = (command: string): Promise<string> => lab.sh('words1', 'sh', '-c', command);
    const cli = async (...args: string[]): Promise<{ code: number | null; text: string }> => {
      const { code, stdout, stderr } = await project.run(...args);
      return { code, text: stderr + stdout };
    };

    beforeAll(async () => {
      project = await startLabProject(
        lab,
        { words1: { user: 'root' } },
        {
          files: {
            'states/two.sls': `/etc/one: {file.managed: [{contents: x}]}\n/etc/two: {file.managed: [{contents: x}]}\n`,
          },
        },
      );
      const login = { host: project.addresses.words1, priv: lab.key };
      project.write({
        'roster.yaml': JSON.stringify({
          root: { ...login, user: 'root' },
          plain: { ...login, user: 'deploy' },
          sudo: { ...login, user: 'deploy', sudo: true },
          asks: { ...login, user: 'ops', sudo: true },
        }),
      });
    });
    afterAll(async () => {
      await project?.close();
    });

    /** Changes the host for the time of `use`. */
    const during = async <T>(change: string, undo: string, use: () => Promise<T>): Promise<T> => {
      await sh(change);
      try {
        return await use();
      } finally {
        await sh(undo);
      }
    };

    const needsSudo =
      '[WARNING ] plain: sudo: This ran as deploy, without sudo: add "sudo: true" to the roster entry';

    test('a run without root names sudo once, also beside data', async () => {
      const { code, stdout, stderr } = await project.run(
        'plain',
        'state.apply',
        'two',
        '--out=json',
      );
      expect(code).toBe(20);
      expect(stdout.match(/"result": false/g)).toHaveLength(2);
      expect(JSON.parse(stdout)).toHaveProperty('plain');
      expect(stderr.split(needsSudo)).toHaveLength(2);
      for (const call of [
        ['pkg.install', 'tsalt-hello'],
        ['service.restart', 'cron'],
        ['cmd.run', 'cat /etc/shadow'],
        ['-r', 'cat /etc/shadow'],
      ])
        expect((await cli('plain', ...call)).text, String(call)).toContain(needsSudo);
    });

    test('root, sudo and other failures get no word of sudo', async () => {
      for (const call of [
        ['root', 'cmd.run', 'echo Permission denied; exit 1'],
        ['sudo', 'cmd.run', 'echo Permission denied; exit 1'],
        ['plain', 'cmd.run', 'echo no such thing; exit 1'],
        ['plain', 'cmd.run', "echo 'git@example.com: Permission denied (publickey).'; exit 1"],
      ]) {
        const { code, text } = await cli(...call);
        expect(code).toBe(20);
        expect(text).not.toContain('without sudo');
      }
    });

    test.each([
      ['/usr/sbin/nologin', 77, 'This account is currently not available.'],
      ['/bin/rbash', 69, 'exec: restricted'],
      ['/usr/bin/git-shell', 69, "fatal: unrecognized command 'exec "],
    ])(
      'login shell %s: its own words are shown, with and without sudo',
      async (shell, exit, words) => {
        await during(`usermod -s ${shell} deploy`, 'usermod -s /bin/bash deploy', async () => {
          for (const id of ['plain', 'sudo']) {
            const { code, text } = await cli(id, 'test.ping');
            expect(text).toContain(words);
            expect(text).not.toMatch(/sudo password|sudoers|function|mkdirSync/);
            expect(text.length).toBeLessThan(600);
            expect(code).toBe(exit);
          }
        });
      },
    );

    test.each([
      ['chage -E 0 deploy', 'chage -E -1 deploy', 'Your account has expired'],
      ['chage -d 0 deploy', 'chage -d 20000 deploy', 'Your password has expired'],
      ['echo Down for repairs. >/etc/nologin', 'rm /etc/nologin', 'Down for repairs.'],
    ])('%s: the words of PAM are shown, by each transport', async (change, undo, words) => {
      await during(change, undo, async () => {
        for (const call of [['plain'], ['sudo'], ['plain', '--transport=openssh']]) {
          const { code, text } = await cli(...call, 'test.ping');
          expect(text).toContain(words);
          expect(text).not.toContain('sudo password');
          expect(code).toBe(77);
        }
      });
    });

    test('a login banner of up to 256 KB does not disturb a run; a larger one ends sshd', async () => {
      const set = async (size: number): Promise<void> => {
        await sh(`yes 'Authorized only.' | head -c ${size} >/etc/banner
        echo 'Banner /etc/banner' >/etc/ssh/sshd_config.d/banner.conf; systemctl restart ssh`);
        await sleep(500);
      };
      const undo = 'rm -f /etc/ssh/sshd_config.d/banner.conf; systemctl restart ssh';
      await during('true', undo, async () => {
        for (const size of [36_000, 250_000]) {
          await set(size);
          expect((await cli('root', 'test.ping')).code).toBe(0);
        }
        await set(1_000_000);
        const { code, text } = await cli('root', 'test.ping');
        expect(code).toBe(77);
        expect(text).toContain('A banner above 256 KB breaks sshd itself.');
      });
      await sleep(500);
    });

    test('a sudo password is named only where sudo wants one, with its own words', async () => {
      for (const call of [
        ['asks', 'test.ping'],
        ['asks', '-r', 'true'],
      ]) {
        const { code, text } = await cli(...call);
        expect(code).toBe(77);
        expect(text).toContain('needs a sudo password, and there is no terminal');
        expect(text).toContain('sudo: a password is required');
      }
    });

    const rules = '/etc/sudoers.d/lab';
    test.each([
      [
        `printf 'Defaults requiretty\\ndeploy ALL=(ALL) NOPASSWD: ALL\\n' >${rules}`,
        'sudo: sorry, you must have a tty to run sudo',
        'Set tty: true in the roster',
      ],
      [
        'chmod u-s /usr/bin/sudo',
        'sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set',
        'sudo refused',
      ],
      ['mv /usr/bin/sudo /usr/bin/sudo.x', 'sudo: not found', 'there is no sudo on the host'],
    ])('%s: sudo is shown with its own words', async (change, words, reason) => {
      const undo = `[ ! -e /usr/bin/sudo.x ] || mv /usr/bin/sudo.x /usr/bin/sudo; chmod 4755 /usr/bin/sudo
      printf 'deploy ALL=(ALL) NOPASSWD:ALL\\nops ALL=(ALL) ALL\\n' >${rules}`;
      await during(change, undo, async () => {
        for (const call of [
          ['sudo', 'test.ping'],
          ['sudo', '-r', 'true'],
        ]) {
          const { code, text } = await cli(...call);
          expect(text).toContain(words);
          expect(text).toContain(reason);
          expect(text).not.toContain('needs a sudo password');
          expect(code).toBe(77);
        }
      });
    });
  },
);
