import type { Handler } from '../../protocol/peer.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { readNested, readStep, readWait } from './request-params.ts';

/**
 * Handles the requests for steps of an orchestration. Only the control node's own runtime may send
 * them.
 */
export const orchestrationHandlers = ({
  shared,
  taint,
}: HostFacts): Readonly<Record<string, Handler>> => {
  const { conductor } = shared;
  if (!conductor) return {};
  const taintOf = (text: string) => taint.of(text);
  return {
    'orchestrate.run': said => conductor.run(readStep(said), taintOf),
    'orchestrate.wait': said => conductor.wait(readWait(said)),
    'orchestrate.nested': said => conductor.nested(readNested(said), taintOf),
  };
};
