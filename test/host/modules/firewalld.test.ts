// @module-tag slow
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as portCalls from '../../../src/modules/firewall/exec/firewalld/ports.ts';
import * as serviceCalls from '../../../src/modules/firewall/exec/firewalld/services.ts';
import * as sourceCalls from '../../../src/modules/firewall/exec/firewalld/sources.ts';
import * as zoneCalls from '../../../src/modules/firewall/exec/firewalld/zones.ts';
import { parseZones } from '../../../src/modules/firewall/firewall-cmd.ts';
import { zoneItemKinds } from '../../../src/modules/firewall/firewall-zone.ts';
import { present } from '../../../src/modules/firewall/states/firewalld/present.ts';
import { service } from '../../../src/modules/firewall/states/firewalld/service.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const firewalld = { ...portCalls, ...serviceCalls, ...sourceCalls, ...zoneCalls };
const canRun =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-n', 'true']).status === 0 &&
  ['/usr/sbin/firewalld', '/usr/bin/dbus-daemon', '/usr/sbin/nft'].every(one => existsSync(one));

test('zones are read with settings of several lines', () => {
  const text =
    'public (active)\n  target: default\n  services: ssh dhcpv6-client\n  masquerade: no\n  rich rules: \n\trule family="ipv4" accept\n\trule service name="x" accept\n\nwork\n  target: DROP\n';
  expect(parseZones(text)).toEqual({
    'public (active)': {
      target: ['default'],
      services: ['ssh dhcpv6-client'],
      masquerade: ['no'],
      'rich rules': ['', 'rule family="ipv4" accept', 'rule service name="x" accept'],
    },
    work: { target: ['DROP'] },
  });
});

test('rich rules are quoted as firewalld quotes them', () => {
  const rule =
    'rule family="ipv4" source address="192.168.0.0/16" port port="22" protocol="tcp" accept';
  for (const given of [
    rule,
    "rule family='ipv4' source address=192.168.0.0/16 port port='22' protocol=tcp accept",
  ])
    expect(zoneItemKinds.rich_rules.read(given)).toBe(rule);
  expect(zoneItemKinds.rich_rules.read('rule service name=ssh log prefix="a = b" accept')).toBe(
    'rule service name="ssh" log prefix="a = b" accept',
  );
});

describe.skipIf(!canRun)('the real firewalld with a bus and a network namespace of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-firewalld-'));
  const space = `tsalt-fwd-${process.pid}`;
  const path = process.env.PATH;
  const bus = `unix:path=${folder}/bus`;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    expect(spawnSync('ip', ['netns', 'add', space]).status).toBe(0);
    mkdirSync(join(folder, 'etc', 'zones'), { recursive: true });
    writeFileSync(
      join(folder, 'bus.conf'),
      `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>${bus}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow send_type="signal"/><allow receive_sender="*"/></policy></busconfig>`,
    );
    writeFileSync(
      join(folder, 'firewall-cmd'),
      `#!/bin/sh\nDBUS_SYSTEM_BUS_ADDRESS=${bus} exec /usr/bin/python3 /usr/bin/firewall-cmd "$@"\n`,
    );
    chmodSync(join(folder, 'firewall-cmd'), 0o755);
    const start = (command: string, ...args: string[]): void => {
      const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: bus };
      running.push(spawn(command, args, { env, stdio: 'ignore' }));
    };
    start('dbus-daemon', `--config-file=${folder}/bus.conf`, '--nofork', '--nopidfile');
    await until(() => existsSync(join(folder, 'bus')));
    start(
      'ip',
      ...['netns', 'exec', space, '/usr/bin/python3', '/usr/sbin/firewalld'],
      ...[
        '--nofork',
        '--nopid',
        '--system-config',
        join(folder, 'etc'),
        '--log-file',
        join(folder, 'log'),
      ],
    );
    await until(() => spawnSync(join(folder, 'firewall-cmd'), ['--state']).status === 0);
    process.env.PATH = `${folder}:${path}`;
  }, 300_000);

  const until = async (isSo: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 200 && !isSo(); turn += 1)
      await new Promise(resolve => setTimeout(resolve, 200));
    expect(isSo()).toBe(true);
  };

  afterAll(async () => {
    process.env.PATH = path;
    for (const child of running.reverse()) {
      const ended = new Promise(resolve => child.once('exit', resolve));
      child.kill();
      await ended;
    }
    spawnSync('ip', ['netns', 'del', space]);
    removeFolder(folder);
  }, 240_000);

  const context = contextOf({ firewalld });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  const shown = (...args: string[]): string =>
    spawnSync(join(folder, 'firewall-cmd'), args).stdout.toString();

  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const all = () =>
      shown('--permanent', '--list-all-zones') + shown('--permanent', '--get-services');
    const before = all();
    const told = await within(testing(context), work);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(all()).toBe(before);
    const done = await run(work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(done.changes).not.toEqual({});
    const again = await run(work);
    expect(again, String(again.comment)).toMatchObject({ result: true });
    expect(again.changes).toEqual({});
    return done;
  };

  test('a service gets its ports and protocols, and a zone lets it through', async () => {
    const done = await settles(() =>
      service('tsalt', { ports: ['8080/tcp', '53/udp'], protocols: ['esp'] }),
    );
    expect(done.changes).toMatchObject({
      ports: { old: [], new: ['8080/tcp', '53/udp'] },
      protocols: { old: [], new: ['esp'] },
    });
    await settles(() => service('tsalt', { ports: ['8443/tcp'] }));
    expect(shown('--permanent', '--service=tsalt', '--get-ports').trim()).toBe('8443/tcp');
    await settles(() => present('tsaltzone', { services: ['tsalt'], sources: ['192.0.2.0/24'] }));
    // The current rules, also in the kernel.
    expect(shown('--zone=tsaltzone', '--list-services').trim()).toBe('tsalt');
    const { stdout } = spawnSync('ip', [
      'netns',
      'exec',
      space,
      'nft',
      'list',
      'table',
      'inet',
      'firewalld',
    ]);
    expect(stdout.toString()).toMatch(/chain filter_IN_tsaltzone_allow \{[^}]*tcp dport 8443/);
  }, 300_000);

  test('a zone has what is named, and only that when it is pruned', async () => {
    const zone = (options: Parameters<typeof present>[1]) => () => present('tsaltmore', options);
    const rule = 'rule family=ipv4 source address=198.51.100.0/24 port port=22 protocol=tcp accept';
    const done = await settles(
      zone({
        ports: ['80/tcp', '443/tcp'],
        port_fwd: ['8022:22:tcp', '8023:23:tcp:192.0.2.7'],
        block_icmp: ['echo-request'],
        interfaces: ['tsalt0'],
        rich_rules: [rule],
        masquerade: true,
      }),
    );
    expect(Object.keys(done.changes).sort()).toEqual(
      [
        'icmp_types',
        'interfaces',
        'masquerade',
        'port_fwd',
        'ports',
        'rich_rules',
        'tsaltmore',
      ].sort(),
    );
    const pruned = await settles(
      zone({
        ports: ['443/tcp'],
        prune_ports: true,
        port_fwd: ['8022:22:tcp'],
        prune_port_fwd: true,
        prune_rich_rules: true,
        masquerade: true,
      }),
    );
    expect(pruned.changes.ports).toEqual({ old: ['80/tcp', '443/tcp'], new: ['443/tcp'] });
    expect(shown('--zone=tsaltmore', '--list-ports').trim()).toBe('443/tcp');
    expect(shown('--zone=tsaltmore', '--list-forward-ports').trim()).toBe(
      'port=8022:proto=tcp:toport=22:toaddr=',
    );
    await settles(zone({ default: true, masquerade: true }));
    expect(shown('--get-default-zone').trim()).toBe('tsaltmore');
  }, 300_000);

  test('an error of firewalld fails the state with its message', async () => {
    expect(await run(() => present('public', { ports: ['99999/tcp'] }))).toMatchObject({
      result: false,
      comment: 'Error: firewall-cmd failed: Error: INVALID_PORT: 99999',
    });
    expect(await run(() => serviceCalls.get_service_ports('ssh'))).toEqual(['22/tcp']);
    await expect(run(() => serviceCalls.get_service_ports('none'))).rejects.toThrow(
      'does not exist',
    );
  }, 240_000);
});
