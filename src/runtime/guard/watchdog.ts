import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, takeLock } from '../../modules/_shared/commands/run-lock.ts';
import { messageOf } from '../../protocol/error.ts';
import { decide, guardFile, putFile, type WatchdogJob } from './folders.ts';
import { keepAll, putAllBack } from './kept.ts';

/** Milliseconds between two looks at the folder. */
const pause = 200;

/**
 * A process of its own that outlives the run: remembers what cuts a host off, and puts it back when
 * the run is broken off, or nobody confirms it in time. It ends the process.
 */
export const runWatchdog = async (folder: string): Promise<void> => {
  process.on('SIGHUP', () => undefined);
  try {
    const job = readJob(folder);
    const kept = await keepAll(job);
    if (!existsSync(folder)) throw new Error('The run was given up before its watchdog was ready.');
    // The lock tells the run that this process is at work.
    if ('pid' in takeLock(folder, 'state.apply --guard'))
      throw new Error('The run has another watchdog.');
    await runEnds(job, folder);
    if (isConfirmed(folder)) rmSync(folder, { recursive: true, force: true });
    else putFile(join(folder, guardFile.outcome), JSON.stringify(await putAllBack(kept)));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(1);
  }
};

/** Whoever removed the folder has confirmed nothing. */
const isConfirmed = (folder: string): boolean => existsSync(folder) && !decide(folder);

const readJob = (folder: string): WatchdogJob =>
  JSON.parse(readFileSync(join(folder, guardFile.job), 'utf8')) as WatchdogJob;

/** Resolves when the run was confirmed or broken off, or its time is over. */
const runEnds = async ({ runtime, seconds }: WatchdogJob, folder: string): Promise<void> => {
  const has = (name: string): boolean => existsSync(join(folder, name));
  let deadline = Number.POSITIVE_INFINITY;
  while (performance.now() < deadline) {
    if (!existsSync(folder) || has(guardFile.decided) || has(guardFile.broken)) return;
    const isOver = !isAlive(runtime);
    if (deadline === Number.POSITIVE_INFINITY && has(guardFile.ended))
      deadline = performance.now() + seconds * 1000;
    else if (isOver && !has(guardFile.ended)) return;
    await new Promise(resolve => setTimeout(resolve, pause));
  }
};
