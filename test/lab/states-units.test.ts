import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = {
  __id__: string;
  result: boolean | null;
  changes: Record<string, unknown>;
  comment: string;
};

const missing = labMissing();
const lab = createLab(18);
const host = 'units';

/** Units that states bring, what waits for them, and mounts whose options change. */
const tree = `
{%- set every = salt['pillar.get']('every', '1h') %}
service:
  file.managed:
    - name: /etc/systemd/system/tick.service
    - contents: |
        [Service]
        Type=oneshot
        ExecStart=/bin/sh -c 'echo {{ every }} >/run/ticked'
timer:
  file.managed:
    - name: /etc/systemd/system/tick.timer
    - contents: |
        [Timer]
        OnActiveSec={{ every }}
        OnUnitActiveSec={{ every }}
        [Install]
        WantedBy=timers.target
  service.running:
    - name: tick.timer
    - enable: true
    - watch:
      - file: timer
      - file: service
script:
  cmd.wait_script:
    - source: salt://note.sh
    - args: {{ every }}
    - watch:
      - file: timer
units/changed:
  event.send:
    - data: {every: {{ every }}}
    - onchanges:
      - file: timer
units/changed/too:
  event.fire_master:
    - data: null
    - onchanges:
      - file: timer
salt://dropped.txt:
  file.not_cached: []
/srv/scratch:
  mount.mounted:
    - device: tmpfs
    - fstype: tmpfs
    - mkmnt: true
    - opts: [size=1m, mode=0750{{ ', noexec' if every == '2h' else '' }}]
answers:
  debconf.set_file:
    - source: salt://answers
    - template: jinja
    - context: {every: {{ every }}}
template:
  file.managed:
    - name: /srv/extra
    - source: salt://extra
    - template: jinja
    - every: {{ every }}
ignored:
  file.absent:
    - name: /srv/none
    - mode: 600
`;

const files: Record<string, string> = {
  'states/units.sls': tree,
  'states/note.sh': '#!/bin/sh\necho "$1" >>/srv/notes\n',
  'states/answers': 'tsalt-lab tsalt-lab/every string {{ every }}\n',
  'states/extra': 'every {{ every }}\n',
  'states/dropped.txt': 'dropped\n',
};

/** Everything that the states could change. */
const look = `cd /
  find etc srv var/cache/debconf -xdev -not -name '*-old' -type f -exec sha256sum {} + | sort
  cat proc/mounts; systemctl list-unit-files 'tick*' --no-legend; cat run/ticked 2>/dev/null || true
  find root var/cache -xdev -name dropped.txt`;

describe.skipIf(missing)(
  `units, mounts and waiting states of a Debian host${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;

    const inside = (command: string): Promise<string> => lab.sh(host, 'sh', '-c', command);

    beforeAll(async () => {
      project = await startLabProject(
        lab,
        { [host]: { user: 'root' } },
        { files, settings: 'renderer: jinja|yaml\n' },
      );
      expect((await run('cp.cache_file', 'salt://dropped.txt')).stdout).toContain('dropped.txt');
    }, 600_000);

    afterAll(() => project?.close());

    const run = (...args: string[]) => project.run(host, ...args, '--static', '--out', 'json');

    const apply = async (...args: string[]) => {
      const { stdout, stderr } = await run('state.apply', 'units', ...args);
      const all = (JSON.parse(stdout) as Record<string, Record<string, StateResult>>)[host] ?? {};
      const states = Object.entries(all).map(([tag, state]) => {
        const [module, id, , fun] = tag.split('_|-');
        return [`${id} ${module}.${fun}`, state] as const;
      });
      const changed = states
        .filter(([, { changes }]) => Object.keys(changes).length > 0)
        .map(([name]) => name);
      const wrong = states
        .filter(([, { result }]) => result === false)
        .map(([name, { comment }]) => `${name}: ${comment}`);
      return { states: Object.fromEntries(states), changed, wrong, stderr };
    };

    test('a prediction touches nothing and knows no service that is yet to come', async () => {
      const before = await inside(look);
      const { states, wrong, stderr } = await apply('test=True');
      expect(wrong).toEqual([]);
      expect(states['timer service.running']).toMatchObject({ result: null });
      expect(states['salt://dropped.txt file.not_cached']).toMatchObject({ result: null });
      expect(await inside(look)).toBe(before);
      expect(stderr).toContain(
        "'mode' is not an argument of 'file.absent' and is ignored, in SLS 'units', ID 'ignored'",
      );
    });

    test('new units are loaded, started and enabled; what waits is woken', async () => {
      const { wrong, changed } = await apply();
      expect(wrong).toEqual([]);
      expect(changed.toSorted()).toEqual([
        '/srv/scratch mount.mounted',
        'answers debconf.set_file',
        'salt://dropped.txt file.not_cached',
        'script cmd.wait_script',
        'service file.managed',
        'template file.managed',
        'timer file.managed',
        'timer service.running',
        'units/changed event.send',
        'units/changed/too event.fire_master',
      ]);
      expect(
        await inside(
          'systemctl is-active tick.timer; systemctl is-enabled tick.timer; cat /srv/notes /srv/extra; debconf-show tsalt-lab; find / -xdev -name dropped.txt; findmnt -no OPTIONS /srv/scratch | grep -o "mode=750\\|noexec"',
        ),
      ).toBe('active\nenabled\n1h\nevery 1h\n* tsalt-lab/every: 1h\nmode=750\n');
    });

    test('the next run changes nothing', async () => {
      const before = await inside(look);
      expect(await apply()).toMatchObject({ wrong: [], changed: [] });
      expect(await inside(look)).toBe(before);
    });

    test('a changed unit is reloaded, a changed option remounted', async () => {
      const pillar = 'pillar={"every": "2h"}';
      const { wrong, states } = await apply(pillar);
      expect(wrong).toEqual([]);
      expect(states['timer service.running']).toMatchObject({
        comment: 'Service restarted',
        changes: { 'tick.timer': true },
      });
      expect(states['/srv/scratch mount.mounted']).toMatchObject({
        changes: { umount: 'Forced remount because options (noexec) changed', persist: 'update' },
      });
      expect(
        await inside(
          'systemctl show tick.timer -p NeedDaemonReload --value; systemctl show tick.timer -p TimersMonotonic --value | grep -c 2h; cat /srv/notes /srv/extra; findmnt -no OPTIONS /srv/scratch | grep -o noexec',
        ),
      ).toBe('no\n2\n1h\n2h\nevery 2h\nnoexec\n');
      expect(await apply(pillar)).toMatchObject({ wrong: [], changed: [] });
    });
  },
);
