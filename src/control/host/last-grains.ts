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
};

const mostUseless = 50;

/** Returns the grains of the host's last run, if speculating on them can help. */
export const lastGrains = (
  request: Request,
  kept: KeptGrains | undefined,
): PlainDict | undefined => (kept?.useless?.includes(callKey(request)) ? undefined : kept?.grains);

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
 * @param wrong the run was speculative and its cached grains were not sufficient
 * @param read what was kept when the run began, if it was read then
 */
export const keepGrains = async (
  request: Request,
  host: Host,
  grains: PlainDict,
  wrong: boolean,
  read: KeptGrains | undefined,
): Promise<void> => {
  if (!request.config.minion_data_cache) return;
  try {
    await keep(request, host, grains, wrong, read);
  } catch (error) {
    isUnwritable(request.config.cachedir, error);
  }
};

const keep = async (
  request: Request,
  host: Host,
  grains: PlainDict,
  wrong: boolean,
  read: KeptGrains | undefined,
): Promise<void> => {
  const { config } = request;
  // `pid` differs on every run, so it is left out of the cached grains.
  const { pid: _, ...lasting } = grains;
  const before = read ?? readKept(config, host);
  const isSame = JSON.stringify(before?.grains) === JSON.stringify(lasting);
  if (isSame && !wrong) return;
  const useless = isSame ? [...(before?.useless ?? []), callKey(request)].slice(-mostUseless) : [];
  const kept: KeptGrains = { grains: lasting, ...(useless.length > 0 ? { useless } : {}) };
  privateDir(join(privateDir(config.cachedir), 'grains'));
  await writePrivate(fileOf(config, host), JSON.stringify(kept));
};

/** Reads what a host's last run kept. */
export const readKept = (config: Config, host: Host): KeptGrains | undefined => {
  if (!config.minion_data_cache) return undefined;
  try {
    const kept = JSON.parse(readFileSync(fileOf(config, host), 'utf8')) as KeptGrains;
    const isWhole = isPlainDict(kept.grains) && Array.isArray(kept.useless ?? []);
    return isWhole ? kept : undefined;
  } catch {
    return undefined;
  }
};

const hash = (value: Plain): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

const callKey = ({ fun, args, kwargs }: Request): string =>
  hash([fun, args.map(toPlain), toPlainDict(kwargs)]);

const fileOf = ({ cachedir }: Config, { id, host, port, user }: Host): string =>
  join(cachedir, 'grains', `${hash([id, host, port, user])}.json`);
