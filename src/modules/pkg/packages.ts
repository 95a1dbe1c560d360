import { fnmatch } from '../../data/python/glob.ts';
import { getOwn, isPlainDict, setOwn } from '../../protocol/plain.ts';
import { runCommand } from '../_shared/commands/run-command.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { orderHolds } from '../_shared/text/version-order.ts';
import {
  __context__,
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../api.ts';

/** Installed packages: every version of each name. */
export type PackageList = { [name: string]: string[] };
/** Before and after, by package: the return of every function that changes packages. */
export type PackageChanges = { [name: string]: { old: string; new: string } };
/** The packages to install: a version, or null for any, by name, in order. */
export type DesiredPackages = Map<string, string | null>;

/** A failure after which some packages may have changed nevertheless. */
export class PackageError extends CommandExecutionError {
  readonly changes: PlainDict;
  constructor(message: string, errors: readonly string[], changes: PlainDict) {
    super(
      errors.length === 0
        ? message
        : `${message}. Additional info follows:\n\nerrors:\n${errors
            .map(text => `    - ${text.trim().replaceAll('\n', '\n      ')}`)
            .join('\n')}`,
    );
    this.changes = changes;
  }
}

/** A list names a package twice, so the version is ambiguous. */
export class PackageTwice extends SaltInvocationError {
  constructor(name: string) {
    super(
      `The list of packages names ${name} twice: name it once, with the version it is to have.`,
    );
  }
}

/** Reads names and versions from Salt's forms: a list of names and one-key dicts, or a dict. */
export const parsePackageArguments = (
  pkgs: Plain | undefined,
  normalize: (name: string) => string = name => name,
): DesiredPackages => {
  const wanted: DesiredPackages = new Map();
  const add = (name: string, version: Plain): void => {
    const key = normalize(name);
    if (wanted.has(key)) throw new PackageTwice(key);
    wanted.set(key, version === null || version === '' ? null : plainStr(version));
  };
  if (isPlainDict(pkgs)) for (const [name, version] of Object.entries(pkgs)) add(name, version);
  else if (Array.isArray(pkgs))
    for (const item of pkgs)
      if (isPlainDict(item)) for (const [name, version] of Object.entries(item)) add(name, version);
      else if (item !== null && typeof item !== 'object') add(String(item), null);
      else throw new SaltInvocationError('Every entry of pkgs must be a name or {name: version}.');
  else if (typeof pkgs === 'string')
    for (const name of pkgs.split(',')) if (name.trim()) add(name.trim(), null);
  return wanted;
};

/** Reads sources by package name: a list of one-key dicts `{name: path or URL}`, or a dict. */
export const packageSources = (sources: Plain | undefined): Map<string, string> => {
  const found = new Map<string, string>();
  const items = isPlainDict(sources) ? [sources] : Array.isArray(sources) ? sources : [];
  for (const item of items) {
    if (!isPlainDict(item))
      throw new SaltInvocationError('Every entry of sources must be {name: path or URL}.');
    for (const [name, source] of Object.entries(item)) found.set(name, plainStr(source));
  }
  return found;
};

/** Returns the names for a function of any provider: `pkgs`, or else `name` (commas allowed). */
export const targetsOf = (
  name: string | null | undefined,
  pkgs: Plain | undefined,
  version: Plain | undefined,
  normalize?: (name: string) => string,
): DesiredPackages => {
  if (pkgs !== null && pkgs !== undefined) return parsePackageArguments(pkgs, normalize);
  if (!name) throw new SaltInvocationError('No package sources provided');
  const wanted = parsePackageArguments(name, normalize);
  if (version === null || version === undefined) return wanted;
  return new Map([...wanted.keys()].map(key => [key, plainStr(version)]));
};

/** Returns the differences between two lists of packages. */
export const packageChanges = (before: PackageList, after: PackageList): PackageChanges => {
  const changes: PackageChanges = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, current] = [
      getOwn(before, name)?.join(',') ?? '',
      getOwn(after, name)?.join(',') ?? '',
    ];
    if (old !== current) changes[name] = { old, new: current };
  }
  return changes;
};

/** Formats a list of packages as requested: versions as lists, or joined by commas. */
export const shownPackages = (
  list: PackageList,
  asList: boolean | undefined,
): { [name: string]: string | string[] } => {
  const shown: { [name: string]: string | string[] } = {};
  for (const name of Object.keys(list)) {
    const versions = list[name] ?? [];
    setOwn(shown, name, asList ? [...versions] : versions.join(','));
  }
  return shown;
};

const listKey = 'pkg.list_pkgs';

/** Caches the result of `read` for the run, until `forgetPackages` is called after a change. */
export const rememberPackages = async <T>(read: () => Promise<T>): Promise<T> => {
  const known: unknown = __context__[listKey];
  if (known !== undefined) return known as T;
  const fresh = await read();
  __context__[listKey] = fresh;
  return fresh;
};

export const forgetPackages = (): void => {
  delete __context__[listKey];
};

const refreshKey = 'pkg.refresh_due';

/** The first pkg state of a run makes one refresh due. */
export const makeRefreshDue = (): void => {
  __context__[refreshKey] = true;
};

export const refreshDone = (): void => {
  delete __context__[refreshKey];
};

/** Whether to fetch the package lists now: as requested, else once per run; never in test mode. */
export const isRefreshDue = (refresh: boolean | null | undefined): boolean => {
  if (__opts__.test) return false;
  return refresh === true || (refresh !== false && __context__[refreshKey] === true);
};

/**
 * Whether one of the installed versions satisfies `1.2`, `1.*`, `>=1.2`, `>=1.2,<2` … A missing
 * epoch is ignored, except in comparisons of order.
 */
export const fulfills = (
  installed: readonly string[],
  wanted: string,
  compare: (left: string, right: string, ignoreEpoch: boolean) => number,
  {
    ignoreEpoch,
    allowUpdates = false,
  }: { ignoreEpoch?: boolean | null; allowUpdates?: boolean } = {},
): boolean => {
  const conditions = parseConditions(wanted);
  const isUpdate = allowUpdates && conditions.length === 1;
  return installed.some(have =>
    conditions.every(({ operator, version }) => {
      const effective = isUpdate && operator === '==' ? '>=' : operator;
      const skipEpoch = ignoreEpoch ?? (!/[<>]/.test(effective) && !version.includes(':'));
      return (
        (effective === '==' && fnmatch(have, version)) ||
        orderHolds(effective, compare(have, version, skipEpoch))
      );
    }),
  );
};

/** Parses the conditions of a version; the operator defaults to `==`. */
export const parseConditions = (text: string): { operator: string; version: string }[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => {
      const match = /^(<=>|!=|>=|<=|>>|<<|==|<>|>|<|=)?\s*(\S+)$/.exec(part);
      if (!match) throw new CommandExecutionError(`Invalid version specification: ${text}`);
      const operator = match[1] ?? '==';
      return { operator: operator === '=' ? '==' : operator, version: match[2] ?? '' };
    });

/** Runs a package manager, and waits while another process holds its lock. */
export const runPackager = async (
  argv: readonly [string, ...string[]],
  {
    env = {},
    locked,
    stdin,
    cwd = '/',
  }: {
    env?: Record<string, string>;
    /** Matches the manager's message while another process holds the lock. */
    locked: RegExp;
    stdin?: string;
    cwd?: string;
  },
): Promise<{ code: number; stdout: string; stderr: string }> => {
  for (let turn = 1; ; turn += 1) {
    const result = await runCommand(argv, { env, plainLocale: true, stdin, cwd, live: true });
    const said = result.stderr + result.stdout;
    // Waiting is useless if this user may not open the lock.
    const busy =
      result.code !== 0 && locked.test(said) && !/permission denied|are you root/i.test(said);
    if (!busy || turn > 7) return result;
    await new Promise(resolve => setTimeout(resolve, 1000 * Math.min(2 ** turn, 30)));
  }
};
