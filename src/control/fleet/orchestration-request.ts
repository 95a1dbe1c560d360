import type { FleetRunOptions, Request } from '../../config/request.ts';
import type { KeptRuntimes } from '../host/kept-runtimes.ts';

/** A request is an orchestration where it calls one on this machine. */
export const isOrchestration = ({ fun, targetType, target, hosts }: Request): boolean =>
  (fun === 'state.orchestrate' || fun === 'state.orch') &&
  targetType === 'list' &&
  hosts.some(({ id, transport }) => id === target && transport === 'local');

/** The request for the orchestration's own runtime: roll-out options are for the hosts of steps. */
export const ownRequest = (request: Request): Request => {
  const { limit, exclude, order, batch, maxFail, batchCheck, timeout, guard, workers, ...options } =
    request.options;
  return { ...request, options };
};

/** Closes what an orchestration opened, unless a session keeps it. */
export const closeUnless = (given: KeptRuntimes | undefined, own: KeptRuntimes): void => {
  if (given === undefined) own.close();
};

/** The options of a step that is only compared with its plan: no batch waits, and none is asked for. */
export const comparing = (options: FleetRunOptions): FleetRunOptions => {
  const { batch, batchMode, batchWait, batchCheck, batchAsk, maxFail, ...rest } = options;
  return { ...rest, failhard: false };
};
