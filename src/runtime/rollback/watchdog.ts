import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, takeLock } from '../../modules/_shared/commands/run-lock.ts';
import { messageOf } from '../../protocol/error.ts';
import { monotonic } from '../../protocol/monotonic.ts';
import { decide, putFile, rollbackFile, type WatchdogJob } from './folders.ts';
import { restoreAll, snapshotAll } from './snapshot.ts';

/** Milliseconds between two checks of the folder. */
const pause = 200;

/**
 * Runs in a separate process that outlives the run: takes the snapshot, and rolls back if the run
 * is interrupted or not confirmed in time. Ends the process.
 */
export const runWatchdog = async (folder: string): Promise<void> => {
  process.on('SIGHUP', () => undefined);
  try {
    const job = readJob(folder);
    const kept = await snapshotAll(job);
    if (!existsSync(folder)) throw new Error('The run was given up before its watchdog was ready.');
    // The lock shows the run that this process has started.
    if ('pid' in takeLock(folder, 'state.apply --guard'))
      throw new Error('The run has another watchdog.');
    await runEnds(job, folder);
    if (isConfirmed(folder)) rmSync(folder, { recursive: true, force: true });
    else putFile(join(folder, rollbackFile.outcome), JSON.stringify(await restoreAll(kept)));
    process.exit(0);
  } catch (error) {
    // The run reports it. The folder is gone if the run was given up.
    if (existsSync(folder)) putFile(join(folder, rollbackFile.failed), messageOf(error));
    process.exit(1);
  }
};

/** If the folder was removed, nothing was confirmed. */
const isConfirmed = (folder: string): boolean => existsSync(folder) && !decide(folder);

const readJob = (folder: string): WatchdogJob =>
  JSON.parse(readFileSync(join(folder, rollbackFile.job), 'utf8')) as WatchdogJob;

/** Resolves when the run was confirmed or interrupted, or its time is up. */
const runEnds = async ({ runtime, seconds }: WatchdogJob, folder: string): Promise<void> => {
  const has = (name: string): boolean => existsSync(join(folder, name));
  let deadline = Number.POSITIVE_INFINITY;
  while (monotonic() < deadline) {
    if (!existsSync(folder) || has(rollbackFile.decided) || has(rollbackFile.broken)) return;
    const isOver = !isAlive(runtime);
    if (deadline === Number.POSITIVE_INFINITY && has(rollbackFile.ended))
      deadline = monotonic() + seconds * 1000;
    else if (isOver && !has(rollbackFile.ended)) return;
    await new Promise(resolve => setTimeout(resolve, pause));
  }
};
