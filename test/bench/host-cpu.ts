import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Counts the processor's time of a bed's hosts: of its sshd and all that descends from it. */
export type HostCpu = {
  /** Milliseconds so far. Waits until the sessions have ended, and what they left running too. */
  readonly read: () => Promise<number>;
  /** Removes the cgroup. To be called after the sshd has ended. */
  readonly close: () => Promise<void>;
};

/**
 * Puts an sshd into a cgroup of its own. The processor's time of its children is not enough: a
 * process that outlives its session is reaped by init, and counts for nobody.
 *
 * @returns undefined where this user cannot make a cgroup
 */
export const hostCpu = (pid: number): HostCpu | undefined => {
  for (const { root, usage } of kinds) {
    const folder = join(root, `tsalt-bench-${pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(folder, 'cgroup.procs'), String(pid));
      const read = async (): Promise<number> => {
        await until(() => processesIn(folder).every(other => other === pid));
        return usage(folder);
      };
      usage(folder);
      return { read, close: () => remove(folder) };
    } catch {
      removeEmpty(folder);
    }
  }
  return undefined;
};

const kinds: readonly { readonly root: string; readonly usage: (folder: string) => number }[] = [
  {
    root: '/sys/fs/cgroup/cpuacct',
    usage: folder => Number(readFileSync(join(folder, 'cpuacct.usage'), 'utf8')) / 1e6,
  },
  {
    root: '/sys/fs/cgroup',
    usage: folder => {
      const [, microseconds] =
        /^usage_usec (\d+)$/m.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8')) ?? [];
      if (microseconds === undefined) throw new Error(`${folder} does not count.`);
      return Number(microseconds) / 1000;
    },
  },
];

const processesIn = (folder: string): number[] =>
  readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);

const remove = async (folder: string): Promise<void> => {
  await until(() => !existsSync(folder) || processesIn(folder).length === 0);
  removeEmpty(folder);
};

/** A cgroup in which something still runs stays: a bench does not fail for it. */
const removeEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // As it says above.
  }
};

/** Waits until something is so, for four seconds at most. */
const until = async (isSo: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 400 && !isSo(); turn += 1) await sleep(10);
};
