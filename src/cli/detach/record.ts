import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SentTsaltError } from '../../control/apart/jobs.ts';
import { encodeError } from '../../control/apart/sent-error.ts';
import {
  decodeMessage,
  encodeMessage,
  eventMessage,
  type SentEvent,
} from '../../control/workers/messages.ts';
import { hide, hideResultSecrets } from '../../output/result.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import { makeFolder } from '../../trust/make-folder.ts';
import type { OpenedOutput } from '../open-reports.ts';

/** A line of a detached run's record. */
export type RecordLine =
  | SentEvent
  | { readonly type: 'error'; readonly fault: SentTsaltError }
  | { readonly type: 'exit'; readonly code: number };

/**
 * The process of a detached run. `since` distinguishes it from a later process with the same
 * number.
 */
export type RunProcess = {
  readonly pid: number;
  readonly since: string;
  readonly target: string;
  readonly fun: string;
};

/** How many ended runs are kept. */
const mostKept = 20;

const folderOf = (cachedir: string): string => join(cachedir, 'detached');

/** The folder of a detached run. */
export const runFolder = (cachedir: string, jid: string): string => join(folderOf(cachedir), jid);

/** Lists the ids of detached runs, the newest first. */
export const detachedRuns = (cachedir: string): readonly string[] => {
  try {
    return readdirSync(folderOf(cachedir))
      .filter(name => /^\d{20}$/.test(name))
      .sort()
      .reverse();
  } catch {
    return [];
  }
};

/**
 * Makes the private folder of a new run, and removes old runs that have ended.
 *
 * @throws TsaltError `detach-jid` if there is one of this id
 */
export const newRunFolder = (cachedir: string, jid: string): string => {
  const runs = detachedRuns(cachedir);
  if (runs.includes(jid))
    throw new TsaltError('detach-jid', `There is a detached run with the job id ${jid} already.`);
  const ended = runs.filter(one => !isRunning(runFolder(cachedir, one)));
  for (const old of ended.slice(mostKept - 1))
    rmSync(runFolder(cachedir, old), { recursive: true, force: true });
  const folder = runFolder(cachedir, jid);
  makeFolder(folder, 0o700);
  return folder;
};

const processFile = (folder: string): string => join(folder, 'process.json');
export const recordFile = (folder: string): string => join(folder, 'events');
export const logFile = (folder: string): string => join(folder, 'log');

/** Returns the start time of a process as the kernel formats it; undefined if it has ended. */
const startOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

/** Records that this process carries out the run. */
export const noteProcess = (folder: string, target: string, fun: string): void => {
  const noted: RunProcess = { pid: process.pid, since: startOf(process.pid) ?? '', target, fun };
  writeFileSync(processFile(folder), JSON.stringify(noted), { mode: 0o600 });
};

/** Reads the process of a run; undefined before it has begun. */
export const processOf = (folder: string): RunProcess | undefined => {
  try {
    return JSON.parse(readFileSync(processFile(folder), 'utf8')) as RunProcess;
  } catch {
    return undefined;
  }
};

/** Whether the process of a run is at work. */
export const isRunning = (folder: string): boolean => {
  const noted = processOf(folder);
  return noted !== undefined && startOf(noted.pid) === noted.since;
};

/** An output that records events in the folder of the run, for `attach`. */
export const recorder = (
  folder: string,
  began: () => void,
): OpenedOutput & { readonly end: (code: number) => void } => {
  const file = openSync(recordFile(folder), 'ax', 0o600);
  const write = (line: RecordLine): void => {
    const bytes = Buffer.from(`${encodeMessage(line)}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  };
  return {
    emit: event => {
      write(eventMessage(withoutSecrets(event)));
      if (event.type === 'start') began();
    },
    pause: async () => () => undefined,
    finish: async () => undefined,
    fail: async error => write({ type: 'error', fault: encodeError(error) }),
    errors: async () => [],
    end: code => {
      write({ type: 'exit', code });
      closeSync(file);
    },
  };
};

/** Removes what the terminal would not show. */
const withoutSecrets = (event: RunEvent): RunEvent => {
  if (event.type === 'state' && event.result.no_log === true)
    return { ...event, result: hide(event.result) };
  if (event.type !== 'host' || event.result.states === undefined) return event;
  const states = hideResultSecrets(event.result.states);
  return { ...event, result: { ...event.result, states } };
};

/** Parses a line of a record. */
export const readRecordLine = (text: string): RecordLine => decodeMessage(text) as RecordLine;
