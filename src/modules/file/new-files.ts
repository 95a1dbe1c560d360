import type { AccountName } from '../_shared/files/check-perms.ts';
import { keepsMode, modeText } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import { listedFile, requestMany } from '../_shared/sources/control-files.ts';
import { __opts__, type PlainDict } from '../api.ts';
import type { ControlFolder } from './control-folder.ts';
import { fetchNow, type ListedSource } from './fetch-now.ts';
import { kindOfNew, type NewFileKind, placeSource, type RecursedAnswer } from './managed-file.ts';

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
 * @returns the answers for the files that were made. `file.managed` makes the others, or reports why
 *   that fails.
 */
export const createNewFiles = async (
  path: string,
  folder: ControlFolder,
  files: readonly string[],
  { template, context, defaults, ...perms }: RecursedOptions,
): Promise<ReadonlyMap<string, RecursedAnswer>> => {
  const made = new Map<string, RecursedAnswer>();
  if (__opts__.test || template || context !== null || defaults !== null) return made;
  await fetchNow(newFiles(path, folder, files, perms), requestMany, (file, bytes) => {
    // Something else may have made it while the content came.
    if (lstatOf(file.name) === undefined)
      made.set(file.file, placeSource(file.name, file.kind, bytes));
  });
  return made;
};

function* newFiles(
  path: string,
  { path: source, saltenv }: ControlFolder,
  files: readonly string[],
  perms: Pick<RecursedOptions, 'user' | 'group' | 'mode'>,
): Generator<NewFile> {
  const kindOf = kindsByMode(perms);
  const below = path === '/' ? '' : path;
  for (const file of files) {
    const known = listedFile(`${source}/${file}`, saltenv);
    if (!known) continue;
    const { sha256, size, mode } = known;
    const kind = kindOf(mode);
    yield {
      path: `${source}/${file}`,
      saltenv,
      sha256,
      size,
      file,
      name: `${below}/${file}`,
      kind,
    };
  }
}

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
