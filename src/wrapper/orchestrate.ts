import { lowChunks } from '../compiler/chunks.ts';
import { TsaltError } from '../protocol/error.ts';
import type { WrapperCall } from './define.ts';
import type { Outcome } from './outcome.ts';
import { runSettings, withView } from './run-low.ts';
import { compileErrors, required } from './state-call.ts';
import { compileMods } from './state-run.ts';

/**
 * `state.orchestrate`: compiles SLS of steps, checks all of them, and runs them on the control node.
 *
 * @throws TsaltError `orchestrate-place` on any other host
 */
export const orchestrate = async (call: WrapperCall): Promise<Outcome> => {
  const mods = required(call, 'mods', 'state.orchestrate');
  const conducts = call.ctx.orchestration?.conducts;
  if (!conducts)
    throw new TsaltError(
      'orchestrate-place',
      'An orchestration runs on the control node, not on a host.',
      { hint: `For example: tsalt-ssh --orch ${String(mods)}` },
    );
  return withView(call, async view => {
    const { chunks, errors } = await compileMods(view, mods);
    if (errors.length > 0) return compileErrors(errors);
    if (chunks.length === 0) return { states: {}, retcode: 2 };
    const low = lowChunks(chunks);
    const faults = await conducts.prepare(low, view.test);
    if (faults.length > 0) return { errors: faults, retcode: 1 };
    const settings = runSettings(view);
    return call.ctx.run(low, {
      ...settings,
      opts: new Map([...(settings.opts ?? []), ['orchestrates', true]]),
      concurrent: true,
      finished: conducts.finished(low),
    });
  });
};
