import { fnmatchFilter } from '../data/python/glob.ts';
import { pyRepr, pyStr } from '../data/python/python-text.ts';
import type { SlsLoader } from '../data/sls.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import type { Subject } from '../targeting/match.ts';
import { matches as isMatch } from '../targeting/match.ts';
import { isFalsy } from './high.ts';
import type { Matches } from './load.ts';
import { copyOf, locationOf, setFile } from './location.ts';
import type { Problem } from './problem.ts';
import { problem, problemOf } from './problem.ts';

export type TopOptions = {
  /** The `state_top` option: a path below the roots, also as `salt://…` or with a leading slash. */
  readonly stateTop: string;
  /** Only this environment's top file and section. */
  readonly saltenv?: string | undefined;
  readonly stateTopSaltenv?: string | undefined;
  readonly strategy: string;
  readonly defaultTop: string;
  readonly envOrder: readonly string[];
};

/** Top files merged: saltenv → target → list of SLS and match options. */
export type Top = Dict;

export type TopResult = {
  readonly top: Top;
  /** Errors that leave the top empty: no rendering, no targets. */
  readonly problems: readonly Problem[];
  /** Set if a correct top file is required: functions that only show it stop here. */
  readonly fatal?: TsaltError;
};

/**
 * Reads and merges the top files of all environments.
 * (salt.state.BaseHighState.get_tops, merge_tops)
 */
export const loadTop = async (loader: SlsLoader, options: TopOptions): Promise<TopResult> => {
  try {
    return { top: mergeTops(await readTops(loader, options), options), problems: [] };
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const found = problemOf(error);
    return fatalCodes.has(error.code)
      ? { top: new Map(), problems: [found], fatal: error }
      : { top: new Map(), problems: [found] };
  }
};

const fatalCodes: ReadonlySet<string> = new Set(['top-no-targets', 'top-no-dict']);

/** The top files of each environment, in order of precedence. */
type Tops = Map<string, Dict[]>;

const noTargets = (top: Dict, env: DataKey): TsaltError => {
  const at = locationOf([top], env);
  return new TsaltError('top-no-targets', 'Unable to render top file. No targets found.', {
    kind: 'render',
    at,
    hint: 'Below an environment stand targets, each with a list of SLS.',
  });
};

const readTops = async (loader: SlsLoader, options: TopOptions): Promise<Tops> => {
  const { saltenv, stateTopSaltenv, strategy, defaultTop } = options;
  if (strategy === 'same' && !saltenv && !defaultTop)
    throw new TsaltError(
      'top-no-default',
      "top_file_merging_strategy set to 'same', but no default_top configuration option was set",
      { kind: 'render' },
    );
  const path = topPath(options.stateTop);
  const one = saltenv || stateTopSaltenv;
  const tops: Tops = new Map();
  for (const env of one ? [one] : environments(loader, options.envOrder))
    tops.set(env, await readTop(loader, env, path));
  return tops;
};

/** `salt://top.sls`, `/top.sls` and `top.sls` are the same file. */
const topPath = (stateTop: string): string =>
  stateTop.replace(/^salt:\/\//, '').replace(/^\/+/, '');

const environments = (loader: SlsLoader, envOrder: readonly string[]): string[] => {
  const known = loader.envs();
  const ordered = [...new Set(envOrder)].filter(env => known.length === 0 || known.includes(env));
  const all = [...new Set(['base', ...known])].filter(env => env !== '__env__');
  return envOrder.length > 0 ? ordered : all;
};

const slsName = (path: string): string => path.replace(/\.sls$/, '').replaceAll('/', '.');

/**
 * Reads one environment's top file and the tops that it includes; includes of those are ignored.
 */
const readTop = async (loader: SlsLoader, env: string, path: string): Promise<Dict[]> => {
  const render = async (sls: string, file?: string): Promise<Dict | undefined> => {
    const rendered = await loader.render(env, sls, file === undefined ? {} : { path: file });
    if (!rendered || isFalsy(rendered.data)) return undefined;
    if (!isDict(rendered.data))
      throw new TsaltError('top-no-dict', `The top file of '${env}' is not a dictionary.`, {
        kind: 'render',
        at: { file: rendered.file },
        hint: 'It holds environments, each with targets, each with a list of SLS.',
      });
    const top = copyOf(rendered.data);
    setFile(top, rendered.file, rendered.trace);
    for (const targets of top.values())
      if (isDict(targets)) setFile(targets, rendered.file, rendered.trace);
    return top;
  };
  const first = await render(slsName(path), path);
  const include = first?.get('include');
  const included = new Set<string>();
  for (const wanted of Array.isArray(include) ? include.map(pyStr) : [])
    for (const name of fnmatchFilter(await loader.list(env), wanted)) included.add(name);
  const tops = [first];
  for (const name of included) tops.push(await render(name));
  for (const top of tops) top?.delete('include');
  return tops.filter(top => top !== undefined);
};

const mergeTops = (tops: Tops, options: TopOptions): Top => {
  if (options.strategy === 'same') return mergeSame(tops, options.defaultTop);
  return options.strategy === 'merge_all' ? mergeAll(tops) : mergeBaseFirst(tops);
};

/** Returns undefined without targets. */
const targetsOf = (from: Dict, env: DataKey): Dict | undefined => {
  const targets = from.get(env) ?? null;
  if (targets === '' || (Array.isArray(targets) && targets.length === 0)) return undefined;
  if (!isDict(targets)) throw noTargets(from, env);
  return targets.size === 0 ? undefined : targets;
};

const addTargets = (top: Top, from: Dict, env: DataKey): void => {
  const targets = targetsOf(from, env);
  if (!targets) return;
  const known = top.get(env);
  const merged = isDict(known) ? known : copyOf(targets);
  for (const [target, states] of targets) merged.set(target, states);
  top.set(env, merged);
};

/** `merge`: base decides; another environment's top counts only for sections that base lacks. */
const mergeBaseFirst = (tops: Tops): Top => {
  const top: Top = new Map();
  for (const base of tops.get('base') ?? [])
    for (const env of base.keys()) addTargets(top, base, env);
  const decided = new Set(top.keys());
  for (const [own, files] of tops)
    if (own !== 'base')
      for (const file of files)
        if (file.has(own) && !decided.has(own)) {
          decided.add(own);
          addTargets(top, file, own);
        }
  return top;
};

/** `same`: each environment has its own top file; `default_top` is used for those without one. */
const mergeSame = (tops: Tops, defaultTop: string): Top => {
  const top: Top = new Map();
  for (const [env, files] of tops) {
    const used = isNothing(files) ? (tops.get(defaultTop) ?? []) : files;
    for (const file of used) if (file.has(env)) addTargets(top, file, env);
  }
  return top;
};

const isNothing = (files: readonly Dict[]): boolean => files.every(file => file.size === 0);

/** `merge_all`: every section of every top file counts; equal targets get the SLS of all. */
const mergeAll = (tops: Tops): Top => {
  const top: Top = new Map();
  for (const files of tops.values())
    for (const file of files)
      for (const env of file.keys()) {
        const targets = targetsOf(file, env);
        if (!targets) continue;
        const known = top.get(env);
        const merged = isDict(known) ? known : new Map<DataKey, Data>();
        for (const [target, states] of targets) {
          const before = merged.get(target);
          if (before !== undefined && ![before, states].every(isIterable))
            throw noTargets(file, env);
          merged.set(target, before === undefined ? states : joined(before, states));
        }
        top.set(env, merged);
      }
  return top;
};

const isIterable = (states: Data): boolean =>
  typeof states === 'string' || Array.isArray(states) || isDict(states);

const joined = (first: Data, second: Data): Data[] => {
  const parts = [first, second].map(list => (Array.isArray(list) ? list : []));
  const option = parts.flatMap(list => list.filter(isDict)).at(-1);
  const [known = [], more = []] = parts.map(list => list.filter(item => typeof item === 'string'));
  const states = [...known, ...more.filter(item => !known.includes(item))];
  return [...(option ? [option] : []), ...states];
};

/** Returns every error in merged top data. (salt.state.BaseHighState.verify_tops) */
export const verifyTop = (top: Data): Problem[] => {
  if (!isDict(top)) return [problem('Top data was not formed as a dict', undefined)];
  return [...top].flatMap(([env, targets]) =>
    env === 'include' ? [] : verifyEnv(top, env, targets),
  );
};

const verifyEnv = (top: Dict, env: DataKey, targets: Data): Problem[] => {
  const problems: Problem[] = [];
  const at = locationOf([targets]) ?? locationOf([top], env);
  if (typeof env !== 'string')
    problems.push(problem(`Environment ${pyStr(env)} in top file is not formed as a string`, at));
  if (env === '') problems.push(problem('Empty saltenv statement in top file', at));
  if (!isDict(targets)) {
    const message = `The top file matches for saltenv ${pyStr(env)} are not formatted as a dict`;
    return [...problems, problem(message, at)];
  }
  for (const [target, states] of targets) {
    const here = locationOf([targets], target) ?? at;
    if (!Array.isArray(states)) {
      const message = 'Malformed topfile (state declarations not formed as a list)';
      problems.push(problem(message, here, `Write the SLS of "${pyStr(target)}" as a list.`));
      continue;
    }
    for (const item of states) {
      if (item === '')
        problems.push(problem(`Environment ${pyStr(env)} contains an empty sls index`, here));
      for (const value of isDict(item) ? item.values() : [])
        if (isFalsy(value)) {
          const message = `Improperly formatted top file matcher in saltenv ${pyRepr(item)}: ${pyStr(value)} file`;
          problems.push(problem(message, here));
        }
    }
  }
  return problems;
};

/**
 * Returns the SLS that top data assigns to this host, by environment, in order, duplicates
 * included.
 * (salt.state.BaseHighState.top_matches)
 */
export const topMatches = (
  top: Top,
  subject: Subject,
  options: { readonly saltenv?: string | undefined; readonly envs: readonly string[] },
): Matches => {
  const found = new Map<string, string[]>();
  const add = (env: string, sls: string): void => {
    const list = found.get(env);
    if (list) list.push(sls);
    else found.set(env, [sls]);
  };
  const consider = (env: string, target: Data, data: Data): void => {
    const items = typeof data === 'string' ? [data] : Array.isArray(data) ? data : [];
    if (!confirm(target, items, subject)) return;
    if (!found.has(env)) found.set(env, []);
    for (const item of items) {
      if (typeof item === 'string') add(env, item);
      if (!isDict(item)) continue;
      const rest = new Map(item);
      const subfilter = rest.get('subfilter');
      rest.delete('subfilter');
      for (const [inner, states] of isDict(subfilter) ? subfilter : [])
        consider(env, inner, states);
      const [other, sls] = [...rest].at(-1) ?? [];
      if (typeof other === 'string' && options.envs.includes(other) && typeof sls === 'string')
        add(other, sls);
    }
  };
  for (const [env, targets] of top) {
    if (options.saltenv && env !== options.saltenv) continue;
    for (const [target, data] of isDict(targets) ? targets : []) consider(pyStr(env), target, data);
  }
  return found;
};

/** Returns where a top file assigns an SLS to a target, the first one that does. */
export const assignedAt = (top: Top, saltenv: string, sls: string): SourceLocation | undefined => {
  const targets = top.get(saltenv);
  for (const states of isDict(targets) ? targets.values() : []) {
    const index = Array.isArray(states) ? states.indexOf(sls) : -1;
    if (index >= 0) return locationOf([targets, states], index);
  }
  return undefined;
};

/** Without `match:` a target in a top file is a compound expression. (salt.matchers.confirm_top) */
export const confirm = (target: Data, items: readonly Data[], subject: Subject): boolean => {
  const option = items.filter(isDict).findLast(item => item.has('match'));
  const type = option ? pyStr(option.get('match') ?? null) : 'compound';
  return isMatch(target, type, subject);
};

/** `state.show_top`: returns matches as data. */
export const matchesAsData = (matches: Matches): Dict =>
  new Map([...matches].map(([env, list]): [string, Data] => [env, [...list]]));
