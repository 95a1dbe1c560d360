import { isPlainDict } from '../../protocol/plain.ts';
import {
  type Prefetched,
  prefetchedFileKey,
  prefetchKey,
  renderRequest,
} from '../../protocol/prefetch.ts';
import { accountIds } from '../_shared/files/file-checks.ts';
import { keepsMode } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import type { SourceSum } from '../_shared/sources/source-hash.ts';
import { parseSource } from '../_shared/sources/source-url.ts';
import type { Plain, PlainDict } from '../api.ts';
import { hasOnly, type QuickCheck, type QuickCheckRun } from '../quick-check.ts';
import { type Accumulators, accumulatorsKey } from './accumulators.ts';
import { type ComparedFile, hasPerms, isAlready } from './already.ts';
import { givenContents } from './managed-contents.ts';

const ofManaged = new Set(
  'name source contents template context user group mode makedirs backup'.split(' '),
);

/** `file.managed`, of a file whose content is in the state or whose hash came with the run. */
export const managedQuickly: QuickCheck = (args, run) => {
  const { name, makedirs, backup } = args;
  const perms = permsIn(args, args.mode);
  if (!hasOnly(args, ofManaged) || !isPath(name) || !perms || keepsMode(perms.mode))
    return undefined;
  if (!isUnsetOr('boolean', makedirs) || !isUnsetOr('string', backup)) return undefined;
  const entry = lstatOf(name);
  const accumulated = run.context[accumulatorsKey] as Accumulators | undefined;
  if (!entry?.isFile() || accumulated?.[name]) return undefined;
  const content = isUnset(args.source)
    ? givenContent(args)
    : contentOfSource(name, perms, args, run);
  if (!content) return undefined;
  const ids = accountIds(perms.user, perms.group);
  return isAlready({ name, perms, ...content }, entry, ids)
    ? `${run.test ? 'The file' : 'File'} ${name} is in the correct state`
    : undefined;
};

const ofDirectory = new Set('name user group mode dir_mode makedirs'.split(' '));

/** `file.directory`, of a directory whose contents are left alone. */
export const directoryQuickly: QuickCheck = args => {
  const { name, makedirs } = args;
  const perms = permsIn(args, args.dir_mode || args.mode);
  if (!hasOnly(args, ofDirectory) || !isPath(name) || !perms) return undefined;
  if (!isUnsetOr('boolean', makedirs)) return undefined;
  const path = name === '/' ? name : name.replace(/\/$/, '');
  const found = lstatOf(path);
  return found?.isDirectory() && hasPerms(found, perms, accountIds(perms.user, perms.group))
    ? `The directory ${path} is in the correct state`
    : undefined;
};

const isUnset = (value: Plain | undefined): value is null | undefined =>
  value === null || value === undefined;

const isUnsetOr = (type: 'boolean' | 'string', value: Plain | undefined): boolean =>
  isUnset(value) || typeof value === type;

const isPath = (name: Plain | undefined): name is string =>
  typeof name === 'string' && name.startsWith('/');

type Account = string | number | null | undefined;

const isAccount = (value: Plain | undefined): value is Account =>
  isUnset(value) || typeof value === 'string' || typeof value === 'number';

type Perms = { readonly user: Account; readonly group: Account; readonly mode: Account };

const permsIn = ({ user, group }: PlainDict, mode: Plain | undefined): Perms | undefined =>
  isAccount(user) && isAccount(group) && isAccount(mode) ? { user, group, mode } : undefined;

type Content = Pick<ComparedFile, 'source' | 'contents'>;

const givenContent = ({ contents, template, context }: PlainDict): Content | undefined => {
  if (typeof contents !== 'string' && !Array.isArray(contents)) return undefined;
  if (!isUnset(template) || !isUnset(context)) return undefined;
  const given = givenContents({ contents });
  return given instanceof Promise || given.text === undefined
    ? undefined
    : { contents: Buffer.from(given.text) };
};

const contentOfSource = (
  name: string,
  perms: Perms,
  { source, contents, template, context }: PlainDict,
  run: QuickCheckRun,
): Content | undefined => {
  if (typeof source !== 'string' || !isUnset(contents)) return undefined;
  if (!isUnset(context) && !isPlainDict(context)) return undefined;
  const { scheme, path, saltenv = run.env } = parseSource(source);
  if (scheme !== 'salt') return undefined;
  const { files, rendered } = (run.context.__prefetch__ ?? {}) as Prefetched;
  if (isUnset(template)) {
    const file = files?.[prefetchedFileKey(path, saltenv)];
    if (!file?.found || file.sha256 === undefined) return undefined;
    return { source: { sum: sha256(file.sha256), size: file.size } };
  }
  if (typeof template !== 'string' || template === '') return undefined;
  const request = renderRequest({ name, source, template, context, ...perms }, saltenv);
  const file = rendered?.[prefetchKey(request)];
  return file && { source: { sum: sha256(file.sha256), text: file.text } };
};

const sha256 = (hsum: string): SourceSum => ({ hash_type: 'sha256', hsum });
