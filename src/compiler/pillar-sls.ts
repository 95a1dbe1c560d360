import { fnmatchFilter } from '../data/python/glob.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { RenderedSls } from '../data/sls.ts';
import { mergeDicts } from '../data/values/merge.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import { isFalsy } from './high.ts';
import { includeLocation, locationOf, setFile } from './location.ts';
import { missingHint, missingSentence } from './missing-sls.ts';
import { asStringList, isEnv, type PillarSession } from './pillar-session.ts';
import type { PillarMatches } from './pillar-top.ts';
import type { Problem } from './problem.ts';
import { problem, problemOf } from './problem.ts';

/** Renders the SLS that the top file assigns to the host, and their includes. */
export const renderPillar = async (
  session: PillarSession,
  matches: PillarMatches,
): Promise<Dict> => {
  let pillar: Dict = new Map(session.override ?? []);
  for (const [env, wanted] of matches) {
    const mods: Mods = new Map();
    const names: [string, SourceLocation | undefined][] = [];
    for (const [sls, at] of wanted) {
      const list = await asStringList(session, env);
      if (!list) session.problems.push(noEnvironment(env));
      const found = fnmatchFilter(list ?? [], sls);
      for (const name of found.length > 0 ? found : [sls]) names.push([name, at]);
    }
    for (const [sls, at] of names) {
      const { data, errors } = await renderPillarSls(
        { session, env, mods, defaults: new Map(), at },
        sls,
      );
      session.problems.push(...errors);
      if (data) pillar = mergeDicts(pillar, data, session.options.merge);
    }
  }
  return pillar;
};

const noEnvironment = (env: string): Problem =>
  problem(`No matching pillar environment for environment '${env}' found`, undefined);

/** The data of each SLS before its includes are merged: a repeated SLS adds only these. */
type Mods = Map<string, Dict | undefined>;
type Rendering = {
  readonly session: PillarSession;
  readonly env: string;
  readonly mods: Mods;
  readonly defaults: Dict;
  /** Where the SLS is asked for. */
  readonly at: SourceLocation | undefined;
};

type Part = { readonly data: Dict | undefined; readonly errors: readonly Problem[] };

const renderPillarSls = async (rendering: Rendering, sls: string): Promise<Part> => {
  const { session, env, mods, defaults } = rendering;
  const errors: Problem[] = [];
  const rendered = await renderOrReport(rendering, sls, errors);
  const data = rendered?.data;
  if (isDict(data)) setFile(data, rendered?.file ?? sls, rendered?.trace);
  if (!isDict(data) || !data.has('include')) {
    if (data !== undefined && !isFalsy(data) && !isDict(data)) {
      const message = `SLS '${sls}' does not render to a dictionary`;
      errors.push(problem(message, rendered && { file: rendered.file }));
    }
    mods.set(sls, isDict(data) ? data : undefined);
    return { data: isDict(data) ? data : undefined, errors };
  }
  const include = data.get('include') ?? null;
  if (!Array.isArray(include)) {
    const message = `Include Declaration in SLS '${sls}' is not formed as a list`;
    errors.push(problem(message, locationOf([data], 'include')));
    mods.set(sls, data);
    return { data, errors };
  }
  const own = new Map(data);
  own.delete('include');
  mods.set(sls, own);
  const init = /(^|\/)init\.sls$/.test(rendered?.file ?? '');
  const parts: Dict[] = [];
  let inherited = defaults;
  let last: Part['errors'] = [];
  for (const [index, entry] of include.entries()) {
    const at = includeLocation(data, include, index);
    const { name, key, defaults: given } = readInclude(entry);
    if (given) inherited = given;
    for (const target of await includeTargets(session, env, { sls, init }, name, errors)) {
      let part = mods.get(target);
      if (!mods.has(target))
        ({ data: part, errors: last } = await renderPillarSls(
          { session, env, mods, defaults: inherited, at },
          target,
        ));
      // As in Salt, a known include adds the errors of the include before it again.
      errors.push(...last);
      if (part && part.size > 0) parts.push(nested(part, key));
    }
  }
  const all = session.options.includesOverride ? [own, ...parts] : [...parts, own];
  return {
    data: all.reduce((first, second) => mergeDicts(first, second, session.options.merge)),
    errors,
  };
};

const renderOrReport = async (
  { session, env, defaults, at }: Rendering,
  sls: string,
  problems: Problem[],
): Promise<RenderedSls | undefined> => {
  const { loader, ignored, options } = session;
  try {
    const extra = defaults.size > 0 ? { defaults } : {};
    const known = isEnv(session, env);
    const rendered = known ? await loader.render(env, sls, extra) : undefined;
    if (!rendered && known && !ignored.get(env)?.has(sls)) {
      const message = `Specified SLS '${sls}' in environment '${env}' is not available on the salt master`;
      const hint = missingHint(loader, env, sls, await loader.list(env));
      const sentence = missingSentence(env, sls).replace('SLS', 'pillar SLS');
      problems.push({ ...problem(message, at, hint), sentence });
    }
    return rendered;
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const message = options.safeRenderError
      ? `Rendering SLS '${sls}' failed. Please see master log for details.`
      : `Rendering SLS '${sls}' failed, render error:\n${error.message}`;
    // The details are shown to the user, but not put into the pillar that the host sees.
    problems.push({
      ...problemOf(error),
      message,
      sentence: `Rendering SLS '${sls}' failed: ${error.message}`,
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
  session: PillarSession,
  env: string,
  from: { readonly sls: string; readonly init: boolean },
  written: string,
  problems: Problem[],
): Promise<readonly string[]> => {
  const list = await asStringList(session, env);
  if (!list) {
    problems.push(noEnvironment(env));
    return [written];
  }
  const found = fnmatchFilter(list, written.replace(/^\.+/, '').replaceAll('/', '.'));
  const path = from.init ? from.sls.split('.') : from.sls.split('.').slice(0, -1);
  const name = written.startsWith('.') ? [...path, written.slice(1)].join('.') : written;
  // SLS that both ways find are listed twice.
  const targets = [...found, ...fnmatchFilter(list, name)];
  return targets.length > 0 ? targets : [name];
};

/** `key: a:b` puts the included data below a and b. */
const nested = (part: Dict, key: string | undefined): Dict =>
  (key ? key.split(':') : []).reduceRight<Dict>((inner, step) => new Map([[step, inner]]), part);
