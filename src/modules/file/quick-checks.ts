import { isPlainDict } from '../../protocol/plain.ts';
import {
  type Prefetched,
  prefetchedFileKey,
  prefetchKey,
  renderRequest,
} from '../../protocol/prefetch.ts';
import { type AccountIds, accountIds } from '../_shared/files/file-checks.ts';
import { keepsMode } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import { type FoundSource, findSource } from '../_shared/sources/file-source.ts';
import type { SourceSum } from '../_shared/sources/source-hash.ts';
import { parseSource } from '../_shared/sources/source-url.ts';
import { newReturn } from '../_shared/states/returns.ts';
import type { Plain, PlainDict, StateReturn } from '../api.ts';
import { hasOnly, type QuickCheck, type QuickCheckRun, type QuickWork } from '../quick-check.ts';
import { type Accumulators, accumulatorsKey } from './accumulators.ts';
import { type ComparedFile, hasPerms, isAlready } from './already.ts';
import { givenContents } from './managed-contents.ts';
import { type DesiredFile, installFile } from './managed-file.ts';
import { createDirectory } from './new-directory.ts';

const ofManaged = new Set(
  'name source contents template context user group mode makedirs backup'.split(' '),
);

/** `file.managed`, of a file that is new, or whose content is in the state or its hash came with the run. */
export const managedQuickly: QuickCheck = (args, run) => {
  const { name, makedirs, backup } = args;
  const perms = permsIn(args, args.mode);
  if (!hasOnly(args, ofManaged) || !isPath(name) || !perms || keepsMode(perms.mode))
    return undefined;
  if (!isUnsetOrBoolean(makedirs) || !isUnsetOrText(backup)) return undefined;
  const entry = lstatOf(name);
  const accumulated = run.context[accumulatorsKey] as Accumulators | undefined;
  if (accumulated?.[name]) return undefined;
  if (!entry) return run.test ? undefined : newFile(name, perms, args, run);
  if (!entry.isFile()) return undefined;
  const contents = isUnset(args.source) ? givenContent(args) : undefined;
  const content = contents ? { contents } : contentOfSource(name, perms, args, run);
  const ids = knownIds(perms);
  return content && ids && isAlready({ name, perms, ...content }, entry, ids)
    ? `${run.test ? 'The file' : 'File'} ${name} is in the correct state`
    : undefined;
};

/** Makes a file where nothing is. */
const newFile = (
  name: string,
  perms: Perms,
  args: PlainDict,
  { env }: QuickCheckRun,
): QuickWork | undefined => {
  const ids = knownIds(perms);
  if (!ids) return undefined;
  const file: DesiredFile = { name, perms, ids, isNew: true, makedirs: args.makedirs === true };
  if (isUnset(args.source)) {
    const given = givenContent(args);
    return (
      given && (() => installFile(newReturn(name), { ...file, contents: given, isSeen: true }))
    );
  }
  const wanted = saltSource(args);
  if (!wanted) return undefined;
  const { source, template, context } = wanted;
  const options = { name, template, context, ...perms, saltenv: env, near: name };
  return () => {
    const found = findSource(source, options);
    const install = (known: FoundSource, isSeen: boolean): StateReturn | Promise<StateReturn> =>
      installFile(newReturn(name), { ...file, source: known, isSeen });
    return found instanceof Promise
      ? found.then(known => install(known, false))
      : install(found, true);
  };
};

const ofDirectory = new Set('name user group mode dir_mode makedirs'.split(' '));

/** `file.directory`, of a directory that is new, or whose contents are left alone. */
export const directoryQuickly: QuickCheck = (args, run) => {
  const { name, makedirs } = args;
  const perms = permsIn(args, args.dir_mode || args.mode);
  if (!hasOnly(args, ofDirectory) || !isPath(name) || !perms) return undefined;
  if (!isUnsetOrBoolean(makedirs)) return undefined;
  const path = name === '/' ? name : name.replace(/\/$/, '');
  const found = lstatOf(path);
  const ids = knownIds(perms);
  if (!found && ids && !run.test)
    return () => createDirectory(newReturn(name), path, perms, makedirs === true);
  return ids && found?.isDirectory() && hasPerms(found, perms, ids)
    ? `The directory ${path} is in the correct state`
    : undefined;
};

const isUnset = (value: Plain | undefined): value is null | undefined =>
  value === null || value === undefined;

const isUnsetOrBoolean = (value: Plain | undefined): boolean =>
  isUnset(value) || typeof value === 'boolean';

const isUnsetOrText = (value: Plain | undefined): value is string | null | undefined =>
  isUnset(value) || typeof value === 'string';

const isPath = (name: Plain | undefined): name is string =>
  typeof name === 'string' && name.startsWith('/');

type Account = string | number | null | undefined;

const isAccount = (value: Plain | undefined): value is Account =>
  isUnset(value) || typeof value === 'string' || typeof value === 'number';

type Perms = { readonly user: Account; readonly group: Account; readonly mode: Account };

const permsIn = ({ user, group }: PlainDict, mode: Plain | undefined): Perms | undefined =>
  isAccount(user) && isAccount(group) && isAccount(mode) ? { user, group, mode } : undefined;

/** The ids of owner and group; undefined if one of them does not exist. */
const knownIds = ({ user, group }: Perms): AccountIds | undefined => {
  const ids = accountIds(user, group);
  return (user && ids.uid === undefined) || (group && ids.gid === undefined) ? undefined : ids;
};

const givenContent = ({ contents, template, context }: PlainDict): Buffer | undefined => {
  if (typeof contents !== 'string' && !Array.isArray(contents)) return undefined;
  if (!isUnset(template) || !isUnset(context)) return undefined;
  const given = givenContents({ contents });
  return given instanceof Promise || given.text === undefined ? undefined : Buffer.from(given.text);
};

/** One source of the control node, with what it is rendered with. */
const saltSource = ({ source, contents, template, context }: PlainDict) => {
  if (typeof source !== 'string' || !isUnset(contents) || !isUnsetOrText(template))
    return undefined;
  if (!isUnset(context) && !isPlainDict(context)) return undefined;
  const url = parseSource(source);
  return url.scheme === 'salt' ? { source, url, template, context } : undefined;
};

const contentOfSource = (
  name: string,
  perms: Perms,
  args: PlainDict,
  run: QuickCheckRun,
): Pick<ComparedFile, 'source'> | undefined => {
  const wanted = saltSource(args);
  if (!wanted) return undefined;
  const { source, template, context } = wanted;
  const { path, saltenv = run.env } = wanted.url;
  const { files, rendered } = (run.context.__prefetch__ ?? {}) as Prefetched;
  if (isUnset(template)) {
    const file = files?.[prefetchedFileKey(path, saltenv)];
    if (!file?.found || file.sha256 === undefined) return undefined;
    return { source: { sum: sha256(file.sha256), size: file.size } };
  }
  if (template === '') return undefined;
  const request = renderRequest({ name, source, template, context, ...perms }, saltenv);
  const file = rendered?.[prefetchKey(request)];
  return file && { source: { sum: sha256(file.sha256), text: file.text } };
};

const sha256 = (hsum: string): SourceSum => ({ hash_type: 'sha256', hsum });
