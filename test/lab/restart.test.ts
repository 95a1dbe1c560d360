import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';
import { nothing } from '../helpers/nothing.ts';

type StateResult = {
  result: boolean | null;
  changes: Record<string, Record<string, string>>;
  comment: string;
  __run_num__: number;
};

const missing = labMissing();
const lab = createLab(15);

const sls = `before:
  file.managed:
    - name: /srv/before
    - contents: x

collected before:
  file.accumulated:
    - name: words
    - filename: /srv/after
    - text: kept
    - require_in:
      - file: after

due:
  file.managed:
    - name: /run/reboot-required
    - contents: kernel
    - onchanges:
      - file: before

restart:
  system.reboot:
    - onlyif: test -e /run/reboot-required
    - wait: 120

after:
  file.managed:
    - name: /srv/after
    - template: jinja
    - source: salt://after.j2
    - require:
      - system: restart

marked:
  cmd.run:
    - name: cat /proc/sys/kernel/random/boot_id > /srv/boot
    - onchanges:
      - file: before

listener:
  test.nop:
    - listen:
      - file: before
`;

describe.skipIf(missing)(
  `a restart in the middle of a run${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;

    const boot = async (): Promise<string> =>
      (await lab.sh('web1', 'cat', '/proc/sys/kernel/random/boot_id')).trim();
    const apply = async (...args: string[]) => {
      const result = await project.run('web1', 'state.apply', 'all', '--out=json', ...args);
      const text = result.stdout + result.stderr;
      const states = (JSON.parse(result.stdout) as Record<string, Record<string, StateResult>>)
        .web1;
      const byId = new Map(
        Object.entries(states ?? {}).map(([tag, state]) => [tag.split('_|-')[1], state]),
      );
      return { ...result, text, byId };
    };

    beforeAll(async () => {
      project = await startLabProject(
        lab,
        { web1: { user: 'ops', sudo: true, sudo_passwd: { env: 'OPS_PASS' } } },
        {
          files: {
            'states/all.sls': sls,
            'states/after.j2':
              "{{ accumulator['words'] | join(',') }} {{ salt['file.file_exists']('/run/reboot-required') }}\n",
          },
          settings: 'renderer: jinja|yaml\n',
          env: { OPS_PASS: 'ops-pass' },
        },
      );
    }, 600_000);

    afterAll(() => project?.close(), 240_000);

    test('test mode restarts nothing', async () => {
      const before = await boot();
      await lab.sh('web1', 'touch', '/run/reboot-required');
      const { byId, text } = await apply('test=True');
      expect(byId.get('restart')?.result, text).toBe(null);
      await lab.sh('web1', 'rm', '/run/reboot-required');
      expect(await boot()).toBe(before);
    }, 240_000);

    test('the run waits, connects again with sudo, and goes on after it', async () => {
      const before = await boot();
      const { code, byId, text } = await apply();
      expect(code, text).toBe(0);
      const after = await boot();
      expect(after).not.toBe(before);
      expect(byId.get('restart')).toMatchObject({
        result: true,
        changes: { boot_id: { old: before, new: after } },
        comment: expect.stringMatching(
          /^The system was restarted and came back within \d+ seconds$/,
        ),
      });
      // Each state ran once, in order; requisites and accumulators reach across the restart.
      const numbers = [...byId.values()].map(({ __run_num__ }) => __run_num__);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect([...byId.values()].map(({ result }) => result)).not.toContain(false);
      expect(await lab.sh('web1', 'cat', '/srv/after')).toBe('kept False\n');
      expect((await lab.sh('web1', 'cat', '/srv/boot')).trim()).toBe(after);
    }, 300_000);

    test('a second run restarts nothing and changes nothing', async () => {
      const before = await boot();
      const { code, byId, text } = await apply();
      expect(code, text).toBe(0);
      expect(byId.get('restart')).toMatchObject({ changes: nothing, result: true });
      expect([...byId.values()].filter(({ changes }) => Object.keys(changes).length > 0)).toEqual(
        [],
      );
      expect(await boot()).toBe(before);
    }, 240_000);

    test('a host that does not come back is unreachable; the states that ran are reported', async () => {
      await lab.sh('web1', 'rm', '/srv/before');
      await lab.sh('web1', 'systemctl', 'disable', 'ssh');
      project.write({
        'states/all.sls': sls
          .replace('wait: 120', 'wait: 8')
          .replaceAll('srv/before', 'srv/before2'),
      });
      const { code, byId, text } = await apply();
      expect(code, text).toBe(68);
      expect(text).toContain('web1 did not come back within 8 s after its restart');
      expect(byId.get('before')?.result).toBe(true);
      expect(byId.has('after')).toBe(false);
    }, 200_000);
  },
);
