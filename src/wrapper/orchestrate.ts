import { lowChunks } from '../compiler/chunks.ts';
import { problem } from '../compiler/problem.ts';
import type { Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { OrchestrationView } from './context.ts';
import type { WrapperCall } from './define.ts';
import type { Outcome } from './outcome.ts';
import { runSettings, selectedPart, withView } from './run-low.ts';
import { compileErrors, required } from './state-call.ts';
import { compileMods } from './state-run.ts';

/**
 * `state.orchestrate`: compiles the SLS of an orchestration, checks all steps, and runs them on the
 * control node.
 *
 * @throws TsaltError `orchestrate-place` on any other host
 */
export const orchestrate = async (call: WrapperCall): Promise<Outcome> => {
  const mods = required(call, 'mods', 'state.orchestrate');
  const conducts = conducting(call);
  return withView(call, async view => {
    const { chunks, errors } = await compileMods(view, mods);
    if (errors.length > 0) return compileErrors(errors);
    if (chunks.length === 0) return { states: {}, retcode: 2 };
    const all = lowChunks(chunks);
    const selected = selectedPart(view, all);
    if (selected?.fault !== undefined) return compileErrors([problem(selected.fault, undefined)]);
    const low = selected?.chunks ?? all;
    const faults = await conducts.prepare(low, view.test);
    if (faults.length > 0) return { errors: faults, retcode: 1 };
    const settings = runSettings(view);
    const { states, retcode } = await call.ctx.run(low, {
      ...settings,
      opts: orchestratingOpts(settings.opts),
      concurrent: true,
      finished: conducts.finished(low, all),
    });
    return { states, retcode, ...(selected ? { leftOut: selected.leftOut } : {}) };
  });
};

/** Adds the option that lets states of `salt` run steps. */
export const orchestratingOpts = (opts: Dict | undefined): Dict =>
  new Map([...(opts ?? []), ['orchestrates', true]]);

/**
 * Returns what carries out the steps of the orchestration that a call is.
 *
 * @throws TsaltError `orchestrate-place` on a host
 */
export const conducting = (call: WrapperCall): NonNullable<OrchestrationView['conducts']> => {
  const conducts = call.ctx.orchestration?.conducts;
  if (conducts) return conducts;
  throw new TsaltError(
    'orchestrate-place',
    'An orchestration runs on the control node, not on a host.',
    { hint: `For example: tsalt-ssh --orch ${String(call.get('mods') ?? 'SLS')}` },
  );
};
