import type { AccountName } from '../_shared/files/check-perms.ts';
import { keepsMode, modeText } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import { listedFile, requestMany } from '../_shared/sources/control-files.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import type { ControlFolder } from './control-folder.ts';
import { fetchNow, type ListedSource } from './fetch-now.ts';
import { kindOfNew, type NewFileKind, placeSource } from './managed-file.ts';

/** Arguments of `file.recurse` for all of its files. */
export type RecursedOptions = {
  readonly user: AccountName;
  readonly group: AccountName;
  readonly mode: string | number | null;
  readonly template: string | null;
  readonly context: PlainDict | null;
  readonly defaults: PlainDict | null;
};

type NewFile = ListedSource & {
  /** Relative to the folder. */
  readonly file: string;
  readonly name: string;
  readonly kind: NewFileKind;
};

/**
 * Creates files of a folder where nothing is yet, in directories that exist: a state for each file
 * would look at its path six times more, and make many promises.
 *
 * @param path the directory that the folder is written below
 * @param files relative to the folder
 * @param options of all files; the mode may be `keep`
 * @returns the answer of `file.managed` for each file that was made. `file.managed` itself makes the
 *   others, or reports why that fails.
 */
export const createNewFiles = async (
  path: string,
  folder: ControlFolder,
  files: readonly string[],
  { template, context, defaults, ...perms }: RecursedOptions,
): Promise<ReadonlyMap<string, StateReturn>> => {
  const made = new Map<string, StateReturn>();
  if (__opts__.test || template || context !== null || defaults !== null) return made;
  const kindOf = kindsByMode(perms);
  const wanted = files.flatMap((file): NewFile[] => {
    const source = `${folder.path}/${file}`;
    const known = listedFile(source, folder.saltenv);
    if (!known) return [];
    const { sha256, size, mode } = known;
    const name = path === '/' ? `/${file}` : `${path}/${file}`;
    return [
      { path: source, saltenv: folder.saltenv, sha256, size, file, name, kind: kindOf(mode) },
    ];
  });
  await fetchNow(wanted, requestMany, ({ file, name, kind }, bytes) => {
    // Something else may have made it while the content came.
    if (lstatOf(name) === undefined) made.set(file, placeSource(name, kind, bytes));
  });
  return made;
};

/** Returns a function that returns the kind of the files that have a mode at their source. */
const kindsByMode = (
  perms: Pick<RecursedOptions, 'user' | 'group' | 'mode'>,
): ((mode: number) => NewFileKind) => {
  const kinds = new Map<string | number | null, NewFileKind>();
  return mode => {
    const wanted = keepsMode(perms.mode) ? modeText(mode) : perms.mode;
    const known = kinds.get(wanted);
    if (known) return known;
    const kind = kindOfNew({ ...perms, mode: wanted }, true);
    kinds.set(wanted, kind);
    return kind;
  };
};
