import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

const missing = labMissing();
const lab = createLab(25);
const ids = ['web1', 'web2', 'web3'];

const files = {
  'states/app.sls': `/etc/app.conf:
  file.managed:
    - source: salt://app.conf
app:
  service.running:
    - watch: [{file: /etc/app.conf}]
`,
  'states/app.conf': 'workers 1\n',
  'states/unit.sls': `/etc/systemd/system/app.service:
  file.managed:
    - contents: |
        [Service]
        ExecStartPre=/bin/sh -c 'echo started >> /root/starts'
        ExecStart=/bin/sleep infinity
systemctl daemon-reload:
  cmd.run:
    - onchanges: [{file: /etc/systemd/system/app.service}]
`,
};

describe.skipIf(missing)(`a plan of three booted hosts${missing ? ` (${missing})` : ''}`, () => {
  let project: LabProject;

  beforeAll(async () => {
    const hosts = Object.fromEntries(ids.map(id => [id, { user: 'root' }]));
    project = await startLabProject(lab, hosts, { files, settings: 'cachedir: cache\n' });
    const { code, stdout } = await project.run('*', 'state.apply', 'unit,app');
    expect(code, stdout).toBe(0);
  }, 300_000);

  afterAll(() => project?.close());

  /** A file of each host. */
  const read = (path: string): Promise<string[]> =>
    Promise.all(ids.map(id => lab.sh(id, 'cat', path)));
  const apply = () => project.run('apply', 'app.plan', '--out=json', '--static');

  test('a host that was changed by hand stops, the others change, a service restarts once', async () => {
    project.write({ 'states/app.conf': 'workers 2\n' });
    const planned = await project.run('web*', 'state.apply', 'app', '--plan-out', 'app.plan');
    expect(planned.code, planned.stderr).toBe(0);
    expect(await read('/etc/app.conf')).toEqual(ids.map(() => 'workers 1\n'));
    const shown = await project.run('show', 'app.plan');
    expect(shown.stdout).toContain('3 hosts alike: web1, web2, web3');
    expect(shown.stdout).toContain('+workers 2');

    await lab.sh('web3', 'sh', '-c', 'echo workers 7 > /etc/app.conf');
    const applied = await apply();
    expect(applied.code).toBe(22);
    const { web3 } = JSON.parse(applied.stdout) as Record<string, string>;
    expect(web3).toContain('web3 differs from the plan');
    expect(web3).toMatch(/\/etc\/app\.conf[\s\S]*now: [\s\S]*-workers 7/);
    expect(await read('/etc/app.conf')).toEqual(['workers 2\n', 'workers 2\n', 'workers 7\n']);
    const starts = ['started\nstarted\n', 'started\nstarted\n', 'started\n'];
    expect(await read('/root/starts')).toEqual(starts);

    const again = await apply();
    expect(again.code).toBe(22);
    expect(again.stdout).toContain('the plan is out of date: its changes are already in place');
    expect(await read('/root/starts')).toEqual(starts);
  }, 300_000);
});
