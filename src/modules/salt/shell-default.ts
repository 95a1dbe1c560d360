import type { PlainDict } from '../../protocol/plain.ts';

const shellFunctions: ReadonlySet<string> = new Set([
  'cmd.run',
  'cmd.run_all',
  'cmd.run_bg',
  'cmd.run_stderr',
  'cmd.run_stdout',
  'cmd.retcode',
]);

/** The place of `python_shell` among the positional arguments of those functions. */
const shellPosition = 6;

/**
 * The keywords of an execution function that a state names (`module.run`, a condition, a slot).
 * There, as on a minion, a command line has a shell only with `python_shell` or `cmd_safe: false`;
 * without one it is split into words.
 */
export const withShellOfStates = (
  fun: string,
  args: readonly unknown[],
  kwargs: PlainDict,
  opts: { readonly [key: string]: unknown },
): PlainDict =>
  shellFunctions.has(fun) &&
  args.length <= shellPosition &&
  (kwargs.python_shell ?? null) === null &&
  opts.cmd_safe !== false
    ? { ...kwargs, python_shell: false }
    : kwargs;
