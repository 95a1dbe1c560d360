import { join } from 'node:path';
import { makeTempFolder, removeTemp } from '../_shared/files/temporary.ts';
import { existsSync, readFileSync, writeFileSync } from '../_shared/safe-fs/fs.ts';
import { changed, failed, unchanged, would } from '../_shared/states/returns.ts';
import { __opts__, __states__, kwargs, type PlainDict, type StateReturn } from '../api.ts';

/** Arguments of `file.managed` that say how the file lies there. */
const fileArguments = [
  'user',
  'group',
  'mode',
  'makedirs',
  'dir_mode',
  'backup',
  'attrs',
  'follow_symlinks',
  'win_owner',
] as const;

/** Splits keywords into those of the file and the others. */
export const splitFileArguments = (
  keywords: Readonly<Record<string, unknown>>,
): { file: PlainDict; rest: Record<string, unknown> } => {
  const file: PlainDict = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(keywords))
    if ((fileArguments as readonly string[]).includes(name)) file[name] = value as never;
    else rest[name] = value;
  return { file, rest };
};

/** The content of the file, if it exists. */
export const presentText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'latin1') : undefined;

/**
 * Brings a file to its place. `wrong` names what is not as wanted, with old and new;
 * without any only owner and mode are looked at.
 */
export const keepPem = async (
  name: string,
  {
    what,
    wrong,
    make,
    file,
  }: {
    /** `The certificate`. */
    readonly what: string;
    readonly wrong: PlainDict | undefined;
    /** PEM, or bytes in another encoding. */
    readonly make: () => Promise<string | Buffer>;
    readonly file: PlainDict;
  },
): Promise<StateReturn> => {
  const verb = existsSync(name) ? 'recreated' : 'created';
  if (wrong !== undefined && __opts__.test)
    return would(name, `${what} would have been ${verb}`, wrong);
  const managed = await manage(name, file, wrong === undefined ? undefined : await make());
  if (managed.result === false) return failed(name, String(managed.comment));
  if (wrong !== undefined) return changed(name, `${what} has been ${verb}`, wrong);
  if (Object.keys(managed.changes).length === 0)
    return unchanged(name, `${what} is in the correct state`);
  return { ...managed, name };
};

const manage = async (
  name: string,
  file: PlainDict,
  made: string | Buffer | undefined,
): Promise<StateReturn> => {
  const managed = (more: PlainDict): Promise<StateReturn> =>
    __states__['file.managed']?.(name, kwargs({ ...file, ...more, show_changes: false }));
  if (made === undefined) return managed({ replace: false });
  const contents = made.toString('latin1');
  if (contents.includes('-----BEGIN ')) return managed({ contents });
  // Contents are lines of text there, so binary content is passed as a file.
  const folder = makeTempFolder('.tsalt-');
  try {
    const source = join(folder, 'made');
    writeFileSync(source, contents, { encoding: 'latin1', mode: 0o600, flag: 'wx' });
    return await managed({ source });
  } finally {
    removeTemp(folder);
  }
};
