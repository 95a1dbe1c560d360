import { type FSWatcher, watch } from 'node:fs';
import {
  joinQueue,
  type Lock,
  type LockHolder,
  lockPath,
  showHolder,
  takeLock,
} from '../modules/_shared/commands/run-lock.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { LogLevel, RunParams } from '../protocol/job.ts';
import { rollbackHolder } from './rollback/folders.ts';
import { openLockFolder } from './workspaces.ts';

/** The folder in which runs of states wait for each other. */
export type RunLockFolder = {
  /** The workspace that runs share. */
  readonly dir: string;
  /** It is not the workspace of this run, and may not exist. */
  readonly isShared?: boolean;
  readonly isStopping: () => boolean;
  readonly log: (level: LogLevel, message: string) => void;
};

/**
 * Takes the run lock of the host: one state run at a time. If the run may be queued, waits for
 * earlier runs. Returns undefined if the workspace cannot be locked, which is logged.
 * @throws `TsaltError` if another run is active
 */
export const takeRunLock = async (
  params: RunParams,
  place: RunLockFolder,
): Promise<Lock | undefined> => {
  const lock = await lockOrHolder(params, place);
  if (lock && 'pid' in lock) throw conflict(lock);
  return lock;
};

type Taken = Lock | LockHolder;

const lockOrHolder = async (
  params: RunParams,
  place: RunLockFolder,
): Promise<Taken | undefined> => {
  const { queue = false, fun = 'state.apply', job } = params;
  const take = (): Taken => {
    const lock = place.isShared
      ? takeSharedLock(place.dir, fun, job)
      : takeLock(place.dir, fun, job);
    if ('pid' in lock) return lock;
    const guard = rollbackHolder(place.dir);
    if (guard) lock.release();
    return guard ?? lock;
  };
  try {
    let lock = take();
    // The same job runs under another name of this host, so wait for it.
    if ('pid' in lock && job !== undefined && lock.job === job)
      lock = await waitForJob(take, job, place);
    if (!('pid' in lock) || queue === false || place.isStopping()) return lock;
    return await waitInQueue(
      take,
      typeof queue === 'number' ? queue : Number.POSITIVE_INFINITY,
      place,
    );
  } catch (error) {
    const why = messageOf(error);
    place.log('warning', `This run could not be locked against others: ${why}`);
    return undefined;
  }
};

/** Removes the folder again if it did not exist before. */
const takeSharedLock = (dir: string, fun: string, job: string | undefined): Taken => {
  const leave = openLockFolder(dir);
  const lock = takeLock(dir, fun, job);
  if ('pid' in lock) return lock;
  return {
    ...lock,
    release: () => {
      lock.release();
      leave();
    },
  };
};

const waitForJob = async (
  take: () => Taken,
  job: string,
  { dir, isStopping }: RunLockFolder,
): Promise<Taken> => {
  let lock = take();
  while ('pid' in lock && lock.job === job && !isStopping()) {
    await lockChange(dir);
    lock = take();
  }
  return lock;
};

/**
 * Waits until the lock changes, or a moment: a holder that is killed leaves it as it is, and a file
 * cannot be watched everywhere.
 */
const lockChange = (dir: string): Promise<void> =>
  new Promise(resolve => {
    let watcher: FSWatcher | undefined;
    const end = (): void => {
      clearTimeout(timer);
      watcher?.close();
      resolve();
    };
    const timer = setTimeout(end, 50);
    try {
      watcher = watch(lockPath(dir), end).on('error', end);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') end();
    }
  });

/** @param most - How many runs may wait before this one. */
const waitInQueue = async (
  take: () => Taken,
  most: number,
  { dir, isStopping, log }: RunLockFolder,
): Promise<Taken> => {
  const { others, leave } = joinQueue(dir);
  try {
    let lock = take();
    if ('pid' in lock && others >= most) return lock;
    if ('pid' in lock) log('info', `Waiting: ${showHolder(lock)}`);
    while ('pid' in lock && !isStopping()) {
      await pause(200);
      lock = take();
    }
    return lock;
  } finally {
    leave();
  }
};

const pause = (milliseconds: number): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, milliseconds));

const conflict = (holder: LockHolder): TsaltError =>
  new TsaltError('run-conflict', `${showHolder(holder)}.`, {
    kind: 'host',
    hint: 'queue=True waits for it, concurrent=True runs beside it.',
  });
