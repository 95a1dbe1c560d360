import { spawnSync } from 'node:child_process';
import { CommandExecutionError } from '../../api.ts';
import { forProgram, withParent } from '../safe-fs/open-parent.ts';

/** The attributes `lsattr` shows, as letters; undefined where the file system has none. */
export const lsattrFlags = (path: string): string | undefined => {
  const { status, stdout } = withParent(path, false, place =>
    run('lsattr', ['-d', '--', forProgram(place)]),
  );
  if (status !== 0) return undefined;
  const shown = stdout.split(/\s/, 1)[0] ?? '';
  return shown.match(/[aAcCdDeijPsStTu]/g)?.join('') ?? '';
};

/** The attributes to add to and remove from a file. `e` is left out: the file system sets it. */
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
  const failures = paths.flatMap(path =>
    withParent(path, false, place => {
      const entry = forProgram(place);
      const { status, stderr } = run('chattr', [...more, `${sign}${attributes}`, '--', entry]);
      return status === 0 ? [] : [stderr.trim().replaceAll(entry, path)];
    }),
  );
  if (failures.length > 0)
    throw new CommandExecutionError(`chattr ${sign}${attributes} failed: ${failures.join('\n')}`);
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
