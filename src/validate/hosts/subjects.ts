import { readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { cachedGrains } from '../../control/host/last-grains.ts';
import { type Data, isDict, toPlain, toPlainDict } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import { loadYaml } from '../../yaml/load.ts';
import { defaultProfile, profileGrains } from './grain-profiles.ts';
import type { RecordedResult } from './offline-peer.ts';

/** The source of the hosts' grains. */
export type GrainsChoice =
  | { readonly kind: 'profiles'; readonly names: readonly string[] }
  | { readonly kind: 'file'; readonly path: string }
  /** The grains of the last runs; hosts without any are left out. */
  | { readonly kind: 'cached' }
  /** The grains of the last runs, and a usual machine for other hosts. */
  | { readonly kind: 'any' };

/** A host with grains that it is checked with. */
export type CheckSubject = {
  readonly host: Host;
  readonly grains: PlainDict;
  /** Its name in findings: the ID, with the profile if it is checked with several. */
  readonly label: string;
  /** Equal for hosts that differ only by their names. */
  readonly profile?: string;
};

export type Subjects = {
  readonly subjects: readonly CheckSubject[];
  /** Hosts without known grains. */
  readonly unknown: readonly string[];
};

/**
 * The hosts to check with their grains.
 *
 * @throws TsaltError `usage-value` for an unknown profile or a file that has no grains
 */
export const subjectsOf = (
  hosts: readonly Host[],
  choice: GrainsChoice,
  config: Config,
): Subjects => {
  switch (choice.kind) {
    case 'profiles':
      return withProfiles(
        hosts,
        new Map(choice.names.map(name => [name, id => profileGrains(name, id)])),
      );
    case 'file':
      return fromFile(hosts, choice.path);
    default: {
      const known = hosts.map(host => ({ host, grains: cachedGrains(config, host) }));
      const unknown = known.filter(({ grains }) => grains === undefined);
      const isAny = choice.kind === 'any';
      const subjects = known.flatMap(({ host, grains }) => {
        const used = grains ?? (isAny ? profileGrains(defaultProfile, host.id) : undefined);
        if (used === undefined) return [];
        const subject = { host, grains: used, label: host.id };
        if (grains) return [subject];
        return [{ ...subject, profile: profileOf(defaultProfile, host) }];
      });
      return { subjects, unknown: unknown.map(({ host }) => host.id) };
    }
  }
};

const profileOf = (name: string, { grains = {}, minion_opts }: Host): string =>
  JSON.stringify([name, grains, minion_opts]);

type Profiles = ReadonlyMap<string, (id: string) => PlainDict>;

const withProfiles = (hosts: readonly Host[], profiles: Profiles): Subjects => ({
  subjects: hosts.flatMap(host =>
    [...profiles].map(([name, grains]) => ({
      host,
      grains: grains(host.id),
      profile: profileOf(name, host),
      label: profiles.size === 1 ? host.id : `${host.id} (${name})`,
    })),
  ),
  unknown: [],
});

/** Grains of one machine, or of several by name; names of hosts are for these hosts alone. */
const fromFile = (hosts: readonly Host[], path: string): Subjects => {
  const data = readDataFile(path, '--grains-from');
  if (!isDict(data) || data.size === 0)
    throw new TsaltError('usage-value', `${path} has no grains.`, {
      hint: "Write it by: tsalt-ssh '*' grains.items --out=json --static > FILE",
    });
  const sets = Object.entries(toPlainDict(data));
  const isOne = !sets.every(([, value]) => isPlainDict(value) && 'os' in value);
  if (isOne) {
    const grains = toPlainDict(data);
    const name = basename(path, extname(path));
    return withProfiles(hosts, new Map([[name, id => ({ ...grains, id })]]));
  }
  const ids = new Set(hosts.map(({ id }) => id));
  const byId = new Map(sets.filter(([name]) => ids.has(name)));
  const others = sets.filter(([name]) => !ids.has(name));
  if (byId.size === 0)
    return withProfiles(
      hosts,
      new Map(others.map(([name, grains]) => [name, id => ({ ...(grains as PlainDict), id })])),
    );
  return {
    subjects: hosts.flatMap(host => {
      const grains = byId.get(host.id);
      return isPlainDict(grains) ? [{ host, grains, label: host.id }] : [];
    }),
    unknown: hosts.filter(({ id }) => !byId.has(id)).map(({ id }) => id),
  };
};

/** Makes a host for trees without a roster. */
export const anyHost = (id: string): Host => ({
  id,
  host: id,
  user: 'root',
  port: 22,
  timeout: 30,
  minion_opts: {},
  grains: {},
});

/**
 * Reads the results of calls for `--answers`.
 *
 * @throws TsaltError `usage-value` where it is not a list of calls
 */
export const readRecordedResults = (path: string): RecordedResult[] => {
  const list = readDataFile(path, '--answers');
  const plain = Array.isArray(list) ? list.map(toPlain) : [];
  const wrong = plain.findIndex(
    one =>
      !isPlainDict(one) ||
      typeof one.fun !== 'string' ||
      !('value' in one) ||
      !Array.isArray(one.args ?? []) ||
      !isPlainDict(one.kwargs ?? {}),
  );
  if (!Array.isArray(list) || wrong >= 0)
    throw new TsaltError(
      'usage-value',
      wrong >= 0
        ? `Entry ${wrong + 1} of ${path} is not a call with its result.`
        : `${path} is not a list of calls with their results.`,
      { hint: 'Each is {fun: cmd.run, args: [uname -r], value: …}; without args it is for all.' },
    );
  return plain as unknown as RecordedResult[];
};

const readDataFile = (path: string, option: string): Data => {
  const file = resolve(path);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new TsaltError('usage-value', `${option}: ${messageOf(cause)}.`, { cause });
  }
  return loadYaml(text, { file: path });
};
