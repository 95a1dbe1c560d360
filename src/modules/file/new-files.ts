import { join } from 'node:path';
import { largestOfMany } from '../../protocol/many-files.ts';
import { Turns } from '../../protocol/turns.ts';
import type { DesiredPerms } from '../_shared/files/check-perms.ts';
import { keepsMode, modeText, normalizeMode } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import { controlFile } from '../_shared/sources/control-files.ts';
import { newReturn } from '../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import type { ControlFolder } from './control-folder.ts';
import { type DesiredFile, placeNew } from './managed-file.ts';

type Options = Pick<DesiredPerms, 'user' | 'group' | 'mode'> & {
  readonly template: string | null;
  readonly context: PlainDict | null;
  readonly defaults: PlainDict | null;
};

/**
 * Returns a function that creates one file of a folder where nothing is yet, in a directory that
 * exists. A state for the file would look at its path six times more, and make many more promises.
 * It returns the state's result, or undefined where `file.managed` has to make the file or to report
 * why that fails.
 *
 * @param path the directory that the folder is written below
 * @param isAbsent whether nothing was in the file's place
 * @param options of all files; the mode may be `keep`
 */
export const creatorOfNew = (
  path: string,
  folder: ControlFolder,
  isAbsent: (file: string) => boolean,
  { template, context, defaults, ...perms }: Options,
): ((file: string) => Promise<StateReturn | undefined>) => {
  const isUsed = !__opts__.test && !template && context === null && defaults === null;
  const turns = new Turns();
  return async file => {
    if (!isUsed || !isAbsent(file)) return undefined;
    // Thousands of contents may have arrived, and the control node waits for signs of life.
    if (turns.areOver) await turns.pause();
    try {
      return await create(join(path, file), `${folder.path}/${file}`, folder.saltenv, perms);
    } catch {
      return undefined;
    }
  };
};

const create = async (
  name: string,
  path: string,
  saltenv: string,
  perms: DesiredFile['perms'],
): Promise<StateReturn | undefined> => {
  const source = await controlFile(path, saltenv, { peek: true });
  if (source === undefined || source.size > largestOfMany) return undefined;
  const content = await source.content();
  // Something else may have made it while the content came.
  if (lstatOf(name) !== undefined) return undefined;
  const { sha256: hsum, mode: ofSource } = source;
  const kept = keepsMode(perms.mode) && ofSource !== undefined ? modeText(ofSource) : perms.mode;
  const file = {
    name,
    source: { sum: { hash_type: 'sha256', hsum }, content: async () => content },
    perms: { ...perms, mode: normalizeMode(kept) },
  };
  return placeNew(newReturn(name), file, content, true);
};
