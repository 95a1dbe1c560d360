import { basename, join } from 'node:path';
import { expandUser, isDir } from '../../../_shared/files/file-paths.ts';
import { readdirSync, statSync } from '../../../_shared/safe-fs/fs.ts';
import { __salt__ } from '../../../api.ts';
import { backUp, backupDir } from '../../file-backup.ts';

type Backup = { 'Backup Time': string; Location: string; Size: number };

/**
 * Returns the backups that file states made of a file, newest first.
 *
 * @param path the file
 * @param limit maximum number
 *
 * @example tsalt-ssh '*' file.list_backups /etc/motd
 */
export const list_backups = async (
  path: string,
  limit: number | null = null,
): Promise<Record<string, Backup>> => {
  const place = expandUser(path);
  return backupsIn(backupDir(place), basename(place), limit);
};

/** Returns the backups of files with this name in a backup folder. */
const backupsIn = (dir: string, name: string, limit: number | null): Record<string, Backup> => {
  const prefix = `${name}_`;
  const found = isDir(dir) ? readdirSync(dir).filter(file => file.startsWith(prefix)) : [];
  const backups = found
    .flatMap(file => {
      const [, date, time, , year] =
        file.slice(prefix.length).match(/^(\w{3}_\w{3}_\d\d)_([\d:]+)_(\d+)_(\d{4})$/) ?? [];
      if (date === undefined) return [];
      const location = join(dir, file);
      const { size, mtimeMs, birthtimeMs } = statSync(location);
      const shown = `${date.replaceAll('_', ' ')} ${year} ${time}`;
      const entry = { 'Backup Time': shown, Location: location, Size: size };
      return [{ entry, at: Math.max(mtimeMs, birthtimeMs), file }];
    })
    .sort((a, b) => b.at - a.at || (a.file < b.file ? 1 : -1))
    .slice(0, limit ?? undefined);
  return Object.fromEntries(backups.map(({ entry }, index) => [String(index), entry]));
};

/** Alias of `file.list_backups`. */
export const list_backup = list_backups;

/**
 * Returns the backups that file states made of the files in a folder, by file, newest first.
 *
 * @param path a file of the folder, or the folder with a slash behind it
 * @param limit maximum number per file
 *
 * @example tsalt-ssh '*' file.list_backups_dir /etc/
 */
export const list_backups_dir = async (
  path: string,
  limit: number | null = null,
): Promise<Record<string, Record<string, Backup>>> => {
  const place = expandUser(path);
  const dir = backupDir(place.endsWith('/') ? `${place}x` : place);
  const stamp = /_\w{3}_\w{3}_\d\d_[\d:]+_\d+_\d{4}$/;
  const files = isDir(dir) ? readdirSync(dir).filter(file => stamp.test(file)) : [];
  const names = [...new Set(files.map(file => file.replace(stamp, '')))].sort();
  return Object.fromEntries(names.map(name => [name, backupsIn(dir, name, limit)]));
};

/**
 * Restores a backup. The current file is backed up first.
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
  const backup = await backupOf(path, backup_id);
  if (typeof backup === 'string') return { result: false, comment: backup };
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
  const backup = await backupOf(path, backup_id);
  if (typeof backup === 'string') return { result: false, comment: backup };
  await __salt__['file.remove']?.(backup.Location);
  return { result: true, comment: `Successfully removed ${backup.Location}` };
};

/** Returns a backup by its number, or an error message. */
const backupOf = async (path: string, id: number | string): Promise<Backup | string> =>
  /^\d+$/.test(String(id))
    ? ((await list_backups(path))[String(id)] ?? `backup_id '${id}' does not exist for ${path}`)
    : `Invalid backup_id '${id}'`;

/** Alias of `file.delete_backup`. */
export const remove_backup = delete_backup;
