import { fnmatchFilter, isGlob } from '../data/python/glob.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { RenderedSls, SlsLoader } from '../data/sls.ts';
import type { Trace } from '../data/values/position.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { withoutEnd } from '../data/values/without-end.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import { isFalsy } from './high.ts';
import { IncludeTags, taggedInclude } from './include-tags.ts';
import { includeLocation, locationOf, setFile } from './location.ts';
import { missingHint, missingSentence } from './missing-sls.ts';
import { type Problem, problem, renderProblem } from './problem.ts';

/** The SLS of a host: saltenv → names or globs, in order. */
export type Matches = ReadonlyMap<string, readonly string[]>;

/** An SLS with the SLS that it includes; every SLS of a run is in the tree once. */
export type LoadedSls = {
  readonly sls: string;
  readonly saltenv: string;
  readonly file: string | undefined;
  /** Maps positions in the data to positions in the templates. */
  readonly trace?: Trace | undefined;
  /** The rendered data without `include`; undefined if rendering failed or returned nothing. */
  readonly data: Data | undefined;
  /** Errors of rendering: missing file, invalid template. */
  readonly problems: readonly Problem[];
  /** The errors in the `include` declaration itself. */
  readonly includeProblems: readonly Problem[];
  readonly includes: readonly (LoadedSls | Problem)[];
  /** Tags that it was included with. */
  readonly tags?: ReadonlySet<string>;
};

export type SlsLoadOptions = {
  readonly matches: Matches;
  readonly loader: SlsLoader;
  /** Returns where an SLS of `matches` is written, such as `assignedAt`. */
  readonly placeOf?: ((saltenv: string, sls: string) => SourceLocation | undefined) | undefined;
};

/** The root SLS in order; a problem for a match without an environment. */
export type SlsTree = readonly SlsRoot[];
export type SlsRoot = {
  readonly asked: string;
  readonly saltenv: string;
  readonly loaded: LoadedSls | Problem;
};

/**
 * Renders the SLS of all matches and their includes, each once, in Salt's order: a file's includes
 * come before the next match. Collects the errors of all files.
 */
export const loadSls = async ({ matches, loader, placeOf }: SlsLoadOptions): Promise<SlsTree> => {
  const session = newSession(loader, matches);
  const roots: SlsRoot[] = [];
  for (const [saltenv, names] of matches)
    for (const asked of names) {
      if (!isEnv(session, saltenv)) {
        const message = `No matching salt environment for environment '${saltenv}' found`;
        roots.push({ asked, saltenv, loaded: problem(message, undefined) });
      }
      const found = await named(session, saltenv, asked);
      for (const sls of found.length > 0 ? found : [asked])
        if (!session.seen.has(keyOf(saltenv, sls))) {
          const loaded = await loadOne(session, saltenv, sls);
          const isMissing = placeOf !== undefined && loaded.file === undefined;
          const at = isMissing ? placeOf(saltenv, asked) : undefined;
          roots.push({ asked, saltenv, loaded: withPlace(loaded, at) });
        }
    }
  session.tags.inherit();
  return roots;
};

/** Loads a tree whose root is not a file of the roots (`state.template`); included files are. */
export const loadRendered = async (rendered: RenderedSls, loader: SlsLoader): Promise<SlsTree> => {
  const { sls, saltenv } = rendered;
  const session = newSession(loader, new Map([[saltenv, []]]));
  const loaded = await withIncludes(session, { sls, saltenv }, rendered, []);
  session.tags.inherit();
  return [{ asked: sls, saltenv, loaded }];
};

const newSession = (loader: SlsLoader, matches: Matches): Session => ({
  loader,
  matches,
  seen: new Set(),
  lists: new Map(),
  envs: loader.envs(),
  tags: new IncludeTags(),
});

type Session = {
  readonly loader: SlsLoader;
  readonly matches: Matches;
  /** `env:sls` of all SLS rendered so far. */
  readonly seen: Set<string>;
  readonly lists: Map<string, ReadonlySet<string>>;
  readonly envs: readonly string[];
  readonly tags: IncludeTags;
};

/** Roots under `__env__` belong to every environment. */
const isEnv = ({ envs }: Session, saltenv: string): boolean =>
  envs.includes(saltenv) || envs.includes('__env__');

const keyOf = (saltenv: string, sls: string): string => `${saltenv}:${sls}`;

const listed = async (session: Session, saltenv: string): Promise<ReadonlySet<string>> => {
  if (!isEnv(session, saltenv)) return new Set();
  const known = session.lists.get(saltenv);
  if (known) return known;
  const list = new Set(await session.loader.list(saltenv));
  session.lists.set(saltenv, list);
  return list;
};

/** Returns the SLS of an environment that match a name or glob. */
const named = async (session: Session, saltenv: string, name: string): Promise<string[]> => {
  const list = await listed(session, saltenv);
  if (isGlob(name)) return fnmatchFilter(list, name);
  return list.has(name) ? [name] : [];
};

type Rendered = { readonly rendered?: RenderedSls; readonly problems: readonly Problem[] };

const renderOne = async (session: Session, saltenv: string, sls: string): Promise<Rendered> => {
  try {
    const rendered = await session.loader.render(saltenv, sls);
    if (rendered) {
      session.seen.add(keyOf(saltenv, sls));
      return { rendered, problems: [] };
    }
    // It is not added to `seen`: each include of it reports the error.
    const message =
      `Specified SLS ${sls} in saltenv ${saltenv} is not available on the salt master ` +
      'or through a configured fileserver';
    const names = await listed(session, saltenv);
    const missing = problem(message, undefined, missingHint(session.loader, saltenv, sls, names));
    return { problems: [{ ...missing, sentence: missingSentence(saltenv, sls) }] };
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    session.seen.add(keyOf(saltenv, sls));
    return { problems: [renderProblem(`Rendering SLS '${saltenv}:${sls}' failed: `, error)] };
  }
};

const loadOne = async (session: Session, saltenv: string, sls: string): Promise<LoadedSls> => {
  const { rendered, problems } = await renderOne(session, saltenv, sls);
  return withIncludes(session, { sls, saltenv }, rendered, problems);
};

const withIncludes = async (
  session: Session,
  { sls, saltenv }: { readonly sls: string; readonly saltenv: string },
  rendered: RenderedSls | undefined,
  problems: readonly Problem[],
): Promise<LoadedSls> => {
  const key = keyOf(saltenv, sls);
  const base = {
    ...{ sls, saltenv, file: rendered?.file, trace: rendered?.trace, problems },
    tags: session.tags.of(key),
  };
  const nothing = { ...base, data: undefined, includeProblems: [], includes: [] };
  if (!rendered || isFalsy(rendered.data)) return nothing;
  const { data, file } = rendered;
  if (!isDict(data)) {
    const message = `SLS ${sls} does not render to a dictionary`;
    const hint = 'An SLS is a mapping of IDs to states, or empty.';
    return { ...nothing, problems: [problem(message, { file }, hint), ...unusable(data, file)] };
  }
  setFile(data, file, rendered.trace);
  const declared = data.get('include');
  if (!data.has('include')) return { ...base, data, includeProblems: [], includes: [] };
  if (!Array.isArray(declared)) {
    const message = `Include Declaration in SLS ${sls} is not formed as a list`;
    const includeProblems = [problem(message, locationOf([data], 'include'))];
    return { ...base, data, includeProblems, includes: [] };
  }
  const includes: (LoadedSls | Problem)[] = [];
  for (const [index, entry] of declared.entries()) {
    const at = includeLocation(data, declared, index);
    const { name, tags } = taggedInclude(entry);
    const found = await resolveInclude(session, { saltenv, sls, file }, name);
    if (typeof found === 'string') {
      includes.push(problem(found, at));
      continue;
    }
    for (const target of found.targets) {
      session.tags.link(key, keyOf(found.saltenv, target), tags);
      if (!session.seen.has(keyOf(found.saltenv, target)))
        includes.push(withPlace(await loadOne(session, found.saltenv, target), at));
    }
  }
  return { ...base, data, includeProblems: [], includes };
};

/** Returns the further error that Salt reports when it tries to merge a list or a string. */
const unusable = (data: Data, file: string): Problem[] =>
  Array.isArray(data) || typeof data === 'string'
    ? [problem(`Error when rendering state with contents: ${pyStr(data)}`, { file })]
    : [];

/** Reports a missing SLS at the position where it is asked for. */
const withPlace = (loaded: LoadedSls, at: Problem['at']): LoadedSls =>
  at === undefined || loaded.file !== undefined
    ? loaded
    : { ...loaded, problems: loaded.problems.map(one => (one.at ? one : { ...one, at })) };

type Includer = { readonly saltenv: string; readonly sls: string; readonly file: string };
type Found = { readonly saltenv: string; readonly targets: readonly string[] };

const anyEnv = '_xenv';

const resolveInclude = async (
  session: Session,
  from: Includer,
  entry: Data,
): Promise<Found | string> => {
  const [env, written] = isDict(entry) ? lastEntry(entry) : [from.saltenv, entry];
  const where = `SLS '${from.saltenv}:${from.sls}'`;
  if (!isEnv(session, env))
    return `Nonexistent saltenv '${env}' found in include of '${pyStr(written)}' within ${where}`;
  if (typeof written !== 'string')
    return `Badly formatted include ${pyStr(written)} found in include in ${where}`;
  const name = written.startsWith('.') ? absolute(written, from) : written;
  if (name === undefined)
    return `Attempted relative include of '${written}' within ${where} goes beyond top level package `;
  const envs =
    env === anyEnv ? await envsWith(session, name) : await envIfKnown(session, env, name);
  if (envs.length !== 1 && !envs.includes(from.saltenv))
    return unresolved(session, env, name, envs);
  const saltenv = envs.length === 1 ? (envs[0] as string) : from.saltenv;
  // A pattern is looked up in the including file's environment, even if the include names another.
  const targets = await named(session, from.saltenv, name);
  return { saltenv, targets: targets.length > 0 ? targets : [name] };
};

const lastEntry = (dict: Dict): [string, Data] => {
  const [key, value] = [...dict].at(-1) ?? [null, null];
  return [pyStr(key), value];
};

/** Resolves `.sibling`, `..cousin` relative to the folder of the including file. */
const absolute = (written: string, from: Includer): string | undefined => {
  const [, dots = '', rest = ''] = /^(\.+)(.*)$/s.exec(written) ?? [];
  const path = from.sls.split('.');
  if (/(^|\/)init\.sls$/.test(from.file)) path.push('init');
  if (dots.length > path.length) return undefined;
  // Otherwise a file that includes its own folder (`.`) would get another name each time.
  const joined = [...path.slice(0, -dots.length), rest].join('.');
  return joined.endsWith('..') ? `${withoutEnd(joined, '.')}.` : joined;
};

const envsWith = async (session: Session, name: string): Promise<string[]> => {
  const found: string[] = [];
  for (const env of session.matches.keys())
    if ((await named(session, env, name)).length > 0) found.push(env);
  return found;
};

const envIfKnown = async (session: Session, env: string, name: string): Promise<string[]> =>
  session.matches.has(env) || (await named(session, env, name)).length > 0 ? [env] : [];

const unresolved = (
  session: Session,
  env: string,
  name: string,
  envs: readonly string[],
): string => {
  if (envs.length > 0)
    return `Ambiguous include: Specified SLS ${env}: ${name} is available on the salt master in multiple available saltenvs: ${envs.join(', ')}`;
  const asked = env === anyEnv ? [...session.matches.keys()].join(', ') : env;
  return `Unknown include: Specified SLS ${env}: ${name} is not available on the salt master in saltenv(s): ${asked} `;
};
