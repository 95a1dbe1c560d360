import { workerWord } from '../control/workers/word.ts';

/** Whether this process was started by another one of this program, to work for it. */
export const isWorkerProcess = (argv: readonly string[]): boolean =>
  argv[0] === workerWord && process.send !== undefined;

/** Works for the process that started this one. */
export const workForParent = async (): Promise<void> =>
  (await import('../control/fleet/serve-worker.ts')).serveWorker();
