import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

const missing = labMissing();
const lab = createLab(19);

const networkFile = '/etc/systemd/network/10-host0.network';

/** Each cuts the host off in its own way; what else it does is to stay. */
const states: Readonly<Record<string, string>> = {
  network: `
${networkFile}:
  file.managed:
    - contents: |
        [Match]
        Name=host0
        [Network]
        Address=192.0.2.7/24
/etc/systemd/network/99-new.network:
  file.managed:
    - contents: '# new'
/srv/marker:
  file.managed:
    - contents: stays
ip address flush dev host0 && systemctl restart systemd-networkd:
  cmd.run:
    - onchanges:
      - file: ${networkFile}
`,
  sshd: `
/etc/ssh/sshd_config:
  file.append:
    - text: Port 2222
ssh:
  service.running:
    - watch:
      - file: /etc/ssh/sshd_config
`,
  shell: `
ops:
  user.present:
    - shell: /usr/sbin/nologin
`,
  keys: `
/home/ops/.ssh/authorized_keys:
  file.absent: []
`,
  firewall: `
nft -f /root/drop.nft:
  cmd.run: []
`,
  cut: `
ip link set host0 down:
  cmd.run: []
after the cut:
  cmd.run:
    - name: sleep 200
`,
  slow: `
/etc/hosts:
  file.append:
    - text: 192.0.2.9 slow
slow:
  cmd.run:
    - name: sleep 200
`,
  fine: `
/etc/sysctl.d/50-fine.conf:
  file.managed:
    - contents: '# fine'
`,
  restart: `
again:
  system.reboot: []
`,
};

describe.skipIf(missing)(`guarded runs${missing ? ` (${missing})` : ''}`, () => {
  let project: LabProject;
  const sh = (command: string): Promise<string> => lab.sh('web1', 'sh', '-c', command);
  const apply = async (sls: string, ...args: string[]) => {
    const { code, stdout, stderr } = await project.run('web1', 'state.apply', sls, ...args);
    return { code, text: stdout + stderr };
  };
  const left = (): Promise<string> =>
    sh(
      'ls -d /root/.cache/tsalt-ssh/guard-* 2>/dev/null; systemctl list-units --no-legend "tsalt-guard*"',
    );

  beforeAll(async () => {
    project = await startLabProject(
      lab,
      { web1: { user: 'ops', sudo: true, sudo_passwd: { env: 'OPS_PASS' }, timeout: 5 } },
      {
        files: Object.fromEntries(
          Object.entries(states).map(([name, text]) => [`states/${name}.sls`, text]),
        ),
        env: { OPS_PASS: 'ops-pass' },
      },
    );
  }, 600_000);

  afterAll(() => project?.close(), 240_000);

  test.each([
    ['network', networkFile, `sha256sum < ${networkFile}`],
    ['sshd', '/etc/ssh/sshd_config', 'sha256sum < /etc/ssh/sshd_config'],
    ['sshd', '/etc/ssh/sshd_config', 'sha256sum < /etc/ssh/sshd_config', '--transport=openssh'],
    ['shell', '/etc/passwd', 'getent passwd ops'],
    [
      'keys',
      '/home/ops/.ssh/authorized_keys',
      'stat -c "%a %U %s %Y" /home/ops/.ssh/authorized_keys',
    ],
  ])(
    'a state that cuts the login is taken back: %s',
    async (sls, path, look, ...options) => {
      const before = await sh(look);
      const { code, text } = await apply(sls, '--guard=4', ...options);
      expect(code, text).toBe(69);
      expect(text).toMatch(/web1 rolled back, since it was not reached within 4 s/);
      expect(text).toContain(path);
      expect(text).toMatch(/Succeeded: \d/);
      expect(await sh(look)).toBe(before);
      expect(await left()).toBe('');
      const ping = await project.run('web1', 'test.ping');
      expect(ping.code, ping.stdout).toBe(0);
    },
    400_000,
  );

  test('changes unrelated to the login stay; new files beside restored ones are removed', async () => {
    expect((await sh('cat /srv/marker')).trim()).toBe('stays');
    expect(await sh(`ls ${networkFile.replace(/\/[^/]+$/, '')}`)).not.toContain('99-new');
  });

  test('rules of a firewall are taken back', async () => {
    await lab.bring('web1', 'nftables');
    await sh('apt-get -qq update && apt-get -qq install -y --no-install-recommends nftables');
    const drop = 'tcp dport 22 tcp flags & (syn | ack) == syn drop';
    await sh(
      `nft add table inet kept && printf '%s' 'table inet cut { chain input { type filter hook input priority 0;\n${drop}\n}\n}\n' > /root/drop.nft`,
    );
    const before = await sh('nft list ruleset');
    const { code, text } = await apply('firewall', '--guard=4');
    expect(code, text).toBe(69);
    expect(text).toContain('the rules of nft');
    expect(await sh('nft list ruleset')).toBe(before);
  }, 300_000);

  test('a run whose link breaks is taken back without waiting', async () => {
    const { code, text } = await apply('cut', '--guard=300');
    expect(code, text).toBe(69);
    expect(text).toMatch(/rolled back, since the connection was lost/);
    expect(text).toContain('the interface host0');
    expect(await left()).toBe('');
  }, 240_000);

  test('a run that is cancelled is taken back by the host alone', async () => {
    const { code, text } = await apply('slow', '--guard=300', '--timeout=30');
    expect(code, text).toBe(69);
    await expect.poll(() => sh('grep -c slow /etc/hosts || true'), { timeout: 30_000 }).toBe('0\n');
    const next = await apply('fine', 'test=True');
    expect(next.text).toContain('An earlier guarded run was not confirmed: restored /etc/hosts.');
    expect(await left()).toBe('');
  }, 240_000);

  test('a host that is reached keeps everything, and nothing of the guard', async () => {
    const { code, text } = await apply('fine', '--guard=60');
    expect(code, text).toBe(0);
    expect(await sh('cat /etc/sysctl.d/50-fine.conf')).toContain('fine');
    await expect.poll(left, { timeout: 30_000 }).toBe('');
  }, 240_000);

  test('a restart has no place in a guarded run', async () => {
    const { code, text } = await apply('restart', '--guard=60');
    expect(code, text).toBe(64);
    expect(text).toContain('web1: a guarded run cannot restart the host.');
  }, 240_000);
});
