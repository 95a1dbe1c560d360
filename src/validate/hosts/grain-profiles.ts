import { closestMatch } from '../../data/closest-match.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { PlainDict } from '../../protocol/plain.ts';

const debian = (release: string, codename: string, more: PlainDict): PlainDict => ({
  os: 'Debian',
  os_family: 'Debian',
  osfullname: 'Debian GNU/Linux',
  osrelease: release,
  osrelease_info: [Number(release)],
  osmajorrelease: Number(release),
  oscodename: codename,
  osfinger: `Debian-${release}`,
  osarch: 'amd64',
  lsb_distrib_id: 'Debian GNU/Linux',
  lsb_distrib_release: release,
  lsb_distrib_codename: codename,
  lsb_distrib_description: `Debian GNU/Linux ${release} (${codename})`,
  ...more,
});

const ubuntu = (major: number, update: number, codename: string, more: PlainDict): PlainDict => ({
  os: 'Ubuntu',
  os_family: 'Debian',
  osfullname: 'Ubuntu',
  osrelease: `${major}.04`,
  osrelease_info: [major, 4],
  osmajorrelease: major,
  oscodename: codename,
  osfinger: `Ubuntu-${major}.04`,
  osarch: 'amd64',
  lsb_distrib_id: 'Ubuntu',
  lsb_distrib_release: `${major}.04`,
  lsb_distrib_codename: codename,
  lsb_distrib_description: `Ubuntu ${major}.04.${update} LTS`,
  ...more,
});

const rocky = (major: number, minor: number, codename: string, more: PlainDict): PlainDict => ({
  os: 'Rocky',
  os_family: 'RedHat',
  osfullname: 'Rocky Linux',
  osrelease: `${major}.${minor}`,
  osrelease_info: [major, minor],
  osmajorrelease: major,
  oscodename: codename,
  osfinger: `Rocky Linux-${major}`,
  osarch: 'x86_64',
  lsb_distrib_id: 'Rocky Linux',
  lsb_distrib_release: `${major}.${minor}`,
  lsb_distrib_description: `Rocky Linux ${major}.${minor} (${codename})`,
  selinux: { enabled: true, enforced: 'Enforcing' },
  path: '/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin',
  ...more,
});

const alpine: PlainDict = {
  os: 'Alpine',
  os_family: 'Alpine',
  osfullname: 'Alpine Linux',
  osrelease: '3.20.3',
  osrelease_info: [3, 20, 3],
  osmajorrelease: 3,
  osfinger: 'Alpine Linux-3',
  osarch: 'x86_64',
  lsb_distrib_id: 'Alpine Linux',
  lsb_distrib_release: '3.20.3',
  lsb_distrib_description: 'Alpine Linux v3.20',
  kernelrelease: '6.6.58-0-virt',
  kernelversion: '#1-Alpine SMP PREEMPT_DYNAMIC',
  init: 'openrc',
  shell: '/bin/ash',
};

/** A kernel and the version of systemd. */
const kernel = (kernelrelease: string, kernelversion: string, systemd: string): PlainDict => ({
  kernelrelease,
  kernelversion,
  init: 'systemd',
  systemd: { version: systemd },
});

/**
 * The systems as which hosts can be checked, by the names that `--grains` takes. Names, releases
 * and codenames are from each system's os-release file.
 */
const systems: Readonly<Record<string, PlainDict>> = {
  'debian-12': debian(
    '12',
    'bookworm',
    kernel('6.1.0-28-amd64', '#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)', '252'),
  ),
  'debian-13': debian(
    '13',
    'trixie',
    kernel('6.12.41+deb13-amd64', '#1 SMP PREEMPT_DYNAMIC Debian 6.12.41-1 (2025-08-12)', '257'),
  ),
  'ubuntu-22.04': ubuntu(22, 5, 'jammy', kernel('5.15.0-125-generic', '#135-Ubuntu SMP', '249')),
  'ubuntu-24.04': ubuntu(
    24,
    1,
    'noble',
    kernel('6.8.0-49-generic', '#49-Ubuntu SMP PREEMPT_DYNAMIC', '255'),
  ),
  'rocky-8': rocky(8, 10, 'Green Obsidian', kernel('4.18.0-553.el8_10.x86_64', '#1 SMP', '239')),
  'rocky-9': rocky(
    9,
    4,
    'Blue Onyx',
    kernel('5.14.0-427.13.1.el9_4.x86_64', '#1 SMP PREEMPT_DYNAMIC', '252'),
  ),
  'alpine-3': alpine,
};

/** The profile of hosts about which nothing is known. */
export const defaultProfile = 'debian-12';

/** Hardware, network and the rest of a usual virtual machine. */
const machine: PlainDict = {
  kernel: 'Linux',
  kernelparams: [
    ['BOOT_IMAGE', '/boot/vmlinuz'],
    ['root', '/dev/vda1'],
    ['ro', null],
  ],
  cpuarch: 'x86_64',
  cpu_model: 'QEMU Virtual CPU',
  cpu_flags: ['fpu', 'sse', 'sse2'],
  num_cpus: 2,
  mem_total: 4096,
  swap_total: 0,
  virtual: 'kvm',
  selinux: { enabled: false },
  biosversion: '1.16.2',
  biosreleasedate: '04/01/2014',
  manufacturer: 'QEMU',
  productname: 'Standard PC',
  shell: '/bin/bash',
  path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  cwd: '/root',
  pid: 4321,
  ps: 'ps -efHww',
  username: 'root',
  groupname: 'root',
  uid: 0,
  gid: 0,
  ip4_gw: '192.0.2.1',
  ip6_gw: false,
  ip_gw: true,
  ipv4: ['127.0.0.1', '192.0.2.10'],
  ipv6: ['::1'],
  ip_interfaces: { lo: ['127.0.0.1', '::1'], eth0: ['192.0.2.10'] },
  ip4_interfaces: { lo: ['127.0.0.1'], eth0: ['192.0.2.10'] },
  ip6_interfaces: { lo: ['::1'], eth0: [] },
  fqdn_ip4: ['192.0.2.10'],
  fqdn_ip6: [],
  hwaddr_interfaces: { lo: '00:00:00:00:00:00', eth0: '52:54:00:12:34:56' },
  dns: {
    nameservers: ['192.0.2.53'],
    ip4_nameservers: ['192.0.2.53'],
    ip6_nameservers: [],
    sortlist: [],
    domain: '',
    search: [],
    options: [],
  },
  locale_info: {
    defaultlanguage: 'en_US',
    defaultencoding: 'UTF-8',
    detectedencoding: 'utf-8',
    timezone: 'UTC',
  },
  machine_id: '00000000000000000000000000000000',
  saltversion: '3006.9',
  saltversioninfo: [3006, 9],
  saltpath: '/root/.cache/tsalt-ssh/host.js',
  pythonversion: [3, 10, 14, 'final', 0],
  nodeversion: [20, 19, 0],
  nodeexecutable: '/usr/bin/node',
  master: '',
  efi: false,
  'efi-secure-boot': false,
};

/** The names that `--grains` takes. */
export const profileNames: readonly string[] = Object.keys(systems);

/**
 * The grains of a usual machine with a system, for a host of this ID.
 *
 * @throws TsaltError `usage-value` for a name that is not in the list
 */
export const profileGrains = (name: string, id: string): PlainDict => {
  const system = Object.hasOwn(systems, name) ? systems[name] : undefined;
  if (system === undefined) {
    const meant = closestMatch(name, profileNames);
    throw new TsaltError('usage-value', `There is no grains profile '${name}'.`, {
      hint:
        meant === undefined
          ? `--grains takes ${profileNames.join(', ')}.`
          : `Did you mean '${meant}'?`,
    });
  }
  const [host = id, ...domain] = id.split('.');
  const names = {
    host,
    localhost: id,
    nodename: id,
    fqdn: id,
    fqdns: [id],
    domain: domain.join('.'),
    server_id: numberOf(id),
  };
  const all: PlainDict = { ...machine, ...names, ...system, id };
  return { ...all, systempath: String(all.path).split(':') };
};

/** A number that depends on the ID, as the host's own one does. */
const numberOf = (id: string): number => {
  let sum = 0x811c9dc5;
  for (const letter of id) sum = Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return sum >>> 1;
};
