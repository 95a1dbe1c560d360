import { brokenPillar, pillarMessage } from '../../compiler/pillar.ts';
import { showError, TsaltError } from '../../protocol/error.ts';
import type { HostFailure, HostResult } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import type { HostAttempt } from './attempt.ts';
import type { HostRun } from './host-run.ts';
import { withUnfinished } from './unfinished.ts';

/** Makes the result of a run that an error ended, with the states that had finished before. */
export const failedRun = (
  { host, shared }: HostRun,
  attempt: HostAttempt,
  error: unknown,
): HostResult => {
  const cause = withUnfinished(error, attempt);
  const { results } = attempt.states;
  return {
    id: host.id,
    fun: shared.request.fun,
    retcode: retcodeOf(cause),
    failure: failureOf(host, cause),
    ...(Object.keys(results).length > 0 ? { states: results } : {}),
  };
};

const failureOf = ({ id }: Host, error: unknown): HostFailure => {
  const code = error instanceof TsaltError ? error.code : 'internal';
  const problems = brokenPillar(error)?.problems;
  const message = problems ? pillarMessage(problems) : showError(error);
  return {
    kind: error instanceof TsaltError ? error.kind : 'internal',
    code,
    // Errors of the wire do not name the host.
    message: code.startsWith('wire-') && !message.startsWith(id) ? `${id}: ${message}` : message,
  };
};

/** Salt's codes for a host: 1 compile error, 5 pillar, 254 if the host cannot be reached. */
const retcodeOf = (error: unknown): number => {
  const kind = error instanceof TsaltError ? error.kind : 'internal';
  if (kind === 'pillar') return 5;
  return ['unreachable', 'host-key', 'auth'].includes(kind) ? 254 : 1;
};
