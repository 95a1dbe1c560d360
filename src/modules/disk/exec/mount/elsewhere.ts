import { notDone } from '../../../_shared/states/not-done.ts';

/** Refuses files of systems other than Linux, which Salt's module supports too. */
const elsewhere = (file: string, system: string): string => `${file} is a file of ${system}`;

/** Not supported: /etc/vfstab is a file of Solaris. */
export const vfstab = async (config = '/etc/vfstab'): Promise<never> =>
  notDone('mount.vfstab', elsewhere(config, 'Solaris'));

/** Not supported: /etc/vfstab is a file of Solaris. */
export const set_vfstab = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.set_vfstab', elsewhere('/etc/vfstab', 'Solaris'));

/** Not supported: /etc/vfstab is a file of Solaris. */
export const rm_vfstab = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.rm_vfstab', elsewhere('/etc/vfstab', 'Solaris'));

/** Not supported: /etc/auto_salt is a file of macOS. */
export const automaster = async (config = '/etc/auto_salt'): Promise<never> =>
  notDone('mount.automaster', elsewhere(config, 'macOS'));

/** Not supported: /etc/auto_salt is a file of macOS. */
export const set_automaster = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.set_automaster', elsewhere('/etc/auto_salt', 'macOS'));

/** Not supported: /etc/auto_salt is a file of macOS. */
export const rm_automaster = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.rm_automaster', elsewhere('/etc/auto_salt', 'macOS'));

/** Not supported: /etc/filesystems is a file of AIX. */
export const filesystems = async (config = '/etc/filesystems'): Promise<never> =>
  notDone('mount.filesystems', elsewhere(config, 'AIX'));

/** Not supported: /etc/filesystems is a file of AIX. */
export const set_filesystems = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.set_filesystems', elsewhere('/etc/filesystems', 'AIX'));

/** Not supported: /etc/filesystems is a file of AIX. */
export const rm_filesystems = async (..._args: unknown[]): Promise<never> =>
  notDone('mount.rm_filesystems', elsewhere('/etc/filesystems', 'AIX'));
