import { spawnSync } from 'node:child_process';
import { CommandExecutionError } from '../api.ts';

/** The attributes `lsattr` shows, as letters; undefined where the file system has none. */
export const attributesOf = (path: string): string | undefined => {
  const { status, stdout } = run('lsattr', ['-d', '--', path]);
  if (status !== 0) return undefined;
  const shown = stdout.split(/\s/, 1)[0] ?? '';
  return shown.match(/[aAcCdDeijPsStTu]/g)?.join('') ?? '';
};

/** What has to be added to and taken from a file's attributes. `e` is the file system's own. */
export const attributeChanges = (
  current: string,
  wanted: string,
): { added: string; removed: string } => ({
  added: [...new Set(wanted)].filter(letter => !current.includes(letter)).join(''),
  removed: [...current].filter(letter => letter !== 'e' && !wanted.includes(letter)).join(''),
});

/** Adds or removes attributes. Throws with what `chattr` says. */
export const changeAttributes = (
  operator: 'add' | 'remove',
  attributes: string,
  paths: readonly string[],
  more: readonly string[] = [],
): void => {
  if (!/^[A-Za-z]+$/.test(attributes))
    throw new CommandExecutionError(`Attributes are letters, not "${attributes}"`);
  const sign = operator === 'add' ? '+' : '-';
  const { status, stderr } = run('chattr', [...more, `${sign}${attributes}`, '--', ...paths]);
  if (status !== 0)
    throw new CommandExecutionError(`chattr ${sign}${attributes} failed: ${stderr.trim()}`);
};

const run = (
  command: string,
  args: string[],
): { status: number; stdout: string; stderr: string } => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  return { status: status ?? 127, stdout: stdout ?? '', stderr: stderr || (error?.message ?? '') };
};
