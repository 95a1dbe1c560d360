import { type ErrorKind, TsaltError } from '../protocol/error.ts';
import type { HostResult } from '../protocol/event.ts';

/** Exit codes of the process; `--help` and the README list them. */
export const exitCode = {
  ok: 0,
  failed: 20,
  wouldChange: 21,
  drift: 22,
  usage: 64,
  render: 65,
  noTarget: 67,
  unreachable: 68,
  host: 69,
  internal: 70,
  report: 74,
  hostKey: 76,
  auth: 77,
  interrupted: 130,
} as const;

export const exitCodeHelp: readonly (readonly [number, string])[] = [
  [exitCode.ok, 'every host succeeded'],
  [exitCode.failed, 'a state or a function failed'],
  [exitCode.wouldChange, 'with --expect-no-changes: something would change'],
  [exitCode.drift, 'apply: a host differs from its plan, or the plan is out of date'],
  [exitCode.usage, 'the command line, the configuration or the roster is wrong'],
  [exitCode.render, 'states or pillar do not render or compile'],
  [exitCode.noTarget, 'no host matches the target'],
  [exitCode.unreachable, 'a host cannot be reached, or the connection to it was lost'],
  [exitCode.host, 'a host disconnected, took longer than --timeout, or cannot run its job'],
  [exitCode.internal, 'tsalt-ssh itself is broken'],
  [exitCode.report, 'a report of --report cannot be written; the run itself went well'],
  [exitCode.hostKey, 'a host key is unknown, changed or revoked'],
  [exitCode.auth, 'a login or sudo was refused'],
  [exitCode.interrupted, 'the run was interrupted'],
];

const byKind: Readonly<Record<ErrorKind, number>> = {
  usage: exitCode.usage,
  'no-target': exitCode.noTarget,
  render: exitCode.render,
  pillar: exitCode.render,
  unreachable: exitCode.unreachable,
  'host-key': exitCode.hostKey,
  auth: exitCode.auth,
  function: exitCode.failed,
  drift: exitCode.drift,
  host: exitCode.host,
  internal: exitCode.internal,
};

export const exitCodeOfKind = (kind: ErrorKind): number => byKind[kind] ?? exitCode.internal;

/** Returns the exit code for an error that ended the command. Errors that are not ours are bugs. */
export const exitCodeOfError = (error: unknown): number =>
  !(error instanceof TsaltError)
    ? exitCode.internal
    : error.code === 'report'
      ? exitCode.report
      : exitCodeOfKind(error.kind);

/** If hosts have different codes, the first of these that occurred is the exit code. */
export const precedence: readonly number[] = [
  exitCode.interrupted,
  exitCode.internal,
  exitCode.hostKey,
  exitCode.auth,
  exitCode.unreachable,
  exitCode.host,
  exitCode.usage,
  exitCode.render,
  exitCode.noTarget,
  exitCode.failed,
  exitCode.drift,
  exitCode.wouldChange,
  exitCode.report,
];

/** Returns the exit code for one host's result. */
export const exitCodeOfHost = ({ failure, retcode, states, fun, value }: HostResult): number => {
  if (failure !== undefined) return exitCodeOfKind(failure.kind);
  if (retcode === 0) return exitCode.ok;
  // A state run that returns a list of errors was not compiled.
  const compiled = states !== undefined || !fun.startsWith('state.') || !Array.isArray(value);
  return compiled ? exitCode.failed : exitCode.render;
};

/** Whether a host's run in test mode predicts a change. */
export const predictsChange = ({ states = {} }: HostResult): boolean =>
  Object.values(states).some(({ result }) => result === null);

/** Returns the exit code of a run: the most severe of its hosts'. */
export const mostSevereCode = (codes: ReadonlySet<number>): number =>
  precedence.find(code => codes.has(code)) ?? exitCode.ok;
