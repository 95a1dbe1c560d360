/** System grains: kind, release, kernel, names, paths and versions. */

import { arch, release, type, version } from 'node:os';
import { which } from '../../_shared/commands/which.ts';
import { parseAssignments, readNames, readOr } from '../../_shared/files/read-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { __opts__, type PlainDict } from '../../api.ts';
import { hostNames } from '../host-names.ts';
import { osRelease, releaseData } from '../os-release.ts';
import { pythonHash } from '../sip-hash.ts';
import { timeZoneName } from '../time-zone.ts';

/**
 * The minion id and grains derived from it.
 */
export const id = (): PlainDict => {
  const own = option('id');
  if (typeof own !== 'string') return {};
  const hash = pythonHash(own) % 2n ** 31n;
  return { id: own, server_id: Number(hash < 0n ? hash + 2n ** 31n : hash) };
};

/**
 * The operating system: kernel, distribution, release, architecture, init.
 */
export const os_data = (): PlainDict => {
  const kernel: PlainDict = {
    kernel: type(),
    nodename: hostNames().localhost,
    kernelrelease: release(),
    kernelversion: version(),
    cpuarch: cpuArch(),
  };
  if (type() === 'Darwin') return { ...kernel, ...darwin() };
  const distribution = osRelease();
  const family = String(distribution.os_family ?? 'Unknown');
  return {
    ...kernel,
    ...lsb(),
    ...distribution,
    osarch: osArch(family),
    init: _initSystem(),
    ...(_initSystem() === 'systemd' ? { systemd: systemdVersion() } : {}),
    ...selinux(),
  };
};

/** The command that lists processes. */
export const ps = (): PlainDict => ({ ps: 'ps -efHww' });

/**
 * The names of this host, without DNS: /etc/hosts determines the FQDN.
 */
export const hostname = (): PlainDict => hostNames();

/** The account that the runtime runs as. */
export const process_data = (): PlainDict => {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  return {
    uid,
    gid,
    username: nameOf('/etc/passwd', uid) ?? String(uid),
    groupname: nameOf('/etc/group', gid) ?? String(gid),
    pid: process.pid,
    cwd: process.cwd(),
    path: process.env.PATH ?? '',
    systempath: (process.env.PATH ?? '').split(':'),
    shell: process.env.SHELL ?? '/bin/sh',
    nodeversion: process.versions.node.split('.').map(Number),
    nodeexecutable: process.execPath,
  };
};

/** Language and time zone. */
export const locale_info = (): PlainDict => {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const [language, encoding] = (LC_ALL || LC_CTYPE || LANG || '').split('.');
  const known = language !== '' && language !== 'C' && language !== 'POSIX';
  return {
    locale_info: {
      defaultlanguage: known ? (language ?? null) : null,
      defaultencoding: known || encoding ? (encoding ?? 'ISO8859-1') : null,
      detectedencoding: 'utf-8',
      timezone: timeZoneName(),
    },
  };
};

/** Identifiers that survive a renaming of the host. */
export const machine_id = (): PlainDict => {
  const found = ['/etc/machine-id', '/var/lib/dbus/machine-id']
    .map(path => readOr(path)?.trim())
    .find(text => text);
  return { machine_id: found ?? '' };
};

/** Returns the boot command line as pairs of name and value, like Salt. */
export const kernelparams = (): PlainDict => {
  const line = readOr('/proc/cmdline');
  if (line === undefined) return {};
  return {
    kernelparams: (line.trim().match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map(item => {
      const parts = item.split('=');
      return [parts[0] ?? '', parts.length === 2 ? (parts[1] ?? '').replace(/^"|"$/g, '') : null];
    }),
  };
};

/** Returns the release of Salt whose behaviour is reproduced. */
export const salt_version = (): PlainDict => ({
  saltversion: '3006.9',
  saltversioninfo: [3006, 9],
  // Formulas choose package names by it (`python3-apt`); this is the version in Salt's own packages.
  pythonversion: [3, 10, 14, 'final', 0],
  saltpath: process.argv[1] ?? '',
  master: typeof option('master') === 'string' ? option('master') : '',
});

const option = (name: string): string | boolean | number | null => {
  try {
    const value: unknown = __opts__[name];
    return typeof value === 'string' ? value : null;
  } catch {
    return null; // grains may be gathered before there is a run
  }
};

const cpuArch = (): string => {
  const names: Record<string, string> = {
    x64: 'x86_64',
    ia32: 'i686',
    arm64: type() === 'Darwin' ? 'arm64' : 'aarch64',
    arm: 'armv7l',
    ppc64: 'ppc64le',
    loong64: 'loongarch64',
  };
  return names[arch()] ?? arch();
};

/** With a foreign architecture, dpkg lists its own one first in `arch`. */
const osArch = (family: string): string => {
  if (family !== 'Debian') return cpuArch();
  const names: Record<string, string> = {
    x64: 'amd64',
    ia32: 'i386',
    arm: 'armhf',
    ppc64: 'ppc64el',
    mips64el: 'mips64el',
  };
  return readOr('/var/lib/dpkg/arch')?.split('\n')[0]?.trim() || (names[arch()] ?? arch());
};

const lsb = (): PlainDict => {
  const grains: PlainDict = {};
  const lines = parseAssignments(readOr('/etc/lsb-release') ?? '');
  for (const [key, value] of lines)
    if (key.startsWith('DISTRIB_')) grains[`lsb_${key.toLowerCase()}`] = value;
  const values = parseAssignments(readOr('/etc/os-release') ?? '');
  const codename = values.get('VERSION_CODENAME');
  if (lines.size === 0 && values.get('NAME'))
    return {
      lsb_distrib_id: values.get('NAME') ?? '',
      ...(values.get('VERSION_ID') ? { lsb_distrib_release: values.get('VERSION_ID') ?? '' } : {}),
      ...(codename ? { lsb_distrib_codename: codename } : {}),
      lsb_distrib_description: values.get('PRETTY_NAME') ?? '',
    };
  return grains;
};

/** macOS stores its version in a property list, so `sw_vers` is not needed. */
const darwin = (): PlainDict => {
  const text = readOr('/System/Library/CoreServices/SystemVersion.plist') ?? '';
  const value = (key: string): string =>
    new RegExp(`<key>${key}</key>\\s*<string>([^<]*)</string>`).exec(text)?.[1] ?? '';
  const osrelease = value('ProductVersion');
  const osfullname = `${value('ProductName')} ${osrelease}`;
  return {
    os: 'MacOS',
    os_family: 'MacOS',
    osfullname,
    osrelease,
    osbuild: value('ProductBuildVersion'),
    osarch: cpuArch(),
    init: 'launchd',
    ...releaseData('MacOS', osfullname, osrelease),
  };
};

/** Detects the init system from its files, without running a program. */
export const _initSystem = (
  has: (path: string) => boolean = existsSync,
  isInstalled: (program: string) => boolean = program => which(program) !== undefined,
  first = readOr('/proc/1/cmdline') ?? '',
): string => {
  if (has('/run/systemd/system')) return 'systemd';
  const command = first.split('\0').filter(part => part !== '');
  const name = command[0]?.split('/').at(-1) ?? '';
  if (has('/run/openrc') || (isInstalled('openrc-run') && has('/etc/runlevels'))) return 'openrc';
  for (const known of ['runit', 'dumb-init', 'tini', 'supervisord', 's6-svscan'])
    if (command.some(part => part.split('/').at(-1) === known)) return known;
  // Debian's openssh-server ships this folder in case runit is installed.
  if (isInstalled('runsvdir') && (command.includes('/sbin/my_init') || has('/run/runit')))
    return 'runit';
  if (name === 'init' && has('/etc/inittab')) return 'sysvinit';
  if (name === 'init' && has('/etc/init') && isInstalled('initctl')) return 'upstart';
  return 'unknown';
};

/** Reads systemd's version from the name of its library. Its feature list is only in the program. */
const systemdVersion = (): PlainDict => {
  const folders = ['/usr/lib/systemd', '/lib/systemd', `/usr/lib/${cpuArch()}-linux-gnu/systemd`];
  for (const folder of folders)
    for (const name of readNames(folder)) {
      const match = /^libsystemd-shared-(\d+)/.exec(name);
      if (match) return { version: match[1] ?? '' };
    }
  return { version: 'UNDEFINED' };
};

const selinux = (): PlainDict => {
  const enforce = readOr('/sys/fs/selinux/enforce')?.trim();
  const enabled = enforce !== undefined;
  if (!enabled && !existsSync('/etc/selinux/config')) return { selinux: { enabled } };
  const enforced = !enabled ? 'Disabled' : enforce === '1' ? 'Enforcing' : 'Permissive';
  return { selinux: { enabled, enforced } };
};

const nameOf = (file: string, number: number): string | undefined =>
  readOr(file)
    ?.split('\n')
    .map(line => line.split(':'))
    .find(fields => fields[2] === String(number))?.[0];
