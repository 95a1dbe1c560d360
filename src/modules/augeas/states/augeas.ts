/** Edits configuration files as trees with augeas. */

import { dirname } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { isFile } from '../../_shared/files/file-paths.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { splitAtNewlines } from '../../_shared/text/text-diff.ts';
import { unifiedDiff } from '../../_shared/text/unified-diff.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';
import { readAugeasCommand, toAugtool } from '../augeas-commands.ts';
import { type AugeasCommand, wouldSave } from '../augtool.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('augeas.execute') || [false, 'augtool is not installed.'];

/**
 * Changes are made to a configuration file: `set PATH [VALUE]`, `setm BASE SUB [VALUE]`, `mv FROM TO`,
 * `ins LABEL before|after PATH`, `rm PATH`, in order. What is as wanted stays; `ins` needs a condition, or it
 * inserts in every run.
 *
 * @param name a name for this
 * @param context the file with `/files` before it: paths are below it
 * @param changes the changes
 * @param lens the lens that reads it, as `Hosts.lns`; with it no other file is read, which is faster
 * @param load_path folders with further lenses
 * @unknown ignored
 * @example
 * redis-conf:
 *   augeas.change:
 *     - context: /files/etc/redis/redis.conf
 *     - changes:
 *       - set bind 0.0.0.0
 *       - set maxmemory 1G
 */
export const change = async (
  name: string,
  {
    context = null,
    changes = null,
    lens = null,
    load_path = null,
  }: {
    context?: string | null;
    changes?: Plain;
    lens?: string | null;
    load_path?: Plain;
  } = {},
): Promise<StateReturn> => {
  if (!Array.isArray(changes) || changes.length === 0)
    return failed(name, "'changes' must be specified as a list");
  if (load_path !== null && !Array.isArray(load_path))
    return failed(name, "'load_path' must be specified as a list");
  const lines = changes.map(String);
  const loadPath = load_path?.map(String).join(':') ?? null;
  try {
    const file = context === null ? fileOf(lines) : context.replace(/^\/files|\/$/g, '');
    if (__opts__.test) return await tell(name, lines, { context, lens, loadPath });
    const before = textOf(file);
    const done: { retval: boolean; error?: string } = await salt('augeas.execute')(
      context,
      lens,
      lines,
      loadPath,
    );
    if (!done.retval) return failed(name, `Error: ${done.error}`);
    const after = textOf(file);
    if (after === undefined) return changed(name, 'Changes have been saved', { updates: lines });
    const diff = unifiedDiff(splitAtNewlines(before ?? ''), splitAtNewlines(after), {
      context: 0,
    }).join('');
    return diff === ''
      ? unchanged(name, 'No changes made')
      : changed(name, 'Changes have been saved', { diff });
  } catch (error) {
    return failed(name, `Error: ${messageOf(error)}`);
  }
};

const textOf = (file: string | undefined): string | undefined =>
  file !== undefined && isFile(file) ? readFileSync(file, 'utf8') : undefined;

type Scope = { context: string | null; lens: string | null; loadPath: string | null };

/** Reports the changes that augeas would make, without writing them. */
const tell = async (name: string, lines: string[], scope: Scope): Promise<StateReturn> => {
  const commands = lines.map((line): AugeasCommand => {
    const command = readAugeasCommand(line);
    if ('error' in command) throw new Error(command.error);
    return toAugtool(command, scope.context);
  });
  const { files } = await wouldSave(commands, scope);
  if (files.length === 0) return unchanged(name, 'No changes made');
  const where = scope.context ? ` in file "${scope.context}":\n` : '';
  return would(name, `Executing commands${where}${lines.join('\n')}`, { updates: lines });
};

/** Returns the single file that all commands change; undefined if it does not exist yet. */
const fileOf = (lines: readonly string[]): string | undefined => {
  const found = new Map<string, string>();
  for (const line of lines) {
    const command = readAugeasCommand(line);
    if ('error' in command)
      throw new Error(
        command.error.replace(/(details: ).*$/s, (_, words: string) => `${words}${line}`),
      );
    const path = command.words[command.method === 'insert' ? 2 : 0] ?? '';
    if (!path.startsWith('/files'))
      throw new Error(
        `Changes should be prefixed with /files if no context is provided, change: ${line}`,
      );
    const node = path.replace(/^\/files|\/$/g, '');
    found.set(fileAbove(node) ?? node, node);
  }
  const [one, other] = [...found.values()];
  if (other !== undefined)
    throw new Error(
      `Changes should be made to one file at a time, detected changes to ${one} and ${other}`,
    );
  const [file = ''] = found.keys();
  return isFile(file) ? file : undefined;
};

const fileAbove = (path: string): string | undefined => {
  if (path === '/' || path === '.' || path === '') return undefined;
  return isFile(path) ? path : fileAbove(dirname(path));
};
