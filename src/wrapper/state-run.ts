import { chunkData } from '../compiler/chunks.ts';
import { closureOf } from '../compiler/closure.ts';
import { type Compiled, compile } from '../compiler/compile.ts';
import type { Matches, SlsTree } from '../compiler/load.ts';
import { type Problem, problem } from '../compiler/problem.ts';
import { verifyTop } from '../compiler/top.ts';
import { pauseIfLong } from '../data/pause.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { StateResult } from '../protocol/result.ts';
import type { WrapperContext } from './context.ts';
import type { WrapperCall } from './define.ts';
import { type Outcome, valueOutcome } from './outcome.ts';
import { asLow, runCompiled, runLow, withView } from './run-low.ts';
import type { StateCallView } from './state-call.ts';
import {
  compileErrors,
  compileOptions,
  loadMods,
  loadTopSls,
  matchTop,
  readTop,
  required,
  splitInput,
} from './state-call.ts';

const excludeOf = ({ named }: StateCallView): Data[] => {
  const exclude = named.get('exclude') ?? null;
  if (exclude === null) return [];
  if (isDict(exclude)) return [...exclude.keys()].map(String);
  return Array.isArray(exclude) ? exclude : splitInput(exclude);
};

/** `state.apply`: runs the named SLS, or the highstate. */
export const apply = (call: WrapperCall): Promise<Outcome> => {
  const mods = call.get('mods');
  const isNamed = mods !== null && mods !== '' && !(Array.isArray(mods) && mods.length === 0);
  return isNamed ? sls(call) : runHighstate(call);
};

/** `state.test`: `state.apply` in test mode. */
export const test = (call: WrapperCall): Promise<Outcome> =>
  apply({ ...call, named: () => call.named().set('test', true) });

/** `state.sls`: runs the named SLS. */
export const sls = async (call: WrapperCall): Promise<Outcome> => {
  const { ctx } = call;
  const mods = required(call, 'mods', 'state.sls');
  const disabled = disabledMessages(ctx, Array.isArray(mods) ? mods.map(String) : [String(mods)]);
  if (disabled.length > 0) return { errors: disabled, retcode: 1 };
  return withView(call, async view => runCompiled(view, await compileMods(view, mods)));
};

/** Compiles the SLS of a call. */
export const compileMods = async (view: StateCallView, mods: Data): Promise<Compiled> => {
  const tree = await loadMods(view, mods);
  const exclude = excludeOf(view);
  const options = { ...compileOptions(view.ctx), ...(exclude.length > 0 ? { exclude } : {}) };
  await pauseIfLong();
  const compiled = compile(tree, options);
  if (compiled.errors.length === 0 && compiled.chunks.length === 0)
    view.ctx.log('error', 'state', noStatesIn(tree).message);
  return compiled;
};

/**
 * Returns a problem that names SLS without states: an empty run fails, and Salt does not say why.
 */
const noStatesIn = (tree: SlsTree): Problem => {
  const names = tree.map(({ loaded, asked }) =>
    'file' in loaded && loaded.file !== undefined ? loaded.file : asked,
  );
  return problem(
    `Nothing to run: ${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no states for this host.`,
    undefined,
    'The SLS is empty, or its template leaves nothing of it: `state.show_sls` shows what it renders to.',
  );
};

/**
 * Returns messages about SLS that the grain `state_runs_disabled` forbids (`state.disable` writes
 * it).
 */
const disabledMessages = ({ grains }: WrapperContext, mods: readonly string[]): string[] => {
  const listed = grains.get('state_runs_disabled');
  const patterns = Array.isArray(listed) ? listed.map(String) : [];
  return mods.flatMap(mod =>
    patterns.flatMap(pattern => {
      if (!pattern.includes('.*'))
        return pattern === mod
          ? [
              `The state file "${mod}" is currently disabled, to re-enable, run state.enable ${mod}.`,
            ]
          : [];
      return mod.startsWith(`${pattern.split('.')[0]}.`)
        ? [
            `The state file "${mod}" is currently disabled by "${pattern}", to re-enable, run state.enable ${pattern}.`,
          ]
        : [];
    }),
  );
};

/** `state.highstate`: runs the SLS that the top file assigns to this host. */
export const runHighstate = async (call: WrapperCall): Promise<Outcome> => {
  if (disabledMessages(call.ctx, ['highstate']).length > 0)
    return valueOutcome(
      new Map([
        ['name', 'Salt highstate run is disabled. To re-enable, run state.enable highstate'],
        ['result', 'False'],
        ['comment', 'Disabled'],
      ]),
    );
  return withView(call, view => runTop(view));
};

/** `state.top`: runs a highstate with another top file. */
export const top = async (call: WrapperCall): Promise<Outcome> => {
  const file = String(required(call, 'topfn', 'state.top'));
  return withView(call, view => runTop(view, file));
};

const runTop = async (view: StateCallView, stateTop?: string): Promise<Outcome> => {
  const { ctx, named } = view;
  const { top: data, problems, fatal } = await readTop(view, stateTop);
  if (fatal?.code === 'top-no-dict') return compileErrors(problems);
  if (fatal) return noStates(`Unable to render top file: ${fatal.message}`, problems);
  const faults = verifyTop(data);
  const all = matchTop(view, data);
  if (all.size === 0) {
    const comment =
      'No Top file or master_tops data matches found. Please see master log for details.';
    return noStates(comment, problems.length > 0 ? problems : [noMatch(view, data, stateTop)]);
  }
  const matches = whitelisted(all, named.get('whitelist') ?? null);
  const tree = await loadTopSls(view, data, matches);
  const exclude = excludeOf(view);
  const options = { ...compileOptions(ctx), ...(exclude.length > 0 ? { exclude } : {}) };
  await pauseIfLong();
  const compiled = compile(tree, options);
  const errors = [...faults, ...compiled.errors];
  if (errors.length > 0) return compileErrors(errors);
  if (compiled.empty) return noStates('No states found for this minion', [noStatesIn(tree)]);
  return runCompiled(view, compiled);
};

const whitelisted = (matches: Matches, whitelist: Data): Matches => {
  if (whitelist === null) return matches;
  const allowed = new Set(splitInput(whitelist));
  const kept = [...matches].map(([env, list]): [string, string[]] => [
    env,
    list.filter(name => allowed.has(name)),
  ]);
  return new Map(kept.filter(([, list]) => list.length > 0));
};

/** Explains why a top file assigns nothing to a host, which Salt only logs. */
const noMatch = (
  { ctx: { id, config }, loader }: StateCallView,
  top: Dict,
  stateTop = config.state_top,
): Problem => {
  const envs = loader.envs();
  const folders = envs.flatMap(env => loader.folders?.(env) ?? []);
  const places = [...new Set(folders.map(({ path }) => path))].join(', ');
  const where = places === '' ? '' : ` in ${places}`;
  if (top.size > 0)
    return problem(
      `No target of ${stateTop}${where} matches ${id}.`,
      undefined,
      '`state.show_top` shows what the top file assigns to a host.',
    );
  const missing = folders.filter(({ exists }) => !exists).map(({ path }) => path);
  const absent = missing.length === 0 ? '' : ` Missing folders: ${missing.join(', ')}.`;
  return problem(
    `No ${stateTop} with targets exists${where}.${absent}`,
    undefined,
    `Write ${stateTop}, as in \`base: {'*': [web]}\`, or name what to apply: state.apply web.`,
  );
};

const noStates = (comment: string, problems: readonly Problem[]): Outcome => {
  const result = { result: false, comment, name: 'No States', changes: {}, __run_num__: 0 };
  return {
    states: { 'no_|-states_|-states_|-None': result as unknown as StateResult },
    retcode: 2,
    ...(problems.length > 0 ? { problems } : {}),
  };
};

/** `state.sls_id`: runs one ID of SLS, and what it requires. */
export const slsId = async (call: WrapperCall): Promise<Outcome> => {
  const id = String(required(call, 'id_', 'state.sls_id'));
  const mods = required(call, 'mods', 'state.sls_id');
  return withView(call, async view => {
    const { chunks: all, errors } = compile(await loadMods(view, mods), {
      ...compileOptions(call.ctx),
      collect: 'show',
    });
    const dicts = all.map(chunkData);
    const chunks = closureOf(dicts, id).map(asLow);
    if (errors.length === 0 && chunks.length === 0)
      throw new TsaltError(
        'no-such-id',
        `No matches for ID '${id}' found in SLS '${splitInput(mods).join(',')}' within saltenv '${view.saltenv ?? 'base'}'`,
        { hint: `state.show_low_sls ${splitInput(mods).join(',')} lists the IDs there.` },
      );
    return runLow(view, chunks, errors);
  });
};
