import { readOr } from '../_shared/files/read-file.ts';
import { CommandExecutionError } from '../api.ts';
import { runYum } from './yum-run.ts';

/** The lock files of the versionlock plugins of dnf 4, dnf 5 and yum. */
const files = [
  '/etc/dnf/plugins/versionlock.list',
  '/etc/dnf/versionlock.toml',
  '/etc/yum/pluginconf.d/versionlock.list',
];

/** Whether any package is locked: asking dnf itself takes a second. */
export const hasLocks = (): boolean => files.some(file => /^\s*[^#\s]/m.test(readOr(file) ?? ''));

const versionlock = async (...args: string[]): Promise<{ code: number; stdout: string }> => {
  const result = await runYum('-q', 'versionlock', ...args);
  if (/no such command: versionlock/i.test(result.stderr + result.stdout))
    throw new CommandExecutionError(
      'Holding packages needs the versionlock plugin: install python3-dnf-plugin-versionlock.',
    );
  return result;
};

/** Lists the locks as written: `nginx-1:1.20.1-14.el9.*`. */
export const yumLocks = async (): Promise<string[]> =>
  (await versionlock('list')).stdout
    .split('\n')
    .map(line => line.trim())
    .filter(
      line => /^[^!\s]\S*-(?:\d+:)?\S+-\S+\.\S+$/.test(line) || /^\d+:\S+-\S+-\S+$/.test(line),
    );

/** Adds or removes the lock of a package at its version; false if that failed. */
export const changeLock = async (name: string, holding: boolean): Promise<boolean> =>
  (await versionlock(holding ? 'add' : 'delete', name)).code === 0;

/** Returns the package of `nginx-1:1.20.1-14.el9.*` (dnf) or `1:nginx-1.20.1-14.el9.*` (yum). */
export const lockedName = (lock: string): string =>
  lock.replace(/^\d+:/, '').replace(/-[^-]+-[^-]+$/, '');
