import { toDict } from '../data/values/value.ts';
import type { LowChunk } from '../protocol/low.ts';
import { type BoundRun, isStepTag, predictionOf } from '../protocol/plan.ts';
import type { WrapperFunction } from './define.ts';
import { conducting, orchestratingOpts } from './orchestrate.ts';
import { refuseDrift } from './planned-run.ts';
import { runSettings, withView } from './run-low.ts';

/**
 * `state.orchestrate` with the steps of a plan. Before the first change all steps are predicted
 * again: where a host or a state of the control node differs, nothing is changed. Test mode ends
 * there.
 *
 * @throws TsaltError `plan-drift`
 */
export const plannedOrchestration = (fun: WrapperFunction, planned: BoundRun): WrapperFunction => ({
  ...fun,
  work: call =>
    withView(call, async given => {
      const { ctx } = call;
      const conducts = conducting(call);
      const chunks: readonly LowChunk[] = planned.chunks;
      const faults = await conducts.prepare(chunks, true);
      if (faults.length > 0) return { errors: faults, retcode: 1 };
      const view = {
        ...given,
        saltenv: planned.saltenv,
        opts: orchestratingOpts(toDict(planned.opts)),
        test: false,
      };
      const settings = { ...runSettings(view), concurrent: true };
      const { states, retcode } = await conducts.rehearse(() =>
        ctx.predict(chunks, { ...settings, test: true }),
      );
      conducts.refuseDrift();
      // Steps are compared on their hosts.
      const now = Object.entries(states).map(([tag, result]) => predictionOf(tag, result));
      refuseDrift(
        ctx.id,
        planned.predicted.filter(({ tag }) => !isStepTag(tag)),
        now.filter(({ tag }) => !isStepTag(tag)),
      );
      if (given.test) return { states, retcode };
      return ctx.run(chunks, { ...settings, finished: conducts.finished(chunks) });
    }),
});
