import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockHolder, lockHolder } from '../../modules/_shared/commands/run-lock.ts';
import { readNames } from '../../modules/_shared/files/read-file.ts';
import { TsaltError } from '../../protocol/error.ts';
import {
  type RollbackParams,
  type RollbackResult,
  readRollbackResult,
} from '../../protocol/rollback.ts';

// A guarded run and its watchdog communicate through files in one folder of the workspace.

/** Names of these files. */
export const rollbackFile = {
  job: 'job.json',
  /** The last state has ended. */
  ended: 'ended',
  /** The run will not be confirmed: roll back at once. */
  broken: 'broken',
  /** Why the watchdog could not start, or ended. */
  failed: 'failed',
  /** The process that creates this file decides. */
  decided: 'decided',
  /** The result of the rollback. */
  outcome: 'outcome.json',
} as const;

/** The parameters that the run passes to its watchdog. */
export type WatchdogJob = RollbackParams & { readonly runtime: Pick<LockHolder, 'pid' | 'begun'> };

const prefix = 'guard-';

/** @throws TsaltError `guard-unknown` for an invalid name of a guarded run */
export const folderOf = (dir: string, id: string): string => {
  if (/^[0-9a-f]{16}$/.test(id)) return join(dir, `${prefix}${id}`);
  throw new TsaltError('guard-unknown', 'That is not the name of a guarded run.', { kind: 'host' });
};

const foldersIn = (dir: string): string[] =>
  readNames(dir)
    .filter(name => name.startsWith(prefix))
    .map(name => join(dir, name));

/** Writes a file atomically. */
export const putFile = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

/** Decides between confirming and rolling back. @returns false if that was already decided */
export const decide = (folder: string): boolean => {
  try {
    closeSync(openSync(join(folder, rollbackFile.decided), 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** Reads the outcome of a rollback; undefined before it has ended. */
export const readOutcome = (folder: string): RollbackResult | undefined => {
  try {
    return readRollbackResult(JSON.parse(readFileSync(join(folder, rollbackFile.outcome), 'utf8')));
  } catch {
    return undefined;
  }
};

/** A guarded run that waits for its confirmation holds the host like one that is still running. */
export const rollbackHolder = (dir: string): LockHolder | undefined => {
  for (const folder of foldersIn(dir)) {
    const watchdog = lockHolder(folder);
    if (watchdog && !readOutcome(folder)) return watchdog;
  }
  return undefined;
};

/** Reports, once, the outcome of guarded runs whose control node did not come back. */
export const takeRollbackNews = (dir: string, say: (message: string) => void): void => {
  for (const folder of foldersIn(dir)) {
    if (lockHolder(folder)) continue;
    const outcome = readOutcome(folder);
    rmSync(folder, { recursive: true, force: true });
    say(
      outcome
        ? `An earlier guarded run was not confirmed: ${showRestored(outcome)}.`
        : 'The watchdog of an earlier guarded run ended before the run was confirmed: its changes remain.',
    );
  }
};

const showRestored = ({ restored, problems }: RollbackResult): string =>
  [restored.length > 0 ? `restored ${restored.join(', ')}` : 'there was nothing to restore']
    .concat(problems)
    .join('; ');
