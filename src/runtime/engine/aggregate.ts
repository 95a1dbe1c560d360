import { messageOf } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { lowTag } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { positionsOf } from '../../protocol/stack.ts';
import { requisiteInKeywords, requisiteKeywords } from '../../protocol/state-keywords.ts';
import { asList, requisitesOf, truthy } from './low-tools.ts';
import type { Pass, RunState } from './run-state.ts';

const kinds = [...requisiteKeywords, ...requisiteInKeywords];

/**
 * `mod_aggregate` (spec/mod-aggregate): the module may move the work of later chunks into this one.
 * The chunk then takes over their requisites, too, or it would run too early.
 */
export const aggregate = async (run: RunState, pass: Pass, low: LowChunk): Promise<LowChunk> => {
  if (!aggregates(run, low)) return low;
  const fold = await run.host.registry.hook(low.state, 'mod_aggregate');
  if (!fold) return low;
  // The documented loop of `mod_aggregate` skips marked chunks. It must find this chunk's name, so
  // the chunk is marked only if it already has a list, which the loop extends.
  if (Object.hasOwn(low, 'pkgs')) low.__agg__ = true;
  try {
    const view = {
      env: String(low.__env__ ?? 'base'),
      test: truthy(run.host.opts.test),
      low,
      lowstate: pass.chunks,
      running: pass.running,
    };
    const folded = await run.host.inState(view, () => fold(low, pass.chunks, pass.running));
    low.__agg__ = true;
    return takeRequisites(pass, isPlainDict(folded) ? (folded as LowChunk) : low);
  } catch (error) {
    low.__agg__ = true;
    const why = messageOf(error);
    run.host.log(
      'error',
      `Failed to execute aggregate for state ${low.state}: ${why}`,
      positionsOf(error),
    );
    return low;
  }
};

/** Is this chunk to take over the work of later ones? */
export const aggregates = (run: RunState, low: LowChunk): boolean =>
  !truthy(low.__agg__) && isWanted(run, low);

const isWanted = (run: RunState, low: LowChunk): boolean => {
  const option: Plain | undefined = Object.hasOwn(low, 'aggregate')
    ? low.aggregate
    : run.host.opts.state_aggregate;
  return option === true || (Array.isArray(option) && option.includes(low.state));
};

const takeRequisites = (pass: Pass, low: LowChunk): LowChunk => {
  const taken = pass.chunks.filter(
    chunk => chunk.state === low.state && truthy(chunk.__agg__) && lowTag(chunk) !== lowTag(low),
  );
  for (const kind of kinds)
    for (const chunk of taken) {
      const items = asList(chunk[kind]).filter(item => !leadsTo(pass, item, low));
      if (Array.isArray(chunk[kind]) && items.length > 0)
        low[kind] = [...asList(low[kind]), ...items.filter(item => !includes(low[kind], item))];
    }
  return low;
};

const includes = (list: Plain | undefined, item: Plain): boolean =>
  asList(list).some(other => JSON.stringify(other) === JSON.stringify(item));

/** Whether a requisite's target itself needs `low`, so that it can only run after it. */
const leadsTo = (pass: Pass, item: Plain, low: LowChunk): boolean => {
  const target = lowTag(low);
  const seen = new Set<string>();
  const open = requisitesOf({ ...low, require: [item] }, 'require').flatMap(requisite =>
    pass.index.find(requisite),
  );
  for (let chunk = open.pop(); chunk; chunk = open.pop()) {
    const tag = lowTag(chunk);
    if (tag === target) return true;
    if (seen.has(tag)) continue;
    seen.add(tag);
    for (const kind of requisiteKeywords)
      for (const requisite of requisitesOf(chunk, kind))
        for (const found of pass.index.find(requisite)) open.push(found);
  }
  return false;
};

/** `mod_init` runs before a module's first state, and again until it returns true. */
export const initialize = async (run: RunState, pass: Pass, low: LowChunk): Promise<void> => {
  if (run.initialized.has(low.state)) return;
  const { registry } = run.host;
  const init = await registry.hook(low.state, 'mod_init');
  if (!init) {
    run.initialized.add(low.state);
    return;
  }
  if (!(await registry.resolve('state', `${low.state}.${low.fun}`)).ok) return;
  const view = {
    env: String(low.__env__ ?? 'base'),
    test: truthy(run.host.opts.test) || truthy(low.__prereq__),
    low,
    lowstate: pass.chunks,
    running: pass.running,
  };
  if (truthy(await run.host.inState(view, () => init(low)))) run.initialized.add(low.state);
};
