import type { Request } from '../../config/request.ts';
import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { rangesOf } from '../../data/taint.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { HostResult } from '../../protocol/event.ts';
import { runRaw } from '../../transport/raw-shell.ts';
import type { Connection } from '../../transport/transport.ts';
import { cancelled } from '../../transport/unreachable.ts';
import { callWrapper, type WrapperFunction } from '../../wrapper/define.ts';
import { dataOf } from '../../wrapper/outcome.ts';
import { plannedOrchestration } from '../../wrapper/planned-orchestration.ts';
import { plannedFunction } from '../../wrapper/planned-run.ts';
import type { HostAttempt } from './attempt.ts';
import type { EarlyCall } from './early-call.ts';
import { askSudo, type HostRun, phase } from './host-run.ts';

/** Runs the function: on the host, or on the control node for the host. */
export const perform = async (
  run: HostRun,
  attempt: HostAttempt,
  early?: EarlyCall,
): Promise<HostResult> => {
  const { host, shared } = run;
  const { fun, args, kwargs } = shared.request;
  const wrapper = await attempt.calls.wrapper(fun);
  if (!wrapper) {
    phase(run, 'run');
    const plain = toPlainDict(kwargs);
    const answer = early?.answer() ?? attempt.calls.callHost(fun, args.map(toPlain), plain);
    const { value, retcode } = await answer;
    return { id: host.id, fun, value, retcode, ...outputterOf(attempt, fun) };
  }
  phase(run, 'render');
  const outcome = await unlessInterrupted(
    run,
    attempt,
    callWrapper(fun, planned(run, attempt, wrapper), attempt.context(), args, kwargs),
  );
  const { retcode, problems } = outcome;
  const known = { id: host.id, fun, retcode, ...(problems ? { problems } : {}) };
  return 'states' in outcome
    ? {
        ...known,
        states: outcome.states,
        ...(outcome.leftOut === undefined ? {} : { leftOut: outcome.leftOut }),
      }
    : { ...known, value: toPlain(dataOf(outcome)), ...outputterOf(attempt, fun) };
};

/** Returns the function that applies a plan, if the request has one. */
const planned = (
  { host, shared }: HostRun,
  { facts }: HostAttempt,
  wrapper: WrapperFunction,
): WrapperFunction => {
  const bound = shared.request.planned?.runOf(host.id);
  if (bound === undefined) return wrapper;
  for (const { text, ranges } of bound.tainted) {
    const known = rangesOf(ranges);
    if (known) facts.taint.learn(text, known);
  }
  return shared.conductor ? plannedOrchestration(wrapper, bound) : plannedFunction(wrapper, bound);
};

/** After Ctrl-C, lets a host that runs states end them in order; does not wait for rendering. */
const unlessInterrupted = <T>(
  { host, signal }: HostRun,
  attempt: HostAttempt,
  work: Promise<T>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      if (!attempt.states.isSent) reject(cancelled(host.id));
    };
    const onAbort = (): void => void setTimeout(leave, patience).unref();
    signal.addEventListener('abort', onAbort, { once: true });
    // Otherwise a run of many hosts would keep the data of all finished ones in memory.
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const patience = 500;

const outputterOf = (attempt: HostAttempt, fun: string): Pick<HostResult, 'outputter'> => {
  const [module, name = ''] = splitFunctionName(fun);
  const outputter = attempt.facts.modules.find(
    item => item.kind === 'exec' && (item.virtualname ?? item.file) === module,
  )?.outputters?.[name];
  return outputter === undefined ? {} : { outputter };
};

/** Runs a command in the host's own shell (`-r`), without a runtime. */
export const performRaw = async (
  run: HostRun,
  connection: Connection,
  raw: NonNullable<Request['raw']>,
): Promise<HostResult> => {
  const { host, shared, signal } = run;
  const command = typeof raw === 'string' ? raw : raw(host);
  const { stdout, stderr, retcode } = await runRaw({
    connection,
    host,
    command,
    signal,
    askSudoPassword: askSudo(run),
  });
  return {
    id: host.id,
    fun: shared.request.fun,
    retcode,
    value: retcode === 0 && stderr === '' ? stdout : { retcode, stdout, stderr },
  };
};
