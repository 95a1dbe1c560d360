import { statSync } from 'node:fs';
import { closestMatch } from '../data/closest-match.ts';
import { hideSecrets } from '../data/hide-secrets.ts';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { checkDefaults, checkEntry, checkHost } from './check.ts';
import { isSecretKey } from './keys.ts';
import type { BackendHosts, CheckedHost, Entry, Layer } from './roster.ts';

export type RosterRequest = {
  /** Sources in order; an empty backend is detected from the source. */
  readonly sources: readonly { readonly backend: string; readonly source: string }[];
  /** Hosts that a program passes to the library, instead of those of a file. */
  readonly entries?: readonly Entry[];
  readonly defaults: Dict;
  /** The file with the defaults, for messages. */
  readonly defaultsFile: string;
  /** Further defaults, which take precedence: those of the command line, by its arguments. */
  readonly given?: readonly Layer[];
  /** Renders template text to data. */
  readonly render: RenderRoster;
  /** Replaces `sdb://` addresses by their values. */
  readonly resolve: (data: Data) => Promise<Data>;
  /** For ids without a dot from the backend `dir`. */
  readonly domain?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the hosts even if all entries are wrong. */
  readonly keepFaults?: boolean;
  /** For the backend `scan`: ports to try in this order, and seconds that a host has to answer. */
  readonly scan?: { readonly ports?: readonly number[]; readonly seconds?: number };
};

export type RenderRoster = (text: string, file: string) => Promise<Data>;

export type Roster = {
  readonly hosts: readonly CheckedHost[];
  /** Groups of the inventories, as `nodegroups` expressions. */
  readonly groups: Readonly<Record<string, string>>;
};

type Backend = (source: string, request: RosterRequest) => Promise<BackendHosts>;

const backends: Readonly<Record<string, () => Promise<Backend>>> = {
  flat: async () => (await import('./backends/flat.ts')).flat,
  dir: async () => (await import('./backends/dir.ts')).dir,
  ansible: async () => (await import('./backends/ansible.ts')).ansible,
  sshconfig: async () => (await import('./backends/sshconfig.ts')).sshconfig,
  sshknownhosts: async () => (await import('./backends/known-hosts.ts')).knownHosts,
  terraform: async () => (await import('./backends/terraform.ts')).terraform,
  script: async () => (await import('./backends/script.ts')).script,
  module: async () => (await import('./backends/module.ts')).module,
  scan: async () => (await import('./backends/scan.ts')).scan,
};

/**
 * Reads all rosters and merges them by id, in order of first appearance.
 *
 * @throws TsaltError `roster-…` with the position if a roster cannot be read or no entry is valid
 */
export const mergeRosters = async (request: RosterRequest): Promise<Roster> => {
  const defaults = {
    dict: await resolveDict(request.defaults, request.resolve),
    file: request.defaultsFile,
  };
  checkDefaults(defaults);
  const layers = [...(request.given ?? []), defaults];
  // A wrong default of the command line or the configuration is wrong for all hosts.
  checkHost([{ id: 'any', value: new Map(), file: defaults.file }], layers);
  const entries = new Map<string, Entry[]>();
  const groups = new Map<string, Set<string>>();
  const add = (entry: Entry): void => {
    const known = entries.get(entry.id);
    if (known) known.push(entry);
    else entries.set(entry.id, [entry]);
  };
  for (const entry of await resolveAll(request.entries ?? [], request.resolve)) add(entry);
  for (const { backend, source } of request.sources) {
    if (backend !== 'scan') checkTrusted(source, 'The roster');
    const read = await pick(backend, source);
    const found = await read(source, request).catch(error => {
      throw hideSecrets(error);
    });
    for (const entry of await resolveAll(found.entries, request.resolve)) add(entry);
    for (const [name, ids] of found.groups ?? [])
      groups.set(name, new Set([...(groups.get(name) ?? []), ...ids]));
  }
  const hosts = [...entries.values()].map(list => checkEntry(list, layers));
  // No host is left to run.
  const [first] = hosts;
  if (!request.keepFaults && first?.fault !== undefined && hosts.every(({ fault }) => fault))
    throw first.fault;
  return {
    hosts,
    groups: Object.fromEntries([...groups].map(([name, ids]) => [name, `L@${[...ids].join(',')}`])),
  };
};

/**
 * Does not resolve `sdb://` addresses of external origin: they must not choose which secret a host
 * receives.
 */
const resolveAll = (
  entries: readonly Entry[],
  resolve: RosterRequest['resolve'],
): Promise<Entry[]> =>
  Promise.all(
    entries.map(async entry => {
      const { value, outside } = entry;
      if (outside) return entry;
      const resolved = isDict(value) ? await resolveDict(value, resolve) : await resolve(value);
      return { ...entry, value: resolved };
    }),
  );

/** Leaves passwords for `SecretStore`: they are fetched only for hosts that run. */
const resolveDict = async (dict: Dict, resolve: RosterRequest['resolve']): Promise<Dict> => {
  for (const [key, value] of dict) {
    if (isSecretKey(key)) continue;
    const resolved = await resolve(value);
    if (resolved !== value) dict.set(key, resolved);
  }
  return dict;
};

const pick = async (name: string, source: string): Promise<Backend> => {
  const backend = name === '' ? backendOf(source) : name;
  const load = Object.hasOwn(backends, backend) ? backends[backend] : undefined;
  if (load !== undefined) return load();
  const meant = closestMatch(backend, Object.keys(backends));
  throw new TsaltError('roster-backend', `There is no roster backend '${backend}'.`, {
    hint:
      meant === undefined
        ? `The backends are ${Object.keys(backends).join(', ')}.`
        : `Did you mean '${meant}'?`,
  });
};

/** Detects the backend of a source that is only a path. */
export const backendOf = (source: string): string => {
  const stat = statSync(source, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return 'dir';
  if (/\.(ts|mts|js|mjs)$/.test(source)) return 'module';
  if (/\.tfstate$/.test(source)) return 'terraform';
  if (/\.(ini|cfg)$/.test(source)) return 'ansible';
  return stat !== undefined && (stat.mode & 0o111) !== 0 ? 'script' : 'flat';
};

type Defaults = Pick<RosterRequest, 'defaults' | 'defaultsFile' | 'given'>;

/** One host that no roster knows: `user@host:port` on the command line. */
export const adHocHost = (
  id: string,
  keys: Dict,
  { defaults, defaultsFile: file, given = [] }: Defaults,
): CheckedHost => checkHost([{ id, value: keys, file }], [...given, { dict: defaults, file }]);
