import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import type { Config } from '../../config/config.ts';
import type { Request } from '../../config/request.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { isUnwritable } from '../../trust/spare-cache.ts';

/** The file that a run keeps for the next one of its host. */
export type KeptGrains = {
  readonly grains: PlainDict;
  /** Calls that read grains which are never known ahead, so speculation is useless for them. */
  readonly useless?: readonly string[];
  /** Calls of which neither templates nor states have read a grain that only the host knows. */
  readonly unread?: readonly string[];
  /** When they were collected, in milliseconds since 1970. */
  readonly collected?: number;
};

const mostCalls = 50;

/** For this many milliseconds, runs that read no grains do without them. */
const longestUnread = 24 * 60 * 60 * 1000;

/** Returns the grains of the host's last run, if speculating on them can help. */
export const lastGrains = (
  request: Request,
  kept: KeptGrains | undefined,
): PlainDict | undefined => (kept?.useless?.includes(callKey(request)) ? undefined : kept?.grains);

/** Whether the run read no grains of the host when it was made before, not long ago. */
export const wereUnread = (request: Request, { unread, collected = 0 }: KeptGrains): boolean => {
  const age = Date.now() - collected;
  return age >= 0 && age < longestUnread && unread?.includes(callKey(request)) === true;
};

/** Whether a run that learns no grains loses nothing: those of an earlier run are kept, or none ever. */
export const isKept = (config: Config, host: Host): boolean =>
  !config.minion_data_cache || existsSync(fileOf(config, host));

/** Returns the grains of a host's last run. */
export const cachedGrains = (config: Config, host: Host): PlainDict | undefined =>
  readKept(config, host)?.grains;

/**
 * Keeps a host's grains for its next run, unless `minion_data_cache` is off. A folder that is not
 * writable, or a damaged cache, only costs time.
 *
 * @param found the grains, and how the run used them
 */
export const keepGrains = async (
  request: Request,
  host: Host,
  found: FoundGrains,
): Promise<void> => {
  if (!request.config.minion_data_cache) return;
  try {
    await keep(request, host, found);
  } catch (error) {
    isUnwritable(request.config.cachedir, error);
  }
};

/** The grains of a host, and how a run used them. */
type FoundGrains = {
  readonly grains: PlainDict;
  /** The run was speculative and its cached grains were not sufficient. */
  readonly isWrong: boolean;
  /** It has read none of them. */
  readonly isUnread: boolean;
  /** The cached file, if the run has read it. */
  readonly read: KeptGrains | undefined;
};

const keep = async (
  request: Request,
  host: Host,
  { grains, isWrong, isUnread, read }: FoundGrains,
): Promise<void> => {
  const { config } = request;
  // `pid` differs on every run, so it is left out of the cached grains.
  const { pid: _, ...lasting } = grains;
  const before = read ?? readKept(config, host);
  const isSame = JSON.stringify(before?.grains) === JSON.stringify(lasting);
  const key = callKey(request);
  const failed = isSame ? before?.useless : undefined;
  const useless = isSame && isWrong ? withCall(failed, key, true) : failed;
  const unread = withCall(before?.unread, key, isUnread);
  const collected = Date.now();
  const isRecent = Math.abs(collected - (before?.collected ?? 0)) < longestUnread / 2;
  const isKnown = isSame && useless === before?.useless && unread === before?.unread;
  if (isKnown && (isRecent || !unread)) return;
  const kept: KeptGrains = {
    grains: lasting,
    ...(useless ? { useless } : {}),
    ...(unread ? { unread } : {}),
    collected,
  };
  privateDir(join(privateDir(config.cachedir), 'grains'));
  await writePrivate(fileOf(config, host), JSON.stringify(kept));
};

/** Returns a list of calls with or without one; undefined where none is left. */
const withCall = (
  calls: readonly string[] | undefined,
  key: string,
  isIn: boolean,
): readonly string[] | undefined => {
  if ((calls?.includes(key) ?? false) === isIn) return calls;
  const changed = isIn ? [...(calls ?? []), key] : (calls ?? []).filter(call => call !== key);
  return changed.length > 0 ? changed.slice(-mostCalls) : undefined;
};

/** Reads what a host's last run kept. */
export const readKept = (config: Config, host: Host): KeptGrains | undefined => {
  if (!config.minion_data_cache) return undefined;
  try {
    const kept = JSON.parse(readFileSync(fileOf(config, host), 'utf8')) as KeptGrains;
    const isWhole =
      isPlainDict(kept.grains) &&
      Array.isArray(kept.useless ?? []) &&
      Array.isArray(kept.unread ?? []);
    return isWhole ? kept : undefined;
  } catch {
    return undefined;
  }
};

const hash = (value: Plain): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

/** All hosts of a run have the same request. */
const callKeys = new WeakMap<Request, string>();

const callKey = (request: Request): string => {
  const { fun, args, kwargs } = request;
  const key = callKeys.get(request) ?? hash([fun, args.map(toPlain), toPlainDict(kwargs)]);
  callKeys.set(request, key);
  return key;
};

const fileOf = ({ cachedir }: Config, { id, host, port, user }: Host): string =>
  join(cachedir, 'grains', `${hash([id, host, port, user])}.json`);
