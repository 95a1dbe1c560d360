/**
 * Reads and changes the mail system's aliases file: `/etc/aliases`, or what the option
 * `aliases.file` names.
 *
 * @platform unix
 */

import { runChecked } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { existsSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../_shared/safe-fs/open-parent.ts';
import { __opts__, SaltInvocationError } from '../../api.ts';

export const __outputter__ = {
  rm_alias: 'txt',
  has_target: 'txt',
  get_target: 'txt',
  set_target: 'txt',
  list_aliases: 'yaml',
};

type Entry = { alias: string; target: string; comment: string };

const file = (): string =>
  followLinks(
    typeof __opts__['aliases.file'] === 'string' ? __opts__['aliases.file'] : '/etc/aliases',
  );

/**
 * Returns the targets by alias.
 *
 * @example tsalt-ssh '*' aliases.list_aliases
 */
export const list_aliases = (): Record<string, string> =>
  Object.fromEntries(
    entries()
      .filter(isEntry)
      .map(({ alias, target }) => [alias, target]),
  );

/**
 * Returns the target of an alias; '' if the alias does not exist.
 *
 * @param alias the alias
 *
 * @example tsalt-ssh '*' aliases.get_target root
 */
export const get_target = (alias: string): string => {
  const known = list_aliases();
  return Object.hasOwn(known, alias) ? (known[alias] ?? '') : '';
};

/**
 * Whether an alias has exactly this target.
 *
 * @param alias the alias
 * @param target the target, or a list of them
 *
 * @example tsalt-ssh '*' aliases.has_target root ops@example.com
 */
export const has_target = (alias: string, target: string | string[]): boolean =>
  get_target(alias) === targetText(target);

/**
 * Sets the target of an alias, replacing any other, and runs `newaliases` if it is installed.
 *
 * @param alias the alias
 * @param target the target, or a list of them
 *
 * @example tsalt-ssh '*' aliases.set_target root ops@example.com
 */
export const set_target = async (alias: string, target: string | string[]): Promise<boolean> => {
  if (!/^[^:#\s][^:#\r\n]*$/.test(alias))
    throw new SaltInvocationError('alias must be a name on one line, without : and #');
  const text = targetText(target);
  if (get_target(alias) === text) return true;
  let placed = false;
  const lines = entries().flatMap(entry => {
    if (!isEntry(entry) || entry.alias !== alias) return [entry];
    if (placed) return [];
    placed = true;
    return [{ ...entry, target: text }];
  });
  await save(placed ? lines : [...lines, { alias, target: text, comment: '' }]);
  return true;
};

/**
 * Removes an alias from the file.
 *
 * @param alias the alias
 *
 * @example tsalt-ssh '*' aliases.rm_alias old
 */
export const rm_alias = async (alias: string): Promise<boolean> => {
  if (get_target(alias) !== '')
    await save(entries().filter(entry => !isEntry(entry) || entry.alias !== alias));
  return true;
};

const targetText = (target: string | string[]): string => {
  const text = [target].flat().join(', ');
  if (text === '' || /[\r\n]/.test(text))
    throw new SaltInvocationError('target must be an address, or a list of them, on one line');
  return text;
};

const isEntry = (line: Entry | string): line is Entry => typeof line !== 'string';

const entries = (): (Entry | string)[] =>
  existsSync(file()) ? readFileSync(file(), 'utf8').replace(/\n$/, '').split('\n').map(parse) : [];

const parse = (line: string): Entry | string => {
  const [, alias = '', target = '', comment = ''] =
    /^([^:#\s][^:#]*?)\s*:\s*([^#]*?)(\s+#.*|\s*)$/.exec(line) ?? [];
  return alias === '' || target === '' ? line : { alias, target, comment: comment.trimEnd() };
};

const save = async (lines: (Entry | string)[]): Promise<void> => {
  const text = lines.map(line =>
    isEntry(line) ? `${line.alias}: ${line.target}${line.comment}\n` : `${line}\n`,
  );
  writeAtomic(file(), text.join(''));
  const program = which('newaliases');
  if (program !== undefined) await runChecked([program]);
};
