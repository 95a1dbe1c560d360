import { runCommand } from '../../../_shared/commands/run-command.ts';
import { decodeFstabField } from '../../../_shared/files/fstab.ts';
import { existsSync, readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../../../api.ts';

/**
 * Returns the active swap spaces.
 *
 * @example tsalt-ssh '*' mount.swaps
 */
export const swaps = async (): Promise<Record<string, Record<string, string>>> => {
  const lines = existsSync('/proc/swaps') ? readFileSync('/proc/swaps', 'utf8').split('\n') : [];
  return Object.fromEntries(
    lines
      .slice(1)
      .filter(Boolean)
      .map(line => {
        const [name = '', type = '', size = '', used = '', priority = ''] = line
          .split(/\s+/)
          .map(decodeFstabField);
        return [name, { type, size, used, priority }];
      }),
  );
};

/**
 * Activates a swap space. Returns whether it is active, and whether it was active before.
 *
 * @param name the device or file
 * @param priority its priority
 *
 * @example tsalt-ssh '*' mount.swapon /root/swapfile
 */
export const swapon = async (
  name: string,
  priority: number | null = null,
): Promise<{ stats: Record<string, string> | null; new: boolean }> => {
  const before = (await swaps())[name];
  if (before) return { stats: before, new: false };
  const rank = priority === null ? [] : ['-p', String(Number(priority))];
  const { code, stderr } = await runCommand(['swapon', ...rank, '--', name], { plainLocale: true });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return { stats: (await swaps())[name] ?? null, new: true };
};

/**
 * Deactivates a swap space. Returns true if it is inactive afterwards, and null if it was not active
 * before.
 *
 * @param name the device or file
 *
 * @example tsalt-ssh '*' mount.swapoff /root/swapfile
 */
export const swapoff = async (name: string): Promise<boolean | null> => {
  if (!(await swaps())[name]) return null;
  await runCommand(['swapoff', '--', name], { plainLocale: true });
  return !(await swaps())[name];
};
