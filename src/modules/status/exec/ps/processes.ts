/**
 * Processes: who they are, what they use, how to end them.
 *
 * @platform linux
 */

import { constants } from 'node:os';
import { listProcesses, type Process } from '../../../_shared/commands/processes.ts';
import { userName } from '../../../_shared/files/owner-names.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../../api.ts';
import {
  commandOf,
  cpuTimesOf,
  createTimeOf,
  memoryOf,
  processFacts,
  stateName,
  userOf,
} from '../../process-facts.ts';

/**
 * The pids of all processes.
 *
 * @example tsalt-ssh '*' ps.get_pid_list
 */
export const get_pid_list = async (): Promise<number[]> =>
  (await listProcesses()).map(({ pid }) => pid);

/**
 * Returns details of a process: `name`, `exe`, `cmdline`, `status`, `username`, `create_time`,
 * `cpu_times`, `memory_info` … Its environment (`environ`) may hold secrets and is returned
 * only on request.
 *
 * @param pid the process
 * @param attrs only these
 * @example tsalt-ssh '*' ps.proc_info 1 attrs='[name, status]'
 */
export const proc_info = async (pid: number, attrs: string[] | null = null): Promise<PlainDict> => {
  const names = attrs ?? Object.keys(processFacts).filter(name => name !== 'environ');
  const odd = names.find(name => !Object.hasOwn(processFacts, name));
  if (odd !== undefined)
    throw new SaltInvocationError(
      `ps.proc_info knows ${Object.keys(processFacts).join(', ')}, but not ${odd}`,
    );
  if (!Number.isInteger(pid) || !existsSync(`/proc/${pid}`))
    throw new CommandExecutionError(`There is no process ${pid}.`);
  return Object.fromEntries(names.map(name => [name, processFacts[name]?.(pid) ?? null]));
};

/**
 * The pids of processes by name; null when there is none.
 *
 * @param pattern the name, or text of the command line with `full`
 * @param user of this user only, by name or uid
 * @param full true: look in the whole command line
 * @param pattern_is_regex true: the pattern is a regular expression
 * @example tsalt-ssh '*' ps.pgrep sshd user=root
 */
export const pgrep = async (
  pattern: string,
  {
    user = null,
    full = false,
    pattern_is_regex = false,
  }: { user?: string | number | null; full?: boolean; pattern_is_regex?: boolean } = {},
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
  }: { user: string | number | null; full: boolean; pattern_is_regex: boolean },
): Promise<Process[]> => {
  const regex = pattern_is_regex ? pythonRegex(pattern) : undefined;
  return (await listProcesses()).filter(one => {
    const text = full ? one.command : one.name;
    const fits = regex ? regex.test(text) : text.includes(pattern);
    const owned =
      user === null || String(one.uid) === String(user) || userName(one.uid) === String(user);
    return fits && owned && one.pid !== process.pid;
  });
};

/**
 * Sends a signal to processes by name and returns those it reached; null when there is none.
 *
 * @param pattern the name, or text of the command line with `full`
 * @param user of this user only, by name or uid
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
  }: { user?: string | number | null; signal?: number | string; full?: boolean } = {},
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
): Promise<boolean> => {
  // 0 and -1 are whole groups for kill(2).
  if (!Number.isInteger(pid) || pid < 1)
    throw new SaltInvocationError(`pid must be a whole number above 0, not ${pid}`);
  return send(pid, signal);
};

const signalOf = (signal: number | string): number => {
  const text = String(signal).toUpperCase();
  const names: Readonly<Record<string, number>> = constants.signals;
  const number = /^\d+$/.test(text) ? Number(text) : (names[text] ?? names[`SIG${text}`]);
  if (number === undefined) throw new SaltInvocationError(`There is no signal ${signal}.`);
  return number;
};

const send = (pid: number, signal: number | string): boolean => {
  const number = signalOf(signal);
  try {
    process.kill(pid, number);
    return true;
  } catch {
    return false;
  }
};

/**
 * The processes that use the processors most within some seconds.
 *
 * @param num_processes how many
 * @param interval seconds to look
 * @example tsalt-ssh '*' ps.top num_processes=3 interval=1
 */
export const top = async (num_processes = 5, interval = 3): Promise<PlainDict[]> => {
  const spent = (pid: number): number | undefined => {
    const times = cpuTimesOf(pid);
    return times && times.user + times.system;
  };
  const before = (await listProcesses()).map(({ pid }) => ({ pid, was: spent(pid) ?? 0 }));
  await new Promise(resolve => setTimeout(resolve, interval * 1000));
  return before
    .flatMap(({ pid, was }) => {
      const now = spent(pid);
      return now === undefined ? [] : [{ pid, used: now - was }];
    })
    .sort((left, right) => right.used - left.used)
    .slice(0, num_processes)
    .flatMap(({ pid }) => {
      const cpu = cpuTimesOf(pid);
      return cpu === undefined ? [] : [{ ...processLine(pid), cpu, mem: memoryOf(pid) }];
    });
};

const processLine = (pid: number): PlainDict => {
  const command = commandOf(pid);
  return {
    cmd: command.length > 0 ? command : (processFacts.name?.(pid) ?? ''),
    user: userOf(pid),
    status: processFacts.status?.(pid) ?? '',
    pid,
    create_time: createTimeOf(pid),
  };
};

/**
 * The processes in a state.
 *
 * @param status `running`, `sleeping`, `disk-sleep`, `stopped`, `zombie`, `idle` …
 * @example tsalt-ssh '*' ps.status zombie
 */
export const status = async (status: string): Promise<{ pid: number; name: string }[]> => {
  if (!status) throw new SaltInvocationError('Filter is required for ps.status');
  return (await listProcesses())
    .filter(({ state }) => stateName(state) === status)
    .map(({ pid, name }) => ({ pid, name }));
};
