import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../bundle/private-dir.ts';
import { getOwn, isPlainDict, setOwn } from '../protocol/plain.ts';

/** The drift of a host: when it was found first, by the hash of the state's tag. */
export type KnownDrift = Readonly<Record<string, string>>;

type KnownHost = {
  /** The last audit that compared this host's states, in ISO 8601. */
  readonly at: string;
  readonly drift: KnownDrift;
};

/**
 * The result of the last audits of a project, host by host. It has no names and values of states:
 * both may be secrets.
 */
export type AuditRecord = {
  readonly version: 1;
  /** The begin of the last audit. */
  readonly at: string;
  readonly hosts: Readonly<Record<string, KnownHost>>;
};

/** Days after which a host that was not looked at again is forgotten. */
const longestKept = 366;

/** A name for a state of a host that does not show the name of the state. */
export const drifted = (tag: string): string =>
  createHash('sha256').update(tag).digest('hex').slice(0, 32);

/** The kept results of one kind of audit: the same states of the same project. */
export class AuditHistory {
  readonly #cachedir: string;
  readonly #name: string;

  /** @param call the words that choose the states, without the target */
  constructor(cachedir: string, dir: string, call: readonly string[]) {
    this.#cachedir = cachedir;
    const key = createHash('sha256').update(JSON.stringify([dir, ...call]));
    this.#name = `${key.digest('hex').slice(0, 32)}.json`;
  }

  /** Reads the last result; undefined where there is none, or none that makes sense. */
  read(): AuditRecord | undefined {
    try {
      const text = readFileSync(join(this.#cachedir, 'audits', this.#name), 'utf8');
      const read: unknown = JSON.parse(text);
      return isRecord(read) ? read : undefined;
    } catch {
      return undefined;
    }
  }

  /** Writes the hosts of an audit beside those that it did not look at. */
  async write(at: string, hosts: ReadonlyMap<string, KnownDrift>): Promise<void> {
    const all: Record<string, KnownHost> = {};
    const oldest = Date.parse(at) - longestKept * 86_400_000;
    for (const [id, known] of Object.entries(this.read()?.hosts ?? {}))
      if (Date.parse(known.at) > oldest) setOwn(all, id, known);
    for (const [id, drift] of hosts) setOwn(all, id, { at, drift });
    const record: AuditRecord = { version: 1, at, hosts: all };
    const folder = privateDir(join(privateDir(this.#cachedir), 'audits'));
    await writePrivate(join(folder, this.#name), JSON.stringify(record));
  }
}

/** The kept drift of a host; undefined where no audit has looked at it. */
export const knownDrift = (record: AuditRecord | undefined, id: string): KnownDrift | undefined =>
  record && getOwn(record.hosts, id)?.drift;

const isRecord = (read: unknown): read is AuditRecord =>
  isPlainDict(read) &&
  read.version === 1 &&
  isTime(read.at) &&
  isPlainDict(read.hosts) &&
  Object.values(read.hosts).every(
    host =>
      isPlainDict(host) &&
      isTime(host.at) &&
      isPlainDict(host.drift) &&
      Object.values(host.drift).every(isTime),
  );

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value));
