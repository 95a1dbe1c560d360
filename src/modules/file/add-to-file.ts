import { dirname } from 'node:path';
import { messageOf } from '../../protocol/error.ts';
import { cannotEdit } from '../_shared/files/file-checks.ts';
import { expandUser, isDir } from '../_shared/files/file-paths.ts';
import { failed, newReturn } from '../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { type AddedTextOptions, addedText } from './added-text.ts';

export type AddOptions = AddedTextOptions & { makedirs?: boolean };

/** The missing lines, and the diff that adding them makes. */
export type Addition = { readonly lines: readonly string[]; readonly diff: () => string };

/**
 * Adds text to a file, which is made where it is missing: `file.append` and `file.prepend`. `plan`
 * finds out what of the text the file lacks.
 */
export const addToFile = async (
  name: string,
  { makedirs = false, ...text }: AddOptions,
  {
    verb,
    plan,
    touch,
  }: {
    readonly verb: 'append' | 'prepend';
    readonly plan: (path: string, chunks: string[]) => Promise<Addition>;
    readonly touch: (path: string, options: { makedirs: boolean }) => Promise<StateReturn>;
  },
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, `Must provide name to file.${verb}`);
  if (makedirs && !__opts__.test && !isDir(dirname(path))) await __salt__['file.makedirs']?.(path);
  const problem = cannotEdit(path);
  if (problem) {
    if (isDir(path)) return failed(ret, problem);
    const touched = await touch(path, { makedirs });
    if (__opts__.test) return touched;
    if (cannotEdit(path)) return failed(ret, problem);
  }
  let chunks: string[] | { error: string };
  try {
    chunks = await addedText(path, text);
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  if ('error' in chunks) return failed(ret, chunks.error);
  const { lines, diff } = await plan(path, chunks);
  if (lines.length === 0) return { ...ret, comment: `File ${path} is in correct state` };
  const changes = { diff: diff() };
  if (__opts__.test)
    return { ...ret, result: null, changes, comment: `File ${path} is set to be updated` };
  await __salt__[`file.${verb}`]?.(path, { args: [...lines] });
  const said = verb === 'append' ? 'Appended' : 'Prepended';
  return { ...ret, changes, comment: `${said} ${lines.length} lines` };
};
