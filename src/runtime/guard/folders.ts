import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockHolder, lockHolder } from '../../modules/_shared/commands/run-lock.ts';
import { readNames } from '../../modules/_shared/files/read-file.ts';
import { TsaltError } from '../../protocol/error.ts';
import { type GuardAnswer, type GuardParams, readGuardAnswer } from '../../protocol/guard.ts';

// A guarded run and its watchdog speak by files of one folder in the workspace.

/** Names of these files. */
export const guardFile = {
  job: 'job.json',
  /** The last state has ended. */
  ended: 'ended',
  /** The run is not to be confirmed: do not wait. */
  broken: 'broken',
  /** Whoever makes it first decides. */
  decided: 'decided',
  /** What was put back. */
  outcome: 'outcome.json',
} as const;

/** What the run tells its watchdog. */
export type WatchdogJob = GuardParams & { readonly runtime: Pick<LockHolder, 'pid' | 'begun'> };

const prefix = 'guard-';

/** @throws TsaltError `guard-unknown` for what is no name of a guarded run */
export const folderOf = (dir: string, id: string): string => {
  if (/^[0-9a-f]{16}$/.test(id)) return join(dir, `${prefix}${id}`);
  throw new TsaltError('guard-unknown', 'That is no name of a guarded run.', { kind: 'host' });
};

const foldersIn = (dir: string): string[] =>
  readNames(dir)
    .filter(name => name.startsWith(prefix))
    .map(name => join(dir, name));

/** A file that appears whole. */
export const putFile = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

/** Decides whether the run is kept. @returns false when that was decided before */
export const decide = (folder: string): boolean => {
  try {
    closeSync(openSync(join(folder, guardFile.decided), 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** What the watchdog put back; undefined while it has not. */
export const readOutcome = (folder: string): GuardAnswer | undefined => {
  try {
    return readGuardAnswer(JSON.parse(readFileSync(join(folder, guardFile.outcome), 'utf8')));
  } catch {
    return undefined;
  }
};

/** A guarded run that waits to be confirmed holds the host as one that still goes on. */
export const guardHolder = (dir: string): LockHolder | undefined => {
  for (const folder of foldersIn(dir)) {
    const watchdog = lockHolder(folder);
    if (watchdog && !readOutcome(folder)) return watchdog;
  }
  return undefined;
};

/** What became of guarded runs whose control node did not come back: told once. */
export const takeGuardNews = (dir: string, say: (message: string) => void): void => {
  for (const folder of foldersIn(dir)) {
    if (lockHolder(folder)) continue;
    const outcome = readOutcome(folder);
    rmSync(folder, { recursive: true, force: true });
    say(
      outcome
        ? `An earlier guarded run was not confirmed: ${showRestored(outcome)}.`
        : 'The watchdog of an earlier guarded run ended before that was confirmed: what it changed was left.',
    );
  }
};

const showRestored = ({ restored, problems }: GuardAnswer): string =>
  [restored.length > 0 ? `put back ${restored.join(', ')}` : 'there was nothing to put back']
    .concat(problems)
    .join('; ');
