import { type MergeOptions, mergeDicts } from '../data/merge.ts';
import { pyStr } from '../data/python-text.ts';
import type { RenderedSls, SlsLoader } from '../data/sls.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { fnmatchFilter } from '../targeting/glob.ts';
import type { Subject } from '../targeting/match.ts';
import { isFalsy, placeOf, problem, setFile } from './high.ts';
import type { Problem } from './problem.ts';
import { messagesOf, problemOf, renderProblem } from './problem.ts';
import { confirm } from './top.ts';

export type PillarOptions = {
  /** `state_top`: pillar has its own file of that name. */
  readonly stateTop: string;
  /** Only this environment. */
  readonly pillarenv?: string | undefined;
  readonly saltenv?: string | undefined;
  readonly merge: MergeOptions;
  /** `pillar_includes_override_sls`: what is included wins over the including file. */
  readonly includesOverride: boolean;
  /** `pillar_safe_render_error`: keeps template errors out of the pillar. */
  readonly safeRenderError: boolean;
  /** `ext_pillar_first`. */
  readonly extFirst: boolean;
};

/** One configured `ext_pillar` source: gives data from the pillar so far. */
export type ExtPillar = {
  readonly name: string;
  readonly fetch: (pillar: Dict) => Promise<Data>;
};

export type PillarInput = {
  readonly loader: SlsLoader;
  /** The same SLS rendered with this pillar: what `ext_pillar_first` gave. */
  readonly loaderWith?: ((pillar: Dict) => SlsLoader) | undefined;
  /** The host; `pillar` targets in the pillar top see its `pillar` (the command line's). */
  readonly subject: Subject;
  readonly options: PillarOptions;
  /** `pillar={…}` of the command line: wins over everything. */
  readonly override?: Dict | undefined;
  readonly ext?: readonly ExtPillar[] | undefined;
};

export type CompiledPillar = {
  /** With faults under `_errors`, as Salt has them. */
  readonly pillar: Dict;
  readonly problems: readonly Problem[];
};

/** Compiles one host's pillar. (salt.pillar.Pillar.compile_pillar) */
export const compilePillar = async (input: PillarInput): Promise<CompiledPillar> => {
  const { options, override = new Map(), ext = [] } = input;
  const session: Session = {
    ...input,
    envs: input.loader.envs(),
    ignored: new Map(),
    problems: [],
    lists: new Map(),
  };
  const merge = (first: Dict, second: Dict): Dict => mergeDicts(first, second, options.merge);
  const { top, problems: topProblems } = await pillarTop(session);
  let pillar: Dict;
  if (options.extFirst) {
    const early = await addExt(session, new Map(override), ext);
    const subject = { ...input.subject, pillar: early };
    const loader = input.loaderWith?.(early) ?? input.loader;
    const matches = pillarMatches(session, top, subject);
    pillar = merge(early, await renderPillar({ ...session, loader }, matches));
  } else {
    pillar = await renderPillar(session, pillarMatches(session, top, input.subject));
    pillar = await addExt(
      session,
      override.size > 0 && ext.length > 0 ? merge(pillar, override) : pillar,
      ext,
    );
  }
  const problems = [...session.problems, ...topProblems];
  if (problems.length > 0) pillar.set('_errors', messagesOf(problems));
  if (override.size > 0) pillar = merge(pillar, override);
  return { pillar, problems };
};

/** What a run says that a broken pillar stops; `brokenPillar` gives the faults and the pillar. */
export const pillarFailure = (
  problems: readonly Problem[],
  pillar: Dict = new Map(),
): TsaltError => {
  const places = problems.map(({ message, at }) =>
    at?.line === undefined ? message : `${message} (${at.file}:${at.line})`,
  );
  const message = ['Pillar failed to render with the following messages:', ...places].join('\n');
  const error = new TsaltError('pillar-errors', message, { kind: 'pillar' });
  failures.set(error, { pillar, problems });
  return error;
};

const failures = new WeakMap<TsaltError, CompiledPillar>();

/** What lies behind a `pillarFailure`; undefined for any other error. */
export const brokenPillar = (error: unknown): CompiledPillar | undefined =>
  error instanceof TsaltError ? failures.get(error) : undefined;

type Session = PillarInput & {
  readonly envs: readonly string[];
  /** SLS whose absence the top file allows, by environment. */
  readonly ignored: Map<string, Set<string>>;
  readonly problems: Problem[];
  readonly lists: Map<string, readonly string[]>;
};

const isEnv = ({ envs }: Session, env: string): boolean =>
  envs.includes(env) || envs.includes('__env__');

const listed = async (session: Session, env: string): Promise<readonly string[] | undefined> => {
  if (!isEnv(session, env)) return undefined;
  const known = session.lists.get(env);
  if (known) return known;
  const list = await session.loader.list(env);
  session.lists.set(env, list);
  return list;
};

/** saltenv → target → items, sorted by each target's `order`. */
type PillarTop = Map<string, Map<DataKey, Data[]>>;

const topEnvs = (session: Session): readonly string[] => {
  const { envs, options } = session;
  const { pillarenv, saltenv, merge } = options;
  if (pillarenv) return isEnv(session, pillarenv) ? [pillarenv] : [];
  // What `base` says of a target is the last word.
  const all = [...envs.filter(env => env !== 'base' && env !== '__env__'), 'base'];
  return merge.strategy === 'none' ? all.filter(env => env === (saltenv || 'base')) : all;
};

const pillarTop = async (session: Session): Promise<{ top: PillarTop; problems: Problem[] }> => {
  const problems: Problem[] = [];
  const files: RenderedSls[] = [];
  const path = session.options.stateTop.replace(/^salt:\/\//, '').replace(/^\/+/, '');
  try {
    for (const env of topEnvs(session)) {
      const name = path.replace(/\.sls$/, '').replaceAll('/', '.');
      const rendered = await session.loader.render(env, name, { path });
      if (rendered) files.push(rendered, ...(await includedTops(session, rendered, problems)));
    }
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    problems.push(renderProblem('Rendering Primary Top file failed, render error:\n', error));
  }
  const top = mergePillarTops(session, files);
  if (top) return { top, problems };
  const message = 'Error encountered while rendering pillar top file.';
  const at = files[0] && { file: files[0].file };
  const hint = 'It maps environments to targets and each target to a list of SLS.';
  return { top: new Map(), problems: [...problems, problem(message, at, hint)] };
};

const includedTops = async (
  { loader }: Session,
  top: RenderedSls,
  problems: Problem[],
): Promise<RenderedSls[]> => {
  const include = isDict(top.data) ? top.data.get('include') : undefined;
  const found: RenderedSls[] = [];
  for (const sls of new Set(Array.isArray(include) ? include.map(pyStr) : []))
    try {
      const rendered = await loader.render(top.saltenv, sls);
      if (rendered) found.push(rendered);
      else throw new TsaltError('no-sls', `There is no SLS '${sls}' in '${top.saltenv}'`);
    } catch (error) {
      if (!(error instanceof TsaltError)) throw error;
      problems.push(renderProblem(`Rendering Top file ${sls} failed, render error:\n`, error));
    }
  return found;
};

/** Undefined when a top file is not formed as one. */
const mergePillarTops = (
  session: Session,
  files: readonly RenderedSls[],
): PillarTop | undefined => {
  const top: PillarTop = new Map();
  const orders = new Map<string, Map<DataKey, number>>();
  for (const { data } of files) {
    if (!isDict(data)) return undefined;
    for (const [key, targets] of data) {
      if (key === 'include') continue;
      if (!isDict(targets)) return undefined;
      const env = pyStr(key);
      for (const [target, written] of targets) {
        const items = typeof written === 'string' ? [...written] : written;
        if (!Array.isArray(items)) return undefined;
        put(top, env, target, [
          ...items.filter(item => isDict(item) && item.has('match')),
          ...new Set(items.filter(item => typeof item === 'string')),
        ]);
        put(orders, env, target, targetOrder(items));
        if (items.some(item => isDict(item) && item.get('ignore_missing') === true))
          ignore(session, env, items);
      }
    }
  }
  return new Map(
    [...top].map(([env, targets]) => {
      const order = (target: DataKey): number => orders.get(env)?.get(target) ?? 0;
      return [env, new Map([...targets].sort(([a], [b]) => order(a) - order(b)))];
    }),
  );
};

const put = <T>(
  map: Map<string, Map<DataKey, T>>,
  env: string,
  target: DataKey,
  value: T,
): void => {
  const targets = map.get(env);
  if (targets) targets.set(target, value);
  else map.set(env, new Map([[target, value]]));
};

const targetOrder = (items: readonly Data[]): number => {
  const written = items
    .filter(isDict)
    .map(item => item.get('order'))
    .findLast(order => order !== undefined);
  const order = Number(written ?? 0);
  return Number.isFinite(order) ? Math.trunc(order) : 0;
};

const ignore = ({ ignored }: Session, env: string, items: readonly Data[]): void => {
  const names = ignored.get(env) ?? new Set();
  for (const item of items) if (typeof item === 'string') names.add(item);
  ignored.set(env, names);
};

const pillarMatches = (
  session: Session,
  top: PillarTop,
  subject: Subject,
): Map<string, string[]> => {
  const { pillarenv } = session.options;
  const found = new Map<string, string[]>();
  for (const [env, targets] of top) {
    if (pillarenv && env !== pillarenv) continue;
    for (const [target, items] of targets) {
      if (!confirm(target, items, subject)) continue;
      const list = found.get(env) ?? [];
      for (const item of items)
        if (typeof item === 'string' && !list.includes(item)) list.push(item);
      found.set(env, list);
    }
  }
  return found;
};

const renderPillar = async (session: Session, matches: Map<string, string[]>): Promise<Dict> => {
  let pillar: Dict = new Map(session.override ?? []);
  for (const [env, wanted] of matches) {
    const mods: Mods = new Map();
    const names: string[] = [];
    for (const sls of wanted) {
      const list = await listed(session, env);
      if (!list) session.problems.push(noEnvironment(env));
      const found = fnmatchFilter(list ?? [], sls);
      names.push(...(found.length > 0 ? found : [sls]));
    }
    for (const sls of names) {
      const data = await renderPillarSls({ session, env, mods, defaults: new Map() }, sls);
      if (data) pillar = mergeDicts(pillar, data, session.options.merge);
    }
  }
  return pillar;
};

const noEnvironment = (env: string): Problem =>
  problem(`No matching pillar environment for environment '${env}' found`, undefined);

/** What each SLS rendered to, includes not yet merged in: an SLS that is met again adds just that. */
type Mods = Map<string, Dict | undefined>;
type Rendering = {
  readonly session: Session;
  readonly env: string;
  readonly mods: Mods;
  readonly defaults: Dict;
};

const renderPillarSls = async (rendering: Rendering, sls: string): Promise<Dict | undefined> => {
  const { session, env, mods, defaults } = rendering;
  const rendered = await renderOrReport(rendering, sls);
  const data = rendered?.data;
  if (isDict(data)) setFile(data, rendered?.file ?? sls);
  if (!isDict(data) || !data.has('include')) {
    if (data !== undefined && !isFalsy(data) && !isDict(data)) {
      const message = `SLS '${sls}' does not render to a dictionary`;
      session.problems.push(problem(message, rendered && { file: rendered.file }));
    }
    mods.set(sls, isDict(data) ? data : undefined);
    return isDict(data) ? data : undefined;
  }
  const include = data.get('include') ?? null;
  if (!Array.isArray(include)) {
    const message = `Include Declaration in SLS '${sls}' is not formed as a list`;
    session.problems.push(problem(message, placeOf([data], 'include')));
    mods.set(sls, data);
    return data;
  }
  const own = new Map(data);
  own.delete('include');
  mods.set(sls, own);
  const init = /(^|\/)init\.sls$/.test(rendered?.file ?? '');
  const parts: Dict[] = [];
  let inherited = defaults;
  for (const entry of include) {
    const { name, key, defaults: given } = readInclude(entry);
    if (given) inherited = given;
    for (const target of await includeTargets(session, env, { sls, init }, name)) {
      const part = mods.has(target)
        ? mods.get(target)
        : await renderPillarSls({ session, env, mods, defaults: inherited }, target);
      if (part && part.size > 0) parts.push(nested(part, key));
    }
  }
  const all = session.options.includesOverride ? [own, ...parts] : [...parts, own];
  return all.reduce((first, second) => mergeDicts(first, second, session.options.merge));
};

const renderOrReport = async (
  { session, env, defaults }: Rendering,
  sls: string,
): Promise<RenderedSls | undefined> => {
  const { loader, ignored, problems, options } = session;
  try {
    const extra = defaults.size > 0 ? { defaults } : {};
    const known = isEnv(session, env);
    const rendered = known ? await loader.render(env, sls, extra) : undefined;
    if (!rendered && known && !ignored.get(env)?.has(sls)) {
      const message = `Specified SLS '${sls}' in environment '${env}' is not available on the salt master`;
      problems.push(problem(message, undefined));
    }
    return rendered;
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const message = options.safeRenderError
      ? `Rendering SLS '${sls}' failed. Please see master log for details.`
      : `Rendering SLS '${sls}' failed, render error:\n${error.message}`;
    // The details go to whoever runs this, never into the pillar that the host sees.
    const { at, hint, excerpt } = problemOf(error);
    const detail = options.safeRenderError ? error.message : undefined;
    problems.push({
      ...problem(message, at, [detail, hint].filter(Boolean).join('\n') || undefined),
      ...(excerpt === undefined ? {} : { excerpt }),
    });
    return undefined;
  }
};

type Include = { readonly name: string; readonly key?: string; readonly defaults?: Dict };

const readInclude = (entry: Data): Include => {
  if (!isDict(entry)) return { name: pyStr(entry) };
  const [name, settings] = [...entry][0] ?? [null, null];
  const key = isDict(settings) ? (settings.get('key') ?? null) : null;
  const defaults = isDict(settings) ? settings.get('defaults') : undefined;
  return {
    name: pyStr(name),
    defaults: isDict(defaults) ? defaults : new Map(),
    ...(key === null ? {} : { key: pyStr(key) }),
  };
};

const includeTargets = async (
  session: Session,
  env: string,
  from: { readonly sls: string; readonly init: boolean },
  written: string,
): Promise<readonly string[]> => {
  const list = await listed(session, env);
  if (!list) {
    session.problems.push(noEnvironment(env));
    return [written];
  }
  const found = fnmatchFilter(list, written.replace(/^\.+/, '').replaceAll('/', '.'));
  const path = from.init ? from.sls.split('.') : from.sls.split('.').slice(0, -1);
  const name = written.startsWith('.') ? [...path, written.slice(1)].join('.') : written;
  const targets = [...new Set([...found, ...fnmatchFilter(list, name)])];
  return targets.length > 0 ? targets : [name];
};

/** `key: a:b` puts what is included below a and b. */
const nested = (part: Dict, key: string | undefined): Dict =>
  (key ? key.split(':') : []).reduceRight<Dict>((inner, step) => new Map([[step, inner]]), part);

const addExt = async (
  { options, problems }: Session,
  start: Dict,
  sources: readonly ExtPillar[],
): Promise<Dict> => {
  let pillar = start;
  for (const { name, fetch } of sources)
    try {
      const data = await fetch(pillar);
      if (isDict(data) && data.size > 0) pillar = mergeDicts(pillar, data, options.merge);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problems.push(problem(`Failed to load ext_pillar ${name}: ${message}`, undefined));
    }
  return pillar;
};
