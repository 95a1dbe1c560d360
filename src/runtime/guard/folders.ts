import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Holder, isAlive } from '../../modules/lib/run-lock.ts';
import { TsaltError } from '../../protocol/error.ts';
import { type GuardAnswer, type GuardParams, readGuardAnswer } from '../../protocol/guard.ts';
import { isPlainDict } from '../../protocol/plain.ts';

// A guarded run and its watchdog speak by files of one folder in the workspace.

/** Names of these files. */
export const guardFile = {
  job: 'job.json',
  /** The watchdog is at work: who it is. */
  ready: 'ready',
  /** The last state has ended. */
  ended: 'ended',
  /** The run is not to be confirmed: do not wait. */
  broken: 'broken',
  /** Whoever makes it first decides. */
  decided: 'decided',
  /** What was put back. */
  outcome: 'outcome.json',
} as const;

type Process = { readonly pid: number; readonly begun: string };

/** What the run tells its watchdog. */
export type WatchdogJob = GuardParams & { readonly runtime: Process };

const prefix = 'guard-';

/** @throws TsaltError `guard-unknown` for what is no name of a guarded run */
export const folderOf = (dir: string, id: string): string => {
  if (/^[0-9a-f]{16}$/.test(id)) return join(dir, `${prefix}${id}`);
  throw new TsaltError('guard-unknown', 'That is no name of a guarded run.', { kind: 'host' });
};

const foldersIn = (dir: string): string[] => {
  try {
    return readdirSync(dir)
      .filter(name => name.startsWith(prefix))
      .map(name => join(dir, name));
  } catch {
    return [];
  }
};

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
export const readOutcome = (folder: string): GuardAnswer | undefined =>
  readGuardAnswer(readJson(join(folder, guardFile.outcome)));

/** The watchdog's process, while it is at work. */
export const readWatchdog = (folder: string): Process | undefined => {
  const said = readJson(join(folder, guardFile.ready));
  if (!isPlainDict(said) || typeof said.pid !== 'number' || typeof said.begun !== 'string')
    return undefined;
  const found = { pid: said.pid, begun: said.begun };
  return isAlive(found) ? found : undefined;
};

const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** A guarded run that waits to be confirmed holds the host as one that still goes on. */
export const guardHolder = (dir: string): Holder | undefined => {
  for (const folder of foldersIn(dir)) {
    const watchdog = readWatchdog(folder);
    if (!watchdog || readOutcome(folder)) continue;
    const since = statSync(folder).birthtime.toISOString();
    return { ...watchdog, fun: 'state.apply --guard', since };
  }
  return undefined;
};

/** What became of guarded runs whose control node did not come back: told once. */
export const takeGuardNews = (dir: string, say: (message: string) => void): void => {
  for (const folder of foldersIn(dir)) {
    if (readWatchdog(folder)) continue;
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
