import { chunkData } from '../compiler/chunks.ts';
import { type Compiled, compile } from '../compiler/compile.ts';
import { gather } from '../compiler/gather.ts';
import { highData, isEmpty } from '../compiler/high.ts';
import { loadSls } from '../compiler/load.ts';
import type { Problem } from '../compiler/problem.ts';
import { matchesAsData, verifyTop } from '../compiler/top.ts';
import { verifyHigh } from '../compiler/verify.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { StateAnswer, Wrapper, WrapperCall } from './context.ts';
import type { StateView } from './state-call.ts';
import {
  bindArguments,
  compileOptions,
  errorAnswer,
  loadMods,
  matchTop,
  readTop,
  required,
  splitInput,
  viewOf,
} from './state-call.ts';

type Shown = { readonly data: Data; readonly problems: readonly Problem[] };

const viewOfMods = async (call: WrapperCall, fun: string) => {
  const bound = bindArguments(call, ['mods', 'test', 'queue']);
  const mods = required(bound, 'mods', fun);
  return { view: await viewOf(call.ctx, bound), mods };
};

const slsData = async (call: WrapperCall): Promise<Shown> => {
  const { view, mods } = await viewOfMods(call, 'state.show_sls');
  const { high, problems } = gather(await loadMods(view, mods), compileOptions(call.ctx));
  return { data: highData(high), problems: [...problems, ...verifyHigh(high)] };
};

const lowOfSls = async (call: WrapperCall): Promise<Low> => {
  const { view, mods } = await viewOfMods(call, 'state.show_low_sls');
  const tree = await loadMods(view, mods);
  return lowOf(compile(tree, { ...compileOptions(call.ctx), collect: 'show-sls' }));
};

type Low = { readonly chunks: Dict[]; readonly errors: readonly Problem[] };

const lowOf = ({ chunks, errors }: Compiled): Low => ({
  chunks: chunks.map(chunkData),
  errors,
});

/** What SLS declare, short forms written out. */
export const showSls: Wrapper = async call => {
  const { data, problems } = await slsData(call);
  return problems.length > 0 ? errorAnswer(call.ctx, problems) : data;
};

/** The low chunks of SLS, in order. */
export const showLowSls: Wrapper = async call => {
  const { chunks, errors } = await lowOfSls(call);
  return errors.length > 0 ? errorAnswer(call.ctx, errors) : chunks;
};

export const slsExists: Wrapper = async call => {
  const { problems } = await slsData(call);
  if (problems.length > 0) call.ctx.setRetcode(1);
  return problems.length === 0;
};

export const idExists: Wrapper = async call => {
  const bound = bindArguments(call, ['ids', 'mods', 'test', 'queue']);
  const ids = splitInput(required(bound, 'ids', 'state.id_exists'));
  const kwargs = new Map(bound);
  kwargs.delete('ids');
  const { chunks } = await lowOfSls({ ctx: call.ctx, args: [], kwargs });
  const known = new Set(chunks.map(chunk => chunk.get('__id__')));
  return ids.every(id => known.has(id));
};

/** @throws TsaltError where there is no top file to show anything of */
const topToShow = async (view: StateView) => {
  const { fatal, ...rest } = await readTop(view);
  if (fatal) throw fatal;
  return rest;
};

const highTree = async (view: StateView) => {
  const { top, problems } = await topToShow(view);
  const faults = verifyTop(top);
  const tree = await loadSls({ matches: matchTop(view, top), loader: view.loader });
  return { tree, faults: [...problems, ...faults] };
};

const viewOfCall = (call: WrapperCall): Promise<StateView> =>
  viewOf(call.ctx, bindArguments(call, ['queue']));

/** What the top file's SLS declare. */
export const showHighstate: Wrapper = async call => {
  const { tree, faults } = await highTree(await viewOfCall(call));
  const { high, problems } = gather(tree, compileOptions(call.ctx));
  const all = [...faults, ...problems];
  if (all.length > 0) return errorAnswer(call.ctx, all);
  call.ctx.setRetcode(isEmpty(high) ? 2 : 0);
  return highData(high);
};

const lowOfHighstate = async (call: WrapperCall): Promise<Low> => {
  const { tree, faults } = await highTree(await viewOfCall(call));
  const { chunks, errors } = lowOf(compile(tree, { ...compileOptions(call.ctx), collect: 'show' }));
  const unread = faults.filter(one => !errors.includes(one));
  return { chunks, errors: [...unread, ...errors] };
};

/** The low chunks of a highstate, in order. As in Salt the return code stays 0. */
export const showLowstate: Wrapper = async call => {
  const { chunks, errors } = await lowOfHighstate(call);
  return errors.length > 0 ? errorAnswer(call.ctx, errors, 0) : chunks;
};

/** The SLS whose states a highstate runs, in that order. */
export const showStates: Wrapper = async call => {
  const { chunks, errors } = await lowOfHighstate(call);
  if (errors.length > 0) return errorAnswer(call.ctx, errors);
  return [...new Set(chunks.map(chunk => chunk.get('__sls__') ?? null))];
};

/** The SLS names the top file gives this host, by environment. */
export const showTop: Wrapper = async call => {
  const view = await viewOfCall(call);
  const { top, problems } = await topToShow(view);
  const faults = [...problems, ...verifyTop(top)];
  return faults.length > 0 ? errorAnswer(call.ctx, faults) : matchesAsData(matchTop(view, top));
};

/** By environment, which SLS the top file uses and which it does not. */
export const showStateUsage: Wrapper = async (call): Promise<Data | StateAnswer> => {
  const view = await viewOfCall(call);
  const { top, problems } = await topToShow(view);
  const faults = [...problems, ...verifyTop(top)];
  if (faults.length > 0) return errorAnswer(call.ctx, faults);
  const matches = matchTop(view, top);
  const usage: Dict = new Map();
  for (const env of view.loader.envs()) {
    const all = await view.loader.list(env);
    const wanted = new Set(matches.get(env) ?? []);
    const used = all.filter(sls => wanted.has(sls));
    const unused = all.filter(sls => !wanted.has(sls));
    usage.set(
      env,
      new Map<string, Data>([
        ['used', used],
        ['unused', unused],
        ['count_all', all.length],
        ['count_used', used.length],
        ['count_unused', unused.length],
      ]),
    );
  }
  return usage;
};
