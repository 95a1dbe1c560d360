import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatSimpleYaml,
  parseSimpleYaml,
} from '../../../src/modules/_shared/text/simple-yaml.ts';
import * as core from '../../../src/modules/grains/grains/core.ts';
import { _initSystem, os_data } from '../../../src/modules/grains/grains/core.ts';
import * as hardware from '../../../src/modules/grains/grains/core_hardware.ts';
import * as network from '../../../src/modules/grains/grains/core_network.ts';
import { readGrainsFile, writeGrainsFile } from '../../../src/modules/grains/grains-file.ts';
import { hostNames } from '../../../src/modules/grains/host-names.ts';
import { osRelease } from '../../../src/modules/grains/os-release.ts';
import { gateway4, gateway6 } from '../../../src/modules/grains/routes.ts';
import { pythonHash } from '../../../src/modules/grains/sip-hash.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const debian = `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
`;

test('Debian is named as Salt names it', () => {
  expect(osRelease(debian)).toEqual({
    os: 'Debian',
    os_family: 'Debian',
    osfullname: 'Debian GNU/Linux',
    oscodename: 'bookworm',
    osrelease: '12',
    osrelease_info: [12],
    osmajorrelease: 12,
    osfinger: 'Debian-12',
  });
});

test.each([
  [
    'NAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian',
    'Ubuntu',
    'Debian',
    'Ubuntu-22.04',
  ],
  [
    'NAME="Rocky Linux"\nVERSION="9.3 (Blue Onyx)"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"',
    'Rocky',
    'RedHat',
    'Rocky Linux-9',
  ],
  [
    'NAME="Red Hat Enterprise Linux"\nID="rhel"\nID_LIKE="fedora"\nVERSION_ID="9.3"',
    'RedHat',
    'RedHat',
    'Red Hat Enterprise Linux-9',
  ],
  [
    'NAME="CentOS Stream"\nID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="9"',
    'CentOS Stream',
    'RedHat',
    'CentOS Stream-9',
  ],
  ['NAME="Fedora Linux"\nID=fedora\nVERSION_ID=40', 'Fedora', 'RedHat', 'Fedora Linux-40'],
  [
    'NAME="Amazon Linux"\nID="amzn"\nID_LIKE="fedora"\nVERSION_ID="2023"',
    'Amazon',
    'RedHat',
    'Amazon Linux-2023',
  ],
  ['NAME="SLES"\nID="sles"\nID_LIKE="suse"\nVERSION_ID="15.5"', 'SUSE', 'Suse', 'SLES-15'],
  [
    'NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.5"',
    'SUSE',
    'Suse',
    'Leap-15',
  ],
  ['NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.19.1', 'Alpine', 'Alpine', 'Alpine Linux-3'],
  [
    'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="21.3"',
    'Mint',
    'Debian',
    'Linux Mint-21',
  ],
])('os, family and finger of %#', (text, os, family, osfinger) => {
  expect(osRelease(text)).toMatchObject({ os, os_family: family, osfinger });
});

test('a rolling release has no number and does no harm', () => {
  const arch = osRelease('NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling');
  expect(arch).toEqual({
    os: 'Arch',
    os_family: 'Arch',
    osfullname: 'Arch Linux',
    osbuild: 'rolling',
  });
});

test('all core grains are plain data and cheap', () => {
  const gather = (): Record<string, unknown> =>
    [core, hardware, network]
      .flatMap(module => Object.entries(module))
      .filter(([name]) => !name.startsWith('_'))
      .reduce((all, [, grain]) => Object.assign(all, (grain as () => object)()), {});
  const grains = gather();
  expect(JSON.parse(JSON.stringify(grains))).toEqual(grains);
  expect(grains).toMatchObject({ kernel: 'Linux', uid: process.getuid?.() });
  for (const name of ['host', 'fqdn', 'ipv4', 'num_cpus', 'mem_total', 'virtual', 'init', 'osarch'])
    expect(grains).toHaveProperty(name);
  const from = cpuTime();
  for (let turn = 0; turn < 10; turn += 1) gather();
  expect((cpuTime() - from) / 10).toBeLessThan(50); // about 3 ms here; a process start is more
});

test('formulas learn which Python their packages are for, as on a minion of Salt 3006.9', () => {
  expect(core.salt_version()).toMatchObject({
    saltversioninfo: [3006, 9],
    pythonversion: [3, 10, 14, 'final', 0],
  });
});

test('where runit is not installed, it is not the init system', () => {
  // Debian's openssh-server makes /run/runit all the same.
  const withFolder = (path: string): boolean => path === '/run/runit';
  expect(_initSystem(withFolder, () => false, '/start\0')).toBe('unknown');
  expect(_initSystem(withFolder, program => program === 'runsvdir', '/start\0')).toBe('runit');
});

test('the kernel is that of uname', () => {
  expect(os_data().kernel).toBe('Linux');
});

test('the full name comes from the hosts file', () => {
  const hosts = '127.0.0.1 localhost\n127.0.1.1 web1.example.com web1 # me\n';
  expect(hostNames('web1', hosts)).toEqual({
    localhost: 'web1',
    fqdn: 'web1.example.com',
    host: 'web1',
    domain: 'example.com',
  });
  expect(hostNames('web2', hosts)).toMatchObject({ fqdn: 'web2', domain: '' });
});

test('gateways are read from the routing tables', () => {
  const head =
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
  expect(gateway4(`${head}eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n`)).toBe(
    '192.168.2.1',
  );
  expect(gateway4(`${head}eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n`)).toBe(
    false,
  );
  const zeros = '0'.repeat(32);
  expect(
    gateway6(
      `${zeros} 00 ${zeros} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth0\n`,
    ),
  ).toBe('fe80::1');
  expect(
    gateway6(`${zeros} 00 ${zeros} 00 ${zeros} ffffffff 00000001 00000000 00200200 lo\n`),
  ).toBe(false);
});

test('hashes text as Python does', () => {
  const python311 = { word: 1, end: 3 };
  expect(pythonHash('minion1', python311)).toBe(-853002791419551944n);
  expect(pythonHash('web1.example.com', python311)).toBe(-2810876477703924724n);
  expect(pythonHash('é', python311)).toBe(6047309291227476195n);
});

test('a grains file that Salt wrote is read', () => {
  expect(
    parseSimpleYaml(`# static
roles:
- web
- db # second
rack: {row: a, unit: 7}
nested:
  deep:
    - name: x
      size: 10
    - [1, 'two', "3"]
enabled: true
text: "a: b # c"
empty:
`),
  ).toEqual({
    roles: ['web', 'db'],
    rack: { row: 'a', unit: 7 },
    nested: { deep: [{ name: 'x', size: 10 }, [1, 'two', '3']] },
    enabled: true,
    text: 'a: b # c',
    empty: null,
  });
});

test('unsupported syntax is refused with its line', () => {
  expect(() => parseSimpleYaml('a: 1\nb: &x 2\n', 'grains')).toThrow('grains:2 cannot be read');
  expect(() => parseSimpleYaml('a: 1\n   b: 2\n', 'grains')).toThrow('grains:2');
  expect(() => parseSimpleYaml('a: |\n  text\n', 'grains')).toThrow('grains:1');
  expect(() => parseSimpleYaml('a: 1\na: 2\n', 'grains')).toThrow('the key "a" comes twice');
});

test('written data is read back the same', () => {
  const value = fc.letrec<{ value: Plain }>(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(
        'yes',
        '1',
        '- x',
        'a: b',
        '# c',
        "it's",
        '"',
        '0x1',
        '1.5',
        '{}',
        '__proto__',
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string({ minLength: 1 }), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { minKeys: 1, noNullPrototype: true }), data => {
      expect(parseSimpleYaml(formatSimpleYaml(data))).toEqual(data);
    }),
    { numRuns: 500 },
  );
});

test('static grains are written atomically and read back', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tsalt-grains-')), 'salt', 'grains');
  expect(await readGrainsFile(file)).toEqual({});
  await writeGrainsFile({ roles: ['web'], deep: { er: 1 } }, file);
  expect(await readGrainsFile(file)).toEqual({ roles: ['web'], deep: { er: 1 } });
  writeFileSync(file, '- not\n- a mapping\n');
  await expect(readGrainsFile(file)).rejects.toThrow('not a mapping');
});
