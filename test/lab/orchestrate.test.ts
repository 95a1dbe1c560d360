import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

const missing = labMissing();
const lab = createLab(24);

const files = {
  'states/orch/site.sls': `prepared:
  salt.state:
    - tgt: lb1
    - sls: prepared
database:
  salt.state:
    - tgt: db1
    - sls: db
    - require: [{salt: prepared}]
address:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: ["hostname -I | cut -d' ' -f1"]
    - kwarg: {python_shell: True}
    - require: [{salt: database}]
password:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: [cat /root/db-password]
    - require: [{salt: database}]
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: web
    - pillar:
        db: __slot__:salt:orch.result(address, db1)
        password: __slot__:salt:orch.result(password, db1)
    - require: [{salt: address}, {salt: password}]
load balancer:
  salt.state:
    - tgt: lb1
    - sls: lb
    - require: [{salt: web servers}]
`,
  'states/prepared.sls': 'echo prepared >> /root/prepared:\n  cmd.run\n',
  'states/db.sls': `may be installed:
  cmd.run:
    - name: 'false'
    - onlyif: test -e /root/broken
postgresql:
  pkg.installed:
    - require: [{cmd: may be installed}]
made here:
  cmd.run:
    - name: umask 077; head -c 18 /dev/urandom | base64 > /root/db-password
    - creates: /root/db-password
    - require: [{pkg: postgresql}]
/etc/postgresql/15/main/conf.d/listen.conf:
  file.managed:
    - contents: listen_addresses = '*'
    - require: [{pkg: postgresql}]
/etc/postgresql/15/main/pg_hba.conf:
  file.append:
    - text: host all app 0.0.0.0/0 scram-sha-256
    - require: [{pkg: postgresql}]
started:
  service.running:
    - name: postgresql@15-main
    - watch:
      - file: /etc/postgresql/15/main/conf.d/listen.conf
      - file: /etc/postgresql/15/main/pg_hba.conf
role:
  cmd.run:
    - name: cd / && runuser -u postgres -- psql -c "CREATE ROLE app LOGIN PASSWORD '$(cat /root/db-password)'"
    - unless: cd / && runuser -u postgres -- psql -tAc 'SELECT rolname FROM pg_roles' | grep -qx app
    - require: [{service: started}, {cmd: made here}]
`,
  'states/web.sls': `#!jinja|yaml
/etc/app.conf:
  file.managed:
    - mode: '0600'
    - contents: |
        db={{ pillar.db }}
        password={{ pillar.password }}
database answers:
  cmd.run:
    - name: bash -c '</dev/tcp/{{ pillar.db }}/5432'
    - unless: systemctl is-active app
    - retry: {attempts: 30, interval: 1}
/etc/systemd/system/app.service:
  file.managed:
    - contents: |
        [Service]
        ExecStart=/bin/sh -c 'cp /etc/app.conf /run/app.seen; exec sleep infinity'
systemctl daemon-reload:
  cmd.run:
    - onchanges: [{file: /etc/systemd/system/app.service}]
app:
  service.running:
    - require: [{cmd: database answers}, {cmd: systemctl daemon-reload}]
    - watch: [{file: /etc/app.conf}]
`,
  'states/lb.sls': `#!jinja|yaml
/etc/haproxy.cfg:
  file.managed:
    - contents: |
        backend web
        {%- for id, addresses in salt['mine.get']('web*', 'network.ip_addrs') | dictsort %}
          server {{ id }} {{ addresses[0] }}:80
        {%- endfor %}
`,
};

describe.skipIf(missing)(
  `a database, web servers and a load balancer by one orchestration${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;

    beforeAll(async () => {
      const entry = { user: 'root' };
      project = await startLabProject(
        lab,
        { db1: entry, web1: entry, web2: entry, lb1: entry },
        {
          files,
          settings: 'cachedir: cache\nmine_functions: {network.ip_addrs: []}\nmine_reach: roster\n',
        },
      );
      await lab.bring('db1', 'postgresql');
    }, 900_000);

    afterAll(() => project?.close());

    const site = (...args: string[]) => project.run('--orch', 'orch.site', ...args);
    const read = async (host: string, path: string): Promise<string> =>
      (await lab.sh(host, 'sh', '-c', `cat ${path} 2>/dev/null || true`)).trim();
    let jid = '';

    test('a database that fails leaves the web servers alone; exit code and report name it', async () => {
      await lab.sh('db1', 'touch', '/root/broken');
      const failed = await site('--report', 'markdown=report.md');
      expect(failed.code).toBe(20);
      expect(failed.stdout).toContain('Run failed on minions: db1');
      const report = readFileSync(join(project.dir, 'report.md'), 'utf8');
      expect(report).toContain('database');
      expect(report).toContain('Run failed on minions: db1');
      for (const host of ['web1', 'web2']) expect(await read(host, '/etc/app.conf')).toBe('');
      expect(await read('lb1', '/etc/haproxy.cfg')).toBe('');
      jid = /--resume (\d{20})/.exec(failed.stderr)?.[1] ?? '';
    });

    test('resumed after the repair, only the rest runs', async () => {
      await lab.sh('db1', 'rm', '/root/broken');
      const resumed = await site('--resume', jid);
      expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
      expect(await read('lb1', '/root/prepared')).toBe('prepared');
      const password = await read('db1', '/root/db-password');
      expect(password).toMatch(/^[\w+/]{24}$/);
      for (const host of ['web1', 'web2'])
        expect(await read(host, '/run/app.seen')).toBe(
          `db=${project.addresses.db1}\npassword=${password}`,
        );
      expect(await read('lb1', '/etc/haproxy.cfg')).toBe(
        `backend web\n  server web1 ${project.addresses.web1}:80\n  server web2 ${project.addresses.web2}:80`,
      );
      const roles = 'cd / && runuser -u postgres -- psql -tAc "SELECT rolname FROM pg_roles"';
      expect(await lab.sh('db1', 'sh', '-c', roles)).toContain('app\n');
    });

    test('the next run finds the database, the web servers and the load balancer as they are', async () => {
      const { code, stdout } = await site('--skip', 'prepared', '--out=json', '--static');
      expect(code).toBe(0);
      const { control } = JSON.parse(stdout) as {
        control: Record<string, { __id__: string; comment: string }>;
      };
      const comments = Object.values(control).map(({ __id__, comment }) => `${__id__}: ${comment}`);
      expect(comments).toContain('database: States ran successfully. No changes made to db1.');
      expect(comments).toContain('load balancer: States ran successfully. No changes made to lb1.');
      expect(comments.find(text => text.startsWith('web servers'))).not.toContain('Updating');
    });
  },
);
