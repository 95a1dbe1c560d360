import { basename, dirname, join } from 'node:path';
import { cacheDir } from '../_shared/files/cache-dir.ts';
import { exists } from '../_shared/files/file-paths.ts';
import { chmodSync, chownSync, copyFileSync, mkdirSync, statSync } from '../_shared/safe-fs/fs.ts';
import { __opts__ } from '../api.ts';

/** The folder that holds the backups of a path's directory. */
export const backupDir = (path: string): string => cacheDir('file_backup', dirname(path).slice(1));

/** Copies a file away before it changes, when `backup` (or option `backup_mode`) is `minion`. */
export const backUp = (path: string, backup: string | null | undefined): void => {
  const mode = backup || __opts__.backup_mode;
  if (mode !== 'minion' && mode !== 'both') return;
  if (!exists(path)) return;
  const { uid, gid, mode: bits } = statSync(path);
  const dir = backupDir(path);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const copy = join(dir, `${basename(path)}_${stamp(new Date())}`);
  copyFileSync(path, copy);
  if (process.geteuid?.() === 0) chownSync(copy, uid, gid);
  chmodSync(copy, bits & 0o7777);
};

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a time as `Sat_Nov_21_04:05:06_123456_2026`, which `file.list_backups` parses. */
const stamp = (now: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(':');
  const micros = String(Math.floor((performance.timeOrigin + performance.now()) * 1000)).slice(-6);
  return `${days[now.getDay()]}_${months[now.getMonth()]}_${two(now.getDate())}_${time}_${micros}_${now.getFullYear()}`;
};
