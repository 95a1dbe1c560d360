import { chunkData } from '../compiler/chunks.ts';
import { type Compiled, compile } from '../compiler/compile.ts';
import { gather } from '../compiler/gather.ts';
import { highData, isEmpty } from '../compiler/high.ts';
import type { Problem } from '../compiler/problem.ts';
import { matchesAsData, verifyTop } from '../compiler/top.ts';
import { verifyHigh } from '../compiler/verify.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { WrapperCall } from './define.ts';
import { type Outcome, valueOutcome } from './outcome.ts';
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
  viewOf,
} from './state-call.ts';

type Shown = { readonly data: Data; readonly problems: readonly Problem[] };

const viewOfMods = async (call: WrapperCall, fun: string) => {
  const mods = required(call, 'mods', fun);
  return { view: await viewOf(call), mods };
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

/** Shows the declarations of SLS, with short forms expanded. */
export const showSls = async (call: WrapperCall): Promise<Outcome> => {
  const { data, problems } = await slsData(call);
  return problems.length > 0 ? compileErrors(problems) : valueOutcome(data);
};

/** Shows the low chunks of SLS, in order. */
export const showLowSls = async (call: WrapperCall): Promise<Outcome> => {
  const { chunks, errors } = await lowOfSls(call);
  return errors.length > 0 ? compileErrors(errors) : valueOutcome(chunks);
};

export const slsExists = async (call: WrapperCall): Promise<Outcome> => {
  const { problems } = await slsData(call);
  const exists = problems.length === 0;
  return valueOutcome(exists, exists ? 0 : 1);
};

export const idExists = async (call: WrapperCall): Promise<Outcome> => {
  const ids = splitInput(required(call, 'ids', 'state.id_exists'));
  const { chunks } = await lowOfSls(call);
  const known = new Set(chunks.map(chunk => chunk.get('__id__')));
  return valueOutcome(ids.every(id => known.has(id)));
};

/** @throws TsaltError if the top file is missing or wrong */
const topToShow = async (view: StateCallView) => {
  const { fatal, ...rest } = await readTop(view);
  if (fatal) throw fatal;
  return rest;
};

/** Loads the SLS of the top file, with the errors in it. */
export const highTree = async (view: StateCallView) => {
  const { top, problems } = await topToShow(view);
  const faults = verifyTop(top);
  const tree = await loadTopSls(view, top, matchTop(view, top));
  return { tree, faults: [...problems, ...faults] };
};

/** Shows the declarations of the top file's SLS. */
export const showHighstate = async (call: WrapperCall): Promise<Outcome> => {
  const { tree, faults } = await highTree(await viewOf(call));
  const { high, problems } = gather(tree, compileOptions(call.ctx));
  const all = [...faults, ...problems];
  if (all.length > 0) return compileErrors(all);
  return valueOutcome(highData(high), isEmpty(high) ? 2 : 0);
};

const lowOfHighstate = async (call: WrapperCall): Promise<Low> => {
  const { tree, faults } = await highTree(await viewOf(call));
  const { chunks, errors } = lowOf(compile(tree, { ...compileOptions(call.ctx), collect: 'show' }));
  const unread = faults.filter(one => !errors.includes(one));
  return { chunks, errors: [...unread, ...errors] };
};

/** Shows the low chunks of a highstate, in order. As in Salt the return code stays 0. */
export const showLowstate = async (call: WrapperCall): Promise<Outcome> => {
  const { chunks, errors } = await lowOfHighstate(call);
  return errors.length > 0 ? compileErrors(errors, 0) : valueOutcome(chunks);
};

/** Shows the SLS whose states a highstate runs, in that order. */
export const showStates = async (call: WrapperCall): Promise<Outcome> => {
  const { chunks, errors } = await lowOfHighstate(call);
  if (errors.length > 0) return compileErrors(errors);
  return valueOutcome([...new Set(chunks.map(chunk => chunk.get('__sls__') ?? null))]);
};

/** Shows the SLS names that the top file assigns to this host, by environment. */
export const showTop = async (call: WrapperCall): Promise<Outcome> => {
  const view = await viewOf(call);
  const { top, problems } = await topToShow(view);
  const faults = [...problems, ...verifyTop(top)];
  return faults.length > 0
    ? compileErrors(faults)
    : valueOutcome(matchesAsData(matchTop(view, top)));
};

/** Shows, by environment, which SLS the top file uses and which it does not. */
export const showStateUsage = async (call: WrapperCall): Promise<Outcome> => {
  const view = await viewOf(call);
  const { top, problems } = await topToShow(view);
  const faults = [...problems, ...verifyTop(top)];
  if (faults.length > 0) return compileErrors(faults);
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
  return valueOutcome(usage);
};
