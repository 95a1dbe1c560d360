import { getOwn } from '../../protocol/plain.ts';
import { gidOf, uidOf } from '../_shared/files/owner-names.ts';

/** The result of `mount.active`, by mount point. */
export type Active = Record<string, { device: string; fstype: string; opts: string[] }>;

/** Further options that are not compared. */
export type OptionRules = {
  extra_mount_invisible_options?: string[] | null;
  extra_mount_invisible_keys?: string[] | null;
  extra_mount_ignore_fs_keys?: Record<string, string[]> | null;
  extra_mount_translate_options?: Record<string, string> | null;
  hidden_opts?: string[] | null;
};

/** Options for mount(8) and for programs that read fstab; the kernel does not know them. */
const invisible = new Set(
  `_netdev actimeo auto backup-volfile-servers bg bind comment defaults delay_connect direct-io-mode
  group intr loop noauto nobootwait nofail nointr nonempty nouser owner password port rbind reconnect
  remount retry soft transform_symlinks user users`.split(/\s+/),
);

/** Keys of options with a value that the kernel does not know. */
const invisibleKeys =
  'actimeo comment credentials direct-io-mode password port retry secretfile'.split(' ');

/** Defaults that apply unless the kernel lists their opposite. */
const silent: Readonly<Record<string, string>> = {
  async: 'sync',
  atime: 'noatime',
  dev: 'nodev',
  diratime: 'nodiratime',
  exec: 'noexec',
  norelatime: 'relatime',
  nostrictatime: 'strictatime',
  suid: 'nosuid',
};

const translations: Readonly<Record<string, string>> = { tcp: 'proto=tcp', udp: 'proto=udp' };

/** Returns the desired options that a mounted file system does not have. */
export const changedOptions = (
  wanted: readonly string[],
  active: readonly string[],
  fstype: string,
  rules: OptionRules,
): string[] => {
  const hidden = new Set([
    ...invisible,
    ...(rules.extra_mount_invisible_options ?? []),
    ...(rules.hidden_opts ?? []),
  ]);
  const hiddenKeys = [...invisibleKeys, ...(rules.extra_mount_invisible_keys ?? [])];
  const ignored = getOwn({ ramfs: ['size'], ...rules.extra_mount_ignore_fs_keys }, fstype) ?? [];
  const translated = { ...translations, ...rules.extra_mount_translate_options };
  const now = new Set(active.map(option => plainForm(option, fstype)));
  return wanted
    .map(option => plainForm(getOwn(translated, option) ?? option, fstype))
    .filter(option => {
      const [key = ''] = option.split('=');
      if (hidden.has(option) || hiddenKeys.includes(key) || ignored.includes(key)) return false;
      // Options that systemd and mount helpers read. A size given as a share of the memory is later
      // shown as an absolute size.
      if (key.startsWith('x-') || /^size=\d+%$/.test(option)) return false;
      const opposite = getOwn(silent, option);
      return opposite === undefined ? !now.has(option) : now.has(opposite);
    });
};

const units: Readonly<Record<string, number>> = { k: 1, m: 1024, g: 1024 ** 2 };

/** Normalizes options that can be written in several ways: sizes in kilobytes, accounts as numbers. */
const plainForm = (option: string, fstype: string): string => {
  const [key = '', value = ''] = option.split(/=(.*)/s);
  const [, number = '', unit = ''] = (key === 'size' && /^(\d+)([kmg])$/i.exec(value)) || [];
  if (number !== '') return `size=${Number(number) * (units[unit.toLowerCase()] ?? 1)}k`;
  if (key === 'user' && value !== '' && fstype === 'cifs') return `username=${value}`;
  if (key === 'mode') return `mode=${value.replace(/^0+(?=.)/, '')}`;
  if (key === 'uid') return `uid=${uidOf(value) ?? value}`;
  if (key === 'gid') return `gid=${gidOf(value) ?? value}`;
  return option;
};
