import { messageOf } from '../../../protocol/error.ts';
import { currentLow, getContext } from '../../api.ts';
import { closeSync, openSync, unlinkSync, writeSync } from '../safe-fs/fs.ts';
import { processStart, type RunChild } from './run-lock.ts';

type Recorder = {
  readonly begin: (pid: number, program: string) => void;
  readonly end: (pid: number) => void;
};

let recorder: Recorder | undefined;

/** Notes that this process waits for a command from now on. */
export const noteChild = (pid: number, program: string): void => recorder?.begin(pid, program);

/** Notes that a command has ended. */
export const forgetChild = (pid: number): void => recorder?.end(pid);

/**
 * Keeps the commands that this process waits for in a file, in which the next run finds those that
 * outlive a killed runtime. The file is made when the first command begins, and overwritten from
 * its start when no other command runs. Entries of ended ones do no harm: no process has their
 * start time.
 * Nothing is forced to the disk: no command outlives a restart of the host.
 *
 * @returns a function that ends the record and removes the file
 */
export const recordChildren = (path: string): (() => void) => {
  const running = new Set<number>();
  let file: number | undefined;
  let end = 0;
  let isBroken = false;
  const attempt = (work: () => void): void => {
    if (isBroken) return;
    try {
      work();
    } catch (error) {
      isBroken = true;
      const why = `Commands cannot be recorded in ${path}: ${messageOf(error)}.`;
      getContext().log('warning', 'state', `${why} No later run will wait for them.`);
    }
  };
  recorder = {
    begin: (pid, program) => {
      if (running.size === 0) end = 0;
      running.add(pid);
      attempt(() => {
        const child = describe(pid, program);
        if (!child) return;
        file ??= openSync(path, 'w', 0o600);
        end += writeSync(file, `${JSON.stringify(child)}\n`, end);
      });
    },
    end: pid => {
      running.delete(pid);
    },
  };
  return () => {
    recorder = undefined;
    if (file === undefined) return;
    closeSync(file);
    try {
      unlinkSync(path);
    } catch {
      // Removed already.
    }
  };
};

const describe = (pid: number, program: string): RunChild | undefined => {
  const begun = processStart(pid);
  // Without it, a process that gets the same number later would be taken for this one.
  if (begun === undefined) return undefined;
  const low = currentLow();
  return {
    pid,
    begun,
    ...(low ? { fun: `${low.state}.${low.fun}` } : {}),
    // The id of a state with no_log may be a secret, and so may arguments of a program.
    ...(low && !low.no_log ? { id: String(low.__id__).slice(0, 200) } : {}),
    program: program.slice(program.lastIndexOf('/') + 1),
  };
};
