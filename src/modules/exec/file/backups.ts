import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { __salt__, CommandExecutionError } from '../../api.ts';
import { backUp, backupDir } from '../../lib/file-backup.ts';
import { expandUser, isDir } from '../../lib/file-paths.ts';

type Backup = { 'Backup Time': string; Location: string; Size: number };

/**
 * The backups that file states keep of a file, newest first.
 *
 * @param path the file
 * @param limit so many at most
 *
 * @example tsalt-ssh '*' file.list_backups /etc/motd
 */
export const list_backups = async (
  path: string,
  limit: number | null = null,
): Promise<Record<string, Backup>> => {
  const dir = backupDir(expandUser(path));
  const prefix = `${basename(path)}_`;
  const found = isDir(dir) ? readdirSync(dir).filter(name => name.startsWith(prefix)) : [];
  const backups = found
    .flatMap(name => {
      const [, date, time, , year] =
        name.slice(prefix.length).match(/^(\w{3}_\w{3}_\d\d)_([\d:]+)_(\d+)_(\d{4})$/) ?? [];
      if (date === undefined) return [];
      const location = join(dir, name);
      const { size, mtimeMs, birthtimeMs } = statSync(location);
      const shown = `${date.replaceAll('_', ' ')} ${year} ${time}`;
      const entry = { 'Backup Time': shown, Location: location, Size: size };
      return [{ entry, at: Math.max(mtimeMs, birthtimeMs), name }];
    })
    .sort((a, b) => b.at - a.at || (a.name < b.name ? 1 : -1))
    .slice(0, limit ?? undefined);
  return Object.fromEntries(backups.map(({ entry }, index) => [String(index), entry]));
};

/**
 * Puts a backup back in place; what is there now becomes a backup itself.
 *
 * @param path the file
 * @param backup_id number of the backup, see `file.list_backups`
 *
 * @example tsalt-ssh '*' file.restore_backup /etc/motd 0
 */
export const restore_backup = async (
  path: string,
  backup_id: number | string,
): Promise<{ result: boolean; comment: string }> => {
  const backup = (await list_backups(path))[String(backup_id)];
  if (!backup)
    return { result: false, comment: `backup_id '${backup_id}' does not exist for ${path}` };
  backUp(expandUser(path), 'minion');
  await __salt__['file.copy']?.(backup.Location, expandUser(path));
  return { result: true, comment: `Successfully restored ${backup.Location} to ${path}` };
};

/**
 * Removes a backup.
 *
 * @param path the file
 * @param backup_id number of the backup, see `file.list_backups`
 *
 * @example tsalt-ssh '*' file.delete_backup /etc/motd 0
 */
export const delete_backup = async (
  path: string,
  backup_id: number | string,
): Promise<{ result: boolean; comment: string }> => {
  const backup = (await list_backups(path))[String(backup_id)];
  if (!backup)
    throw new CommandExecutionError(`backup_id '${backup_id}' does not exist for ${path}`);
  await __salt__['file.remove']?.(backup.Location);
  return { result: true, comment: `Successfully removed ${backup.Location}` };
};
