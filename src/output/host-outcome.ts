import type { HostResult } from '../protocol/event.ts';
import { stateOutcome } from './highstate.ts';

/** The outcomes of a host, the most severe first. */
export const hostOutcomes = ['unreachable', 'failed', 'skipped', 'changed', 'ok'] as const;

export type HostOutcome = (typeof hostOutcomes)[number];

/** Names what a host came to; hosts without any result were skipped. */
export const hostOutcome = ({ failure, retcode, states }: HostResult): HostOutcome => {
  if (failure !== undefined)
    return ['unreachable', 'auth', 'host-key'].includes(failure.kind) ? 'unreachable' : 'failed';
  if (retcode !== 0) return 'failed';
  const outcomes = Object.values(states ?? {}).map(stateOutcome);
  return outcomes.some(outcome => outcome === 'Changed' || outcome === 'Differs')
    ? 'changed'
    : 'ok';
};
