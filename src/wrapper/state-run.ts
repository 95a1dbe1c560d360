import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { lowChunks } from '../compiler/chunks.ts';
import { closureOf } from '../compiler/closure.ts';
import type { Compiled } from '../compiler/compile.ts';
import { compile, compileHigh } from '../compiler/compile.ts';
import { allHandled } from '../compiler/handled.ts';
import { requisiteKeywords } from '../compiler/keywords.ts';
import type { Matches } from '../compiler/load.ts';
import { loadRendered, loadSls } from '../compiler/load.ts';
import type { Problem } from '../compiler/problem.ts';
import { templateHigh } from '../compiler/template.ts';
import { verifyTop } from '../compiler/top.ts';
import { splitFunctionName } from '../data/function-name.ts';
import type { Data, Dict } from '../data/value.ts';
import { isDict, toData, toPlainDict } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { Plain } from '../protocol/plain.ts';
import type { StateResult, StateResults } from '../protocol/result.ts';
import type { RunOutcome, StateAnswer, Wrapper, WrapperContext } from './context.ts';
import type { StateView } from './state-call.ts';
import {
  bindArguments,
  compileOptions,
  errorAnswer,
  isTrue,
  loadMods,
  matchTop,
  pillarAnswer,
  readTop,
  required,
  splitInput,
  viewOf,
} from './state-call.ts';

/** Runs a call's body with its view; a broken pillar answers instead. */
const withView = async (
  ctx: WrapperContext,
  bound: Dict,
  body: (view: StateView) => Promise<Data | StateAnswer>,
): Promise<Data | StateAnswer> => {
  let view: StateView;
  try {
    view = await viewOf(ctx, bound);
  } catch (error) {
    return pillarAnswer(ctx, error);
  }
  return body(view);
};

const runChunks = (view: StateView, chunks: readonly LowChunk[]): Promise<RunOutcome> => {
  const { bound, ctx, pillar, test } = view;
  return ctx.run(chunks, {
    test,
    saltenv: view.saltenv ?? 'base',
    pillar,
    pillarSettings: view.pillarSettings,
    opts: view.opts,
    ...(bound.has('queue') ? { queue: isTrue(bound.get('queue')) } : {}),
    ...(bound.has('concurrent') ? { concurrent: isTrue(bound.get('concurrent')) } : {}),
  });
};

const runCompiled = (view: StateView, { chunks, errors }: Compiled): Promise<StateAnswer> =>
  runLow(view, lowChunks(chunks), errors);

const runLow = async (
  view: StateView,
  chunks: readonly LowChunk[],
  errors: readonly Problem[],
): Promise<StateAnswer> => {
  const { ctx, bound } = view;
  if (errors.length > 0) return errorAnswer(ctx, errors);
  if (chunks.length === 0) {
    ctx.setRetcode(2);
    return { states: {} };
  }
  const { states, retcode } = await runChunks(view, chunks);
  ctx.setRetcode(retcode === 2 && allHandled(chunks, states) ? 0 : retcode);
  return { states: isTrue(bound.get('terse')) ? withoutQuiet(states) : states };
};

const asLow = (chunk: Dict): LowChunk => toPlainDict(chunk) as LowChunk;

/** `terse=True`: only what failed or changed. */
const withoutQuiet = (states: StateResults): StateResults =>
  Object.fromEntries(
    Object.entries(states).filter(
      ([, { result, changes }]) => result !== true || Object.keys(changes).length > 0,
    ),
  );

const excludeOf = (bound: Dict): Data[] => {
  const exclude = bound.get('exclude') ?? null;
  if (exclude === null) return [];
  return Array.isArray(exclude) ? exclude : splitInput(exclude);
};

/** `state.apply`: the SLS named, or the highstate. */
export const apply: Wrapper = call => {
  const bound = bindArguments(call, ['mods', 'test', 'exclude', 'queue']);
  const mods = bound.get('mods') ?? null;
  if (mods !== null && mods !== '' && !(Array.isArray(mods) && mods.length === 0))
    return sls({ ctx: call.ctx, args: [], kwargs: bound });
  const kwargs = new Map(bound);
  kwargs.delete('mods');
  return highstate({ ctx: call.ctx, args: [], kwargs });
};

/** `state.test`: `state.apply` that changes nothing. */
export const test: Wrapper = ({ ctx, args, kwargs }) =>
  apply({ ctx, args, kwargs: new Map(kwargs).set('test', true) });

export const sls: Wrapper = async call => {
  const { ctx } = call;
  const bound = bindArguments(call, ['mods', 'test', 'exclude', 'queue', 'sync_mods']);
  const mods = required(bound, 'mods', 'state.sls');
  const disabled = disabledMessages(ctx, Array.isArray(mods) ? mods.map(String) : [String(mods)]);
  if (disabled.length > 0) {
    ctx.setRetcode(1);
    return { errors: disabled };
  }
  return withView(ctx, bound, async view => {
    const tree = await loadMods(view, mods);
    const exclude = excludeOf(bound);
    const options = { ...compileOptions(ctx), ...(exclude.length > 0 ? { exclude } : {}) };
    return runCompiled(view, compile(tree, options));
  });
};

/** What `state.disable` wrote into the grain `state_runs_disabled` forbids these SLS. */
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

export const highstate: Wrapper = async call => {
  const bound = bindArguments(call, ['test', 'queue']);
  const { ctx } = call;
  if (disabledMessages(ctx, ['highstate']).length > 0)
    return new Map([
      ['name', 'Salt highstate run is disabled. To re-enable, run state.enable highstate'],
      ['result', 'False'],
      ['comment', 'Disabled'],
    ]);
  return withView(ctx, bound, view => runTop(view));
};

/** `state.top`: a highstate by another top file. */
export const top: Wrapper = async call => {
  const bound = bindArguments(call, ['topfn', 'test', 'queue']);
  const file = String(required(bound, 'topfn', 'state.top'));
  return withView(call.ctx, bound, view => runTop(view, file));
};

const runTop = async (view: StateView, stateTop?: string): Promise<StateAnswer> => {
  const { ctx, bound } = view;
  const { top: data, problems, fatal } = await readTop(view, stateTop);
  if (fatal) return noStates(ctx, `Unable to render top file: ${fatal.message}`, problems);
  const faults = verifyTop(data);
  const matches = whitelisted(matchTop(view, data), bound.get('whitelist') ?? null);
  if (matches.size === 0) {
    const comment =
      'No Top file or master_tops data matches found. Please see master log for details.';
    return noStates(ctx, comment, problems);
  }
  const tree = await loadSls({ matches, loader: view.loader });
  const exclude = excludeOf(bound);
  const options = { ...compileOptions(ctx), ...(exclude.length > 0 ? { exclude } : {}) };
  const compiled = compile(tree, options);
  const errors = [...faults, ...compiled.errors];
  if (errors.length > 0) return errorAnswer(ctx, errors);
  if (compiled.empty) return noStates(ctx, 'No states found for this minion', []);
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

const noStates = (
  ctx: WrapperContext,
  comment: string,
  problems: readonly Problem[],
): StateAnswer => {
  ctx.setRetcode(2);
  const result = { result: false, comment, name: 'No States', changes: {}, __run_num__: 0 };
  return {
    states: { 'no_|-states_|-states_|-None': result as unknown as StateResult },
    ...(problems.length > 0 ? { problems } : {}),
  };
};

/** `state.sls_id`: one ID of SLS, and what it requires. */
export const slsId: Wrapper = call => {
  const bound = bindArguments(call, ['id_', 'mods', 'test', 'queue']);
  const id = String(required(bound, 'id_', 'state.sls_id'));
  const mods = required(bound, 'mods', 'state.sls_id');
  return withView(call.ctx, bound, async view => {
    const { chunks: all, errors } = compile(await loadMods(view, mods), {
      ...compileOptions(call.ctx),
      collect: 'show',
    });
    const dicts = all.map(chunk => chunk.toDict());
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

/** Arguments of the call that are not the state's. */
const callOnly = [
  'fun',
  'name',
  'test',
  'queue',
  'concurrent',
  'pillar',
  'pillarenv',
  'pillar_enc',
  'localconfig',
  'force',
];

/** `state.single`: one state function with these arguments. */
export const single: Wrapper = async call => {
  const { ctx } = call;
  const bound = bindArguments(call, ['fun', 'name', 'test', 'queue']);
  const [state, fun] = splitFunctionName(String(required(bound, 'fun', 'state.single')));
  if (fun === undefined) {
    ctx.setRetcode(1);
    return 'Invalid function passed';
  }
  const name = required(bound, 'name', 'state.single');
  // There is no other state that it could need.
  const args = new Map(
    [...bound].filter(([key]) => !callOnly.includes(String(key)) && !requisiteKeywords.has(key)),
  );
  const chunk: Dict = new Map([...args, ['state', state], ['fun', fun]]);
  chunk.set('__id__', name).set('name', name).set('order', 1);
  return withView(ctx, bound, async view => {
    const outcome = await runChunks(view, [asLow(chunk)]);
    return refused(ctx, outcome) ?? answer(ctx, outcome);
  });
};

/** `state.low`: one low chunk as it is; gives the bare result. */
export const low: Wrapper = call => {
  const { ctx } = call;
  const bound = bindArguments(call, ['data', 'queue']);
  const data = required(bound, 'data', 'state.low');
  if (!isDict(data)) throw noDict('state.low', 'a low chunk');
  const chunk = new Map(data);
  if (!chunk.has('__id__')) chunk.set('__id__', chunk.get('name') ?? null);
  const missing = ['state', 'fun', 'name'].filter(key => !chunk.has(key));
  if (missing.length > 0) {
    ctx.setRetcode(1);
    return Promise.resolve({ errors: missing.map(key => `Missing "${key}" data`) });
  }
  return withView(ctx, bound, async view => {
    const outcome = await runChunks(view, [asLow(chunk)]);
    const errors = refused(ctx, outcome);
    if (errors) return errors;
    ctx.setRetcode(outcome.retcode);
    return toData((Object.values(outcome.states)[0] ?? null) as Plain);
  });
};

const answer = (ctx: WrapperContext, { states, retcode }: RunOutcome): StateAnswer => {
  ctx.setRetcode(retcode);
  return { states };
};

/** A chunk that was not fit to run has a result without a start: its comment lists why. */
const refused = (ctx: WrapperContext, { states }: RunOutcome): StateAnswer | undefined => {
  const [only] = Object.values(states);
  if (only?.result !== false || only.start_time !== undefined) return undefined;
  ctx.setRetcode(1);
  return { errors: only.comment.split('\n').filter(line => line !== '') };
};

/** `state.high`: high data given as an argument. */
export const high: Wrapper = call => {
  const bound = bindArguments(call, ['data', 'test', 'queue']);
  const data = required(bound, 'data', 'state.high');
  if (!isDict(data)) throw noDict('state.high', 'high data');
  return withView(call.ctx, bound, view =>
    runCompiled(view, compileHigh(data, compileOptions(call.ctx))),
  );
};

const noDict = (fun: string, what: string): TsaltError =>
  new TsaltError('bad-argument', `${fun} takes ${what}: a dictionary`, {
    hint: "Write it as YAML or JSON: '{…}'.",
  });

/** `state.template`: an SLS file that need not stand in the roots. */
export const template: Wrapper = call => {
  const bound = bindArguments(call, ['tem', 'queue']);
  const written = String(required(bound, 'tem', 'state.template'));
  const path = written.endsWith('.sls') ? written : `${written}.sls`;
  return withView(call.ctx, bound, async view => {
    const { ctx } = view;
    const content = (await ctx.readFile(path, view.saltenv)) ?? readLocal(path);
    if (content === undefined)
      return errorAnswer(ctx, [
        { message: `Specified SLS ${path} on local filesystem cannot be found.` },
      ]);
    const saltenv = view.saltenv ?? '';
    const data = await ctx.renderSls(content, path, view.pillar);
    const tree = await loadRendered({ sls: path, saltenv, file: path, data }, view.loader);
    return runCompiled(view, compile(tree, compileOptions(ctx)));
  });
};

/** An absolute path is a file of this machine: the command line's user may read it anyway. */
const readLocal = (path: string): string | undefined =>
  isAbsolute(path) && existsSync(path) ? readFileSync(path, 'utf8') : undefined;

/** `state.template_str`: states given as text. */
export const templateStr: Wrapper = call => {
  const bound = bindArguments(call, ['tem', 'queue']);
  const content = String(required(bound, 'tem', 'state.template_str'));
  return withView(call.ctx, bound, async view => {
    const { ctx } = view;
    const name = '<template-str>';
    const data = await ctx.renderSls(content, name, view.pillar);
    const made = templateHigh(data, name);
    if (made.problems.length > 0) return errorAnswer(ctx, made.problems);
    return runCompiled(view, compileHigh(made.high, compileOptions(ctx)));
  });
};
