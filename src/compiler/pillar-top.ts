import { pyStr } from '../data/python/python-text.ts';
import type { RenderedSls } from '../data/sls.ts';
import type { Data, DataKey } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import type { Subject } from '../targeting/match.ts';
import { locationOf, setFile } from './location.ts';
import { isEnv, type PillarSession } from './pillar-session.ts';
import type { Problem } from './problem.ts';
import { problem, renderProblem } from './problem.ts';
import { confirm } from './top.ts';

/** saltenv → target → items, sorted by each target's `order`. */
export type PillarTop = Map<string, Map<DataKey, Data[]>>;

const topEnvs = (session: PillarSession): readonly string[] => {
  const { envs, options } = session;
  const { pillarenv, saltenv, merge } = options;
  if (pillarenv) return isEnv(session, pillarenv) ? [pillarenv] : [];
  // The entry of `base` for a target takes precedence.
  const all = [...envs.filter(env => env !== 'base' && env !== '__env__'), 'base'];
  return merge.strategy === 'none' ? all.filter(env => env === (saltenv || 'base')) : all;
};

/** Merges the top files of the pillar. */
export const pillarTop = async (
  session: PillarSession,
): Promise<{ top: PillarTop; problems: Problem[] }> => {
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
  { loader }: PillarSession,
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

/** Returns undefined if a top file is malformed. */
const mergePillarTops = (
  session: PillarSession,
  files: readonly RenderedSls[],
): PillarTop | undefined => {
  const top: PillarTop = new Map();
  const orders = new Map<string, Map<DataKey, number>>();
  for (const { data, file, trace } of files) {
    if (!isDict(data)) return undefined;
    setFile(data, file, trace);
    for (const [key, targets] of data) {
      if (key === 'include') continue;
      if (!isDict(targets)) return undefined;
      const env = pyStr(key);
      for (const [target, written] of targets) {
        const items = itemsOf(written);
        if (!Array.isArray(items)) return undefined;
        const kept = [
          ...items.filter(item => isDict(item) && item.has('match')),
          ...new Set(items.filter(item => typeof item === 'string')),
        ];
        put(top, env, target, kept);
        session.places.set(kept, item => locationOf([data, written], items.indexOf(item)));
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

/** Iterates as Python does: a string by its characters, a dictionary by its keys. */
const itemsOf = (written: Data): Data => {
  if (typeof written === 'string') return [...written];
  return isDict(written) ? [...written.keys()] : written;
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

const ignore = ({ ignored }: PillarSession, env: string, items: readonly Data[]): void => {
  const names = ignored.get(env) ?? new Set();
  for (const item of items) if (typeof item === 'string') names.add(item);
  ignored.set(env, names);
};

/** The pillar SLS of a host in their order, and where each is assigned, by environment. */
export type PillarMatches = Map<string, Map<string, SourceLocation | undefined>>;

/** Returns the SLS that the top file assigns to the host. */
export const pillarMatches = (
  session: PillarSession,
  top: PillarTop,
  subject: Subject,
): PillarMatches => {
  const { pillarenv } = session.options;
  const found: PillarMatches = new Map();
  for (const [env, targets] of top) {
    if (pillarenv && env !== pillarenv) continue;
    for (const [target, items] of targets) {
      if (!confirm(target, items, subject)) continue;
      const assigned = found.get(env) ?? new Map<string, SourceLocation | undefined>();
      for (const item of items)
        if (typeof item === 'string' && !assigned.has(item))
          assigned.set(item, session.places.get(items)?.(item));
      found.set(env, assigned);
    }
  }
  return found;
};
