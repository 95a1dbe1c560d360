import { detachedFlag, workerFlag } from '../control/workers/process-flags.ts';

/** Whether another process of this program started this one to work for it. */
export const isWorkerProcess = (argv: readonly string[]): boolean =>
  argv[0] === workerFlag && process.send !== undefined;

/** Whether this process was started by `--detach`. */
export const isDetachedProcess = (argv: readonly string[]): boolean =>
  argv[0] === detachedFlag && process.send !== undefined;

/** Carries out the call of a detached process. Returns the exit code. */
export const runDetachedCall = async (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> => (await import('./detach/detached-run.ts')).runDetached(argv.slice(1), env);

/** Works for the process that started this one. */
export const workForParent = async (): Promise<void> =>
  (await import('../control/fleet/serve-worker.ts')).serveWorker();
