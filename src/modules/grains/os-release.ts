import { type } from 'node:os';
import { parseAssignments, readOr } from '../_shared/files/read-file.ts';
import type { PlainDict } from '../api.ts';

/** Grains from os-release(5), with Salt's traditional names. */
export const osRelease = (
  text = readOr('/etc/os-release') ?? readOr('/usr/lib/os-release') ?? '',
): PlainDict => {
  const values = parseAssignments(text);
  const name = values.get('NAME')?.trim();
  const osId = values.get('ID');
  if (!name || !osId) return { os: type(), os_family: 'Unknown' };
  const os = osName(name, osId);
  const family = osFamily(os, osId, values.get('ID_LIKE'));
  const osfullname = fullName(name, osId);
  const osrelease = values.get('VERSION_ID') || releaseQuirk(osId, values);
  const codename =
    values.get('VERSION_CODENAME') || codenameQuirk(osId, values) || values.get('UBUNTU_CODENAME');
  return {
    os,
    os_family: family,
    osfullname,
    ...(codename ? { oscodename: codename } : {}),
    ...(osrelease ? { osrelease, ...releaseData(os, osfullname, osrelease) } : {}),
    ...(values.get('BUILD_ID') ? { osbuild: values.get('BUILD_ID') as string } : {}),
  };
};

/** Salt's `os`, by the first ten letters of the name, if it differs from the name. */
const osNames: Readonly<Record<string, string>> = {
  redhatente: 'RedHat',
  gentoobase: 'Gentoo',
  archarm: 'Arch ARM',
  arch: 'Arch',
  debian: 'Debian',
  raspbian: 'Raspbian',
  amazonami: 'Amazon',
  alt: 'ALT',
  enterprise: 'OEL',
  oracleserv: 'OEL',
  cloudserve: 'CloudLinux',
  cloudlinux: 'CloudLinux',
  almalinux: 'AlmaLinux',
  scientific: 'ScientificLinux',
  synology: 'Synology',
  nilrt: 'NILinuxRT',
  poky: 'Poky',
  manjaro: 'Manjaro',
  manjarolin: 'Manjaro',
  univention: 'Univention',
  antergos: 'Antergos',
  sles: 'SUSE',
  sled: 'SUSE',
  sles_sap: 'SUSE',
  opensusele: 'SUSE',
  opensusetu: 'SUSE',
  void: 'Void',
  linuxmint: 'Mint',
  neon: 'KDE neon',
  pop: 'Pop',
  rocky: 'Rocky',
  alibabaclo: 'Alinux',
  mendel: 'Mendel',
};

const osName = (name: string, osId: string): string => {
  if (osId === 'astra') return name.includes('Orel') ? 'AstraLinuxCE' : 'AstraLinuxSE';
  if (osId === 'pop') return 'Pop';
  const short = name.replace(/\W(?:gnu\/)?linux/gi, '').trim();
  return osNames[short.replaceAll(' ', '').toLowerCase().slice(0, 10)] ?? short;
};

const families: Readonly<Record<string, string>> = {
  fedora: 'RedHat',
  rhel: 'RedHat',
  centos: 'RedHat',
  rocky: 'RedHat',
  almalinux: 'RedHat',
  amzn: 'RedHat',
  ol: 'RedHat',
  photon: 'RedHat',
  suse: 'Suse',
  opensuse: 'Suse',
  sles: 'Suse',
  'opensuse-leap': 'Suse',
  'opensuse-tumbleweed': 'Suse',
  arch: 'Arch',
  archarm: 'Arch',
  alpine: 'Alpine',
  gentoo: 'Gentoo',
  void: 'Void',
  nixos: 'NixOS',
  poky: 'Poky',
  openwrt: 'OpenWrt',
};

const osFamily = (os: string, osId: string, idLike: string | undefined): string => {
  const ids = [osId, ...(idLike ?? '').split(/\s+/).filter(part => part !== '')];
  if (ids.includes('debian') || ids.includes('ubuntu')) return 'Debian';
  if (os === 'ALT') return 'RedHat';
  const known = ids.map(part => families[part]).find(family => family !== undefined);
  const last = ids.at(-1) ?? '';
  return known ?? last.charAt(0).toUpperCase() + last.slice(1);
};

/** SUSE products have a shorter name than in os-release. */
const fullName = (name: string, osId: string): string => {
  if (osId === 'opensuse-leap') return 'Leap';
  if (osId === 'opensuse-tumbleweed') return 'Tumbleweed';
  return name;
};

const releaseQuirk = (osId: string, values: Map<string, string>): string | undefined =>
  osId === 'mendel'
    ? /[^\d]+ (\d[\d.+\-a-z]*) \(/.exec(values.get('PRETTY_NAME') ?? '')?.[1]
    : osId === 'debian'
      ? readOr('/etc/debian_version')?.trim() // testing and unstable have no VERSION_ID
      : undefined;

const codenameQuirk = (osId: string, values: Map<string, string>): string | undefined =>
  osId === 'astra'
    ? values.get('VARIANT_ID')
    : /\d[\d.+\-a-z]* \((.+)\)/.exec(values.get('VERSION') ?? '')?.[1];

export const releaseData = (os: string, osfullname: string, osrelease: string): PlainDict => {
  const info = osrelease.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part));
  const major = Number(info[0]);
  const shownName = ['Debian', 'Raspbian', 'MacOS'].includes(os) ? os : osfullname;
  const shownRelease = ['Ubuntu', 'Pop'].includes(os) ? osrelease : info[0];
  return {
    osrelease_info: info,
    ...(Number.isInteger(major) ? { osmajorrelease: major } : {}),
    osfinger: `${shownName}-${shownRelease}`,
  };
};
