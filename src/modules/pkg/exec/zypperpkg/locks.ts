import { fnmatch } from '../../../../data/python/glob.ts';
import { inRoot } from '../../../_shared/commands/other-root.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { xmlElements, xmlText } from '../../../_shared/text/xml-elements.ts';
import { CommandExecutionError, type Plain } from '../../../api.ts';
import type { HoldResults } from '../../holds.ts';
import { installedBy } from '../../package-manager.ts';
import { parsePackageArguments } from '../../packages.ts';
import { zypper } from '../../zypper.ts';
import { changeByZypper } from '../../zypper-run.ts';

type Lock = { [field: string]: string };
type RootOptions = {
  /** a folder with another system */
  root?: string | null;
  [other: string]: unknown;
};

/**
 * Lists zypper's locks of packages: `type`, `match_type`, `case_sensitive` …
 *
 * @example tsalt-ssh '*' pkg.list_locks
 */
export const list_locks = async ({
  root = null,
}: RootOptions = {}): Promise<{
  [name: string]: Lock;
}> => _parseLocks(readOr(inRoot('/etc/zypp/locks', root)) ?? '');

/** Blocks of `field: value` with an empty line between them. */
export const _parseLocks = (text: string): { [name: string]: Lock } => {
  const locks: { [name: string]: Lock } = {};
  for (const block of text.split(/\n\s*\n/)) {
    const { solvable_name, ...lock } = Object.fromEntries(
      [...block.matchAll(/^\s*([^:\n]+?)\s*:\s*(.*?)\s*$/gm)].map(match => [match[1], match[2]]),
    ) as Lock;
    if (solvable_name) locks[solvable_name] = lock;
  }
  return locks;
};

/**
 * Lists the installed packages that are held.
 *
 * @param pattern a regular expression: only packages whose names it matches
 * @param full false: their names only
 * @returns such as `nginx-0:1.21.5-150400.3.3.1.*`
 * @example tsalt-ssh '*' pkg.list_holds full=False
 */
export const list_holds = async ({
  pattern = null,
  full = true,
  root = null,
}: { pattern?: string | null; full?: boolean } & RootOptions = {}): Promise<string[]> => {
  const locked = Object.entries(await list_locks({ root }))
    .filter(([, { type = 'package' }]) => type === 'package')
    .map(([name]) => name);
  const isWanted = pattern === null ? null : new RegExp(`^(?:${pattern})$`);
  return Object.entries(await installedBy(zypper, root))
    .filter(([name]) => locked.some(lock => fnmatch(name, lock)))
    .filter(([name]) => !isWanted || isWanted.test(name))
    .flatMap(([name, versions]) =>
      full ? versions.map(one => `${name}-${one.includes(':') ? '' : '0:'}${one}.*`) : [name],
    )
    .sort();
};

/**
 * Removes locks that match nothing.
 *
 * @example tsalt-ssh '*' pkg.clean_locks
 */
export const clean_locks = async ({
  root = null,
}: RootOptions = {}): Promise<{
  removed: number | string;
}> => {
  if (readOr(inRoot('/etc/zypp/locks', root)) === undefined) return { removed: 0 };
  const said = xmlElements(await changeByZypper({ root }, 'cleanlocks'), 'message');
  const count = said
    .map(({ inner }) => /^removed (\d+)/i.exec(xmlText(inner).trim())?.[1])
    .find(one => one !== undefined);
  return { removed: count ?? 0 };
};

type HoldOptions = { pkgs?: Plain } & RootOptions;

/**
 * Keeps packages at their version.
 *
 * @param name a package
 * @param pkgs names of packages, or `{name: version}`
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  { pkgs = null, root = null }: HoldOptions = {},
): Promise<HoldResults> => {
  const locks = await list_locks({ root });
  const results: HoldResults = {};
  const words: string[] = [];
  for (const [one, version] of targetsOf(name, pkgs)) {
    const isDone = one in locks;
    if (!isDone) words.push(version === null ? one : `${one}=${version}`);
    results[one] = {
      name: one,
      changes: isDone ? {} : { new: 'hold', old: '' },
      result: true,
      comment: `Package ${one} is ${isDone ? 'already set to be' : 'now being'} held.`,
    };
  }
  if (words.length > 0) await changeByZypper({ root }, 'addlock', ...words);
  return results;
};

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages, or `{name: version}`
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  { pkgs = null, root = null }: HoldOptions = {},
): Promise<HoldResults> => {
  const locks = await list_locks({ root });
  const results: HoldResults = {};
  const words: string[] = [];
  for (const [one, version] of targetsOf(name, pkgs)) {
    const lock = locks[one];
    const locked = lock?.version?.replace(/^[= ]+/, '') ?? null;
    const isOther = lock !== undefined && version !== null && locked !== version;
    if (lock && !isOther) words.push(locked === null ? one : `${one}=${locked}`);
    results[one] = {
      name: one,
      changes: lock && !isOther ? { new: '', old: 'hold' } : {},
      result: !isOther,
      comment: isOther
        ? `Unable to unhold package ${one} as it is held with the other version.`
        : `Package ${one} ${lock ? 'is no longer held' : 'was already unheld'}.`,
    };
  }
  if (words.length > 0) await changeByZypper({ root }, 'removelock', ...words);
  return results;
};

const targetsOf = (name: string | null, pkgs: Plain): Map<string, string | null> => {
  if (!name && !pkgs) throw new CommandExecutionError('Name or packages must be specified.');
  return parsePackageArguments(pkgs ?? [name]);
};
