import { nearest } from '../../data/nearest.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { PlainDict } from '../../protocol/plain.ts';

const debian = (release: string, codename: string): PlainDict => ({
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
});

const ubuntu = (major: number, codename: string): PlainDict => ({
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
  lsb_distrib_description: `Ubuntu ${major}.04 LTS`,
});

const rocky = (major: number, minor: number, codename: string): PlainDict => ({
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
  selinux: { enabled: true, enforced: 'Enforcing' },
});

const alpine: PlainDict = {
  os: 'Alpine',
  os_family: 'Alpine',
  osfullname: 'Alpine Linux',
  osrelease: '3.20.3',
  osrelease_info: [3, 20, 3],
  osmajorrelease: 3,
  oscodename: 'Alpine Linux v3.20',
  osfinger: 'Alpine Linux-3',
  osarch: 'x86_64',
  lsb_distrib_id: 'Alpine Linux',
  init: 'openrc',
  shell: '/bin/ash',
};

/** The systems that hosts can be checked as, by the names that `--grains` takes. */
const systems: Readonly<Record<string, PlainDict>> = {
  'debian-12': debian('12', 'bookworm'),
  'debian-13': debian('13', 'trixie'),
  'ubuntu-22.04': ubuntu(22, 'jammy'),
  'ubuntu-24.04': ubuntu(24, 'noble'),
  'rocky-8': rocky(8, 10, 'Green Obsidian'),
  'rocky-9': rocky(9, 4, 'Blue Onyx'),
  'alpine-3': alpine,
};

/** The profile of hosts of which nothing is known. */
export const defaultProfile = 'debian-12';

/** Hardware, network and the rest of a usual virtual machine. */
const machine: PlainDict = {
  kernel: 'Linux',
  kernelrelease: '6.1.0-28-amd64',
  cpuarch: 'x86_64',
  cpu_model: 'QEMU Virtual CPU',
  num_cpus: 2,
  mem_total: 4096,
  swap_total: 0,
  virtual: 'kvm',
  init: 'systemd',
  systemd: { version: '252', features: '' },
  selinux: { enabled: false, enforced: 'Disabled' },
  biosversion: '1.16.2',
  manufacturer: 'QEMU',
  productname: 'Standard PC',
  shell: '/bin/bash',
  path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
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
  dns: { nameservers: ['192.0.2.53'], ip4_nameservers: ['192.0.2.53'], ip6_nameservers: [] },
  locale_info: { defaultlanguage: 'en_US', defaultencoding: 'UTF-8', timezone: 'UTC' },
  machine_id: '00000000000000000000000000000000',
  saltversion: '3006.9',
  saltversioninfo: [3006, 9],
  pythonversion: [3, 11, 2, 'final', 0],
  master: '',
  efi: false,
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
    const meant = nearest(name, profileNames);
    throw new TsaltError('usage-value', `There is no grains profile '${name}'.`, {
      hint:
        meant === undefined
          ? `--grains takes ${profileNames.join(', ')}.`
          : `Did you mean '${meant}'?`,
    });
  }
  const [host = id, ...domain] = id.split('.');
  const names = { host, localhost: id, nodename: id, fqdn: id, domain: domain.join('.') };
  return { ...machine, ...names, ...system, id };
};
