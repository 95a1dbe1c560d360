/**
 * Lists and ends the runs on this host, and syncs modules as Salt's `saltutil` does.
 *
 * @platform all
 */

import { lockHolder } from '../../_shared/commands/run-lock.ts';
import { __opts__, CommandExecutionError, type PlainDict } from '../../api.ts';

/**
 * The run of states that is under way on this host, as a list.
 *
 * @example tsalt-ssh '*' saltutil.running
 */
export const running = async (): Promise<PlainDict[]> => {
  const holder = lockHolder(String(__opts__.cachedir));
  return holder ? [{ fun: holder.fun, pid: holder.pid, start_time: holder.since }] : [];
};

/**
 * Returns the runs of a function on this host.
 *
 * @param fun its name, or a pattern with `*`
 * @example tsalt-ssh '*' saltutil.is_running state.apply
 */
export const is_running = async (fun: string): Promise<PlainDict[]> => {
  const pattern = new RegExp(
    `^${fun.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`,
  );
  return (await running()).filter(one => pattern.test(String(one.fun)));
};

/**
 * Ends the run of states that is under way on this host: it starts nothing new, and its
 * processes are ended. Returns what it ended.
 *
 * @example tsalt-ssh '*' saltutil.term_all_jobs
 */
export const term_all_jobs = async (): Promise<string[]> => signal_all(15);

/**
 * Kills the run of states on this host, which cannot clean up then.
 *
 * @example tsalt-ssh '*' saltutil.kill_all_jobs
 */
export const kill_all_jobs = async (): Promise<string[]> => signal_all(9);

const signal_all = async (signal: number): Promise<string[]> => {
  if (__opts__.test) return [];
  const holder = lockHolder(String(__opts__.cachedir));
  return (holder ? [holder] : []).map(({ pid, fun, orphan }) => {
    try {
      // A command that outlived its run leads a process group.
      process.kill(orphan ? -pid : pid, signal);
    } catch (cause) {
      throw new CommandExecutionError(`The run with pid ${pid} could not be ended.`, { cause });
    }
    return `Signal ${signal} sent to ${fun} at pid ${pid}`;
  });
};
