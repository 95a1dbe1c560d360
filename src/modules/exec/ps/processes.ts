/**
 * Processes: who they are, what they use, how to end them.
 *
 * @platform linux
 */
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../api.ts';
import { listProcesses, type Process } from '../../lib/processes.ts';

const plain = ({ pid, ppid, name, state, command, uid, rss }: Process): PlainDict => ({
  pid,
  ppid,
  name,
  status: state,
  cmd: command,
  uid,
  rss: rss * 1024,
});

/**
 * The pids of all processes.
 *
 * @example tsalt-ssh '*' ps.get_pid_list
 */
export const get_pid_list = async (): Promise<number[]> =>
  (await listProcesses()).map(({ pid }) => pid);

/**
 * What is known of a process.
 *
 * @param pid the process
 * @example tsalt-ssh '*' ps.proc_info 1
 */
export const proc_info = async (pid: number): Promise<PlainDict> => {
  const found = (await listProcesses()).find(one => one.pid === pid);
  if (!found) throw new CommandExecutionError(`There is no process ${pid}.`);
  return plain(found);
};

/**
 * The pids of processes by name; null when there is none.
 *
 * @param pattern the name, or text of the command line with `full`
 * @param user of this uid only
 * @param full true: look in the whole command line
 * @param pattern_is_regex true: the pattern is a regular expression
 * @example tsalt-ssh '*' ps.pgrep sshd
 */
export const pgrep = async (
  pattern: string,
  {
    user = null,
    full = false,
    pattern_is_regex = false,
  }: { user?: number | null; full?: boolean; pattern_is_regex?: boolean } = {},
): Promise<number[] | null> => {
  const pids = (await matching(pattern, { user, full, pattern_is_regex })).map(({ pid }) => pid);
  return pids.length > 0 ? pids : null;
};

const matching = async (
  pattern: string,
  {
    user,
    full,
    pattern_is_regex,
  }: { user: number | null; full: boolean; pattern_is_regex: boolean },
): Promise<Process[]> => {
  const regex = pattern_is_regex ? new RegExp(pattern) : undefined;
  return (await listProcesses()).filter(one => {
    const text = full ? one.command : one.name;
    const fits = regex ? regex.test(text) : text.includes(pattern);
    return fits && one.pid !== process.pid && (user === null || one.uid === user);
  });
};

/**
 * Sends a signal to processes by name and gives those it reached; null when there is none.
 *
 * @param pattern the name, or text of the command line with `full`
 * @param user of this uid only
 * @param signal number or name of the signal
 * @param full true: look in the whole command line
 * @example tsalt-ssh '*' ps.pkill httpd signal=9
 */
export const pkill = async (
  pattern: string,
  {
    user = null,
    signal = 15,
    full = false,
  }: { user?: number | null; signal?: number | string; full?: boolean } = {},
): Promise<{ killed: number[] } | null> => {
  if (pattern.trim() === '') throw new SaltInvocationError('ps.pkill needs a pattern.');
  const killed: number[] = [];
  for (const { pid } of await matching(pattern, { user, full, pattern_is_regex: false }))
    if (send(pid, signal)) killed.push(pid);
  return killed.length > 0 ? { killed } : null;
};

/**
 * Sends a signal to a process.
 *
 * @param pid the process
 * @param signal number or name of the signal
 * @example tsalt-ssh '*' ps.kill_pid 4711 signal=9
 */
export const kill_pid = async (
  pid: number,
  { signal = 15 }: { signal?: number | string } = {},
): Promise<boolean> => send(pid, signal);

const send = (pid: number, signal: number | string): boolean => {
  try {
    process.kill(pid, typeof signal === 'string' ? (signal as NodeJS.Signals) : signal);
    return true;
  } catch {
    return false;
  }
};

/**
 * The processes that use most memory.
 *
 * @param num_processes how many
 * @example tsalt-ssh '*' ps.top num_processes=3
 */
export const top = async ({
  num_processes = 5,
}: {
  num_processes?: number;
} = {}): Promise<PlainDict[]> =>
  (await listProcesses())
    .toSorted((left, right) => right.rss - left.rss)
    .slice(0, num_processes)
    .map(plain);
