import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { TsaltError } from '../../protocol/error.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { StepReturns } from '../../protocol/orchestration.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { StateResult, StateResults } from '../../protocol/result.ts';

/** The steps of an orchestration that have finished. */
export type OrchestrationRecord = {
  /** Their returns, by ID. */
  readonly returns: ReadonlyMap<string, StepReturns>;
  /** Returns the results of those chunks that have finished and are unchanged. */
  readonly finished: (chunks: readonly LowChunk[]) => StateResults;
  /** As `finished`; what ends from now on is recorded. `all` are those of which `chunks` are a part. */
  readonly begin: (chunks: readonly LowChunk[], all: readonly LowChunk[]) => StateResults;
  /** A state has ended. */
  readonly ended: (tag: string, result: StateResult, returns: StepReturns | undefined) => void;
  /** The orchestration has ended. @returns whether it can be resumed */
  readonly close: (succeeded: boolean) => boolean;
};

type Entry = {
  readonly chunk: string;
  readonly result: StateResult;
  readonly returns?: StepReturns;
};

/** The number of records that are kept. */
const most = 20;

const isJid = /^\d{20}$/;

/**
 * Opens the record of an orchestration: a private file in the cache folder. It contains the results
 * of finished steps, which `orch.result` returns after `--resume`, and is removed after a success.
 *
 * @param resumed the job id of the orchestration to resume
 * @throws TsaltError `orchestrate-resume` if there is no such record
 */
export const openRecord = (
  cachedir: string,
  jid: string,
  resumed: string | undefined,
  warn: (message: string) => void,
): OrchestrationRecord => {
  const dir = join(cachedir, 'orchestrations');
  const entries = resumed === undefined ? new Map<string, Entry>() : readEntries(dir, resumed);
  const file = join(dir, `${jid}.json`);
  let hashes = new Map<string, string>();
  let isWritten = false;
  const finished = (chunks: readonly LowChunk[]): StateResults =>
    Object.fromEntries(
      chunks.flatMap(chunk => {
        const entry = entries.get(lowTag(chunk));
        return entry?.chunk === hashOf(chunk) ? [[lowTag(chunk), entry.result]] : [];
      }),
    );
  return {
    returns: new Map(
      [...entries.values()].flatMap(({ result, returns }) =>
        returns ? [[String(result.__id__), returns]] : [],
      ),
    ),
    finished,
    begin: (chunks, all) => {
      const kept = finished(all);
      for (const tag of entries.keys()) if (!Object.hasOwn(kept, tag)) entries.delete(tag);
      hashes = new Map(all.map(chunk => [lowTag(chunk), hashOf(chunk)]));
      return finished(chunks);
    },
    ended: (tag, result, returns) => {
      const chunk = hashes.get(tag);
      // Hidden results are not written either: such a step runs again.
      if (result.result !== true || result.no_log === true || chunk === undefined) return;
      entries.set(tag, { chunk, result, ...(returns ? { returns } : {}) });
      try {
        write(dir, file, entries);
        isWritten = true;
      } catch (error) {
        warn(`The finished steps could not be recorded in ${file}: ${String(error)}`);
      }
    },
    close: succeeded => {
      if (succeeded) for (const name of [jid, resumed ?? jid]) remove(join(dir, `${name}.json`));
      return !succeeded && isWritten;
    },
  };
};

/** Whether an orchestration left a record of finished steps. */
export const canResume = (cachedir: string, jid: string): boolean =>
  isJid.test(jid) && existsSync(join(cachedir, 'orchestrations', `${jid}.json`));

/** A record that is never written: in test mode nothing finishes. */
export const noRecord: OrchestrationRecord = {
  returns: new Map(),
  finished: () => ({}),
  begin: () => ({}),
  ended: () => undefined,
  close: () => false,
};

const hashOf = (chunk: LowChunk): string => {
  const { order: _, ...rest } = chunk;
  return createHash('sha256')
    .update(JSON.stringify(sorted(rest as PlainDict)))
    .digest('hex');
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainDict(value)) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
};

const readEntries = (dir: string, jid: string): Map<string, Entry> => {
  if (!isJid.test(jid)) throw noSuch(jid, 'A job id has 20 digits.');
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(join(dir, `${jid}.json`), 'utf8'));
  } catch {
    throw noSuch(jid, hintOf(dir));
  }
  const entries = isPlainDict(data) && isPlainDict(data.entries) ? data.entries : {};
  return new Map(Object.entries(entries) as unknown as [string, Entry][]);
};

const noSuch = (jid: string, hint: string): TsaltError =>
  new TsaltError('orchestrate-resume', `No orchestration '${jid}' can be resumed.`, { hint });

const hintOf = (dir: string): string => {
  const jids = names(dir).map(name => name.slice(0, 20));
  return jids.length === 0
    ? 'Only orchestrations that did not finish are kept, on the machine where they ran.'
    : `Those that did not finish: ${jids.slice(-5).join(', ')}.`;
};

const names = (dir: string): string[] => {
  try {
    return readdirSync(dir)
      .filter(name => /^\d{20}\.json$/.test(name))
      .sort();
  } catch {
    return [];
  }
};

const write = (dir: string, file: string, entries: ReadonlyMap<string, Entry>): void => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  rmSync(temporary, { force: true });
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(handle, JSON.stringify({ version: 1, entries: Object.fromEntries(entries) }));
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
  for (const old of names(dir).slice(0, -most)) remove(join(dir, old));
};

const remove = (file: string): void => rmSync(file, { force: true });
