import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { type HostOutcome, hostOutcomes } from '../../output/host-outcome.ts';
import { isPlainDict } from '../../protocol/plain.ts';

/** One run: the call, and the outcome of each host. It contains no values of hosts. */
export type RunRecord = {
  readonly jid: string;
  /** The folder of the project. */
  readonly dir: string;
  /** ISO times. */
  readonly began: string;
  readonly ended: string;
  readonly fun: string;
  /** The command line, without values that may be secrets. */
  readonly command: string;
  /** Options and arguments for a rerun; absent if an argument may be a secret. */
  readonly call?: { readonly options: object; readonly words: readonly string[] };
  /** A run that applied a plan is not repeated; of an orchestration the unfinished steps are. */
  readonly kind: 'call' | 'plan' | 'orchestration';
  /** Whether nothing was changed. */
  readonly isTest: boolean;
  readonly exitCode: number;
  readonly hosts: Readonly<Record<string, HostOutcome>>;
};

/** How many runs are kept. */
const mostKept = 100;

const folderOf = (cachedir: string): string => join(cachedir, 'runs');

/** Writes the record of a run, and removes the oldest ones. */
export const writeRunRecord = async (cachedir: string, record: RunRecord): Promise<void> => {
  const dir = privateDir(join(privateDir(cachedir), 'runs'));
  await writePrivate(join(dir, `${record.jid}.json`), JSON.stringify(record));
  for (const jid of jidsIn(cachedir).slice(mostKept))
    rmSync(join(dir, `${jid}.json`), { force: true });
};

/** Returns the records of a project's runs, the newest first. */
export const runRecords = (cachedir: string, dir: string): RunRecord[] =>
  jidsIn(cachedir)
    .map(jid => readRunRecord(cachedir, jid))
    .filter(record => record !== undefined)
    .filter(record => record.dir === dir);

/** Reads the record of a run; undefined if it is missing or damaged. */
export const readRunRecord = (cachedir: string, jid: string): RunRecord | undefined => {
  if (!/^\d{20}$/.test(jid)) return undefined;
  try {
    const read: unknown = JSON.parse(readFileSync(join(folderOf(cachedir), `${jid}.json`), 'utf8'));
    return isRecord(read) ? read : undefined;
  } catch {
    return undefined;
  }
};

const isRecord = (read: unknown): read is RunRecord =>
  isPlainDict(read) &&
  ['jid', 'dir', 'began', 'ended', 'fun', 'command', 'kind'].every(
    key => typeof read[key] === 'string',
  ) &&
  isPlainDict(read.hosts) &&
  Object.values(read.hosts).every(outcome =>
    (hostOutcomes as readonly unknown[]).includes(outcome),
  );

const jidsIn = (cachedir: string): string[] => {
  try {
    return readdirSync(folderOf(cachedir))
      .filter(name => /^\d{20}\.json$/.test(name))
      .map(name => name.slice(0, 20))
      .sort()
      .reverse();
  } catch {
    return [];
  }
};
