import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { closestMatch } from '../data/closest-match.ts';
import { hideSecrets } from '../data/hide-secrets.ts';
import { describeValue, keyLocation, readKey, type ValueKind } from '../data/values/read.ts';
import { type Data, type Dict, isDict, toData } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import { checkTrusted } from '../trust/check.ts';
import { loadYaml } from '../yaml/load.ts';
import type { Config, Roots, RosterSource } from './config.ts';
import { composed, hostDefaults, keyFiles, keys, otherSaltOptions, secretOptions } from './keys.ts';

type Env = Readonly<Record<string, string | undefined>>;

export type ConfigRequest = {
  /** `-c`: a folder with `tsalt.yaml`, or that file. Absent: the current folder. */
  readonly path?: string;
  /** The options themselves instead of a file; relative paths in them start at `cwd`. */
  readonly given?: Dict;
  /** The file that has these options, for messages. */
  readonly givenFile?: string;
  readonly cwd: string;
  readonly env: Env;
};

type Source = { readonly dir: string; readonly file?: string; readonly dict: Dict };

/**
 * Reads `tsalt.yaml` and adds the defaults. Without such a file, the folder's `roster.yaml` and
 * `states/` are used. Nothing is written.
 *
 * @throws TsaltError `config-…`, `yaml-…` naming file, line and key
 */
export const loadConfig = (request: ConfigRequest): Config => {
  const source = open(request);
  checkNames(source);
  const plain = readPlain(source);
  const cachedir = get(source, 'cachedir', composed.cachedir);
  const roots = {
    file_roots: rootsOf(source, 'file_roots') ?? { base: [join(source.dir, 'states')] },
    pillar_roots: rootsOf(source, 'pillar_roots') ?? { base: defaultPillar(source.dir) },
  };
  const config = {
    ...configDefaults,
    ...plain,
    ...roots,
    dir: source.dir,
    ...(source.file === undefined ? {} : { file: source.file }),
    rosters: rostersOf(source),
    roster_defaults: roster_defaults(source),
    nodegroups: nodegroupsOf(source),
    cachedir: cachedir === undefined ? defaultCache(request.env) : pathOf(source.dir, cachedir),
    ...filesOf(source),
    ext_pillar: extPillar(source),
    state_aggregate: aggregateOf(source),
    state_tabular: tabularOf(source),
  };
  return { ...config, options: optionsOf(source, config) };
};

/** Values of options that `tsalt.yaml` does not set. */
export const configDefaults = {
  renderer: 'liquid|yaml',
  renderer_whitelist: [],
  renderer_blacklist: [],
  ssh_max_procs: 25,
  ssh_minion_opts: {},
  ssh_wipe: false,
  ssh_run_pre_flight: false,
  state_top: 'top.sls',
  top_file_merging_strategy: 'merge',
  default_top: 'base',
  env_order: [],
  pillar_source_merging_strategy: 'smart',
  pillar_merge_lists: false,
  pillar_includes_override_sls: false,
  pillar_raise_on_missing: false,
  ext_pillar_first: false,
  failhard: false,
  strict: false,
  minion_data_cache: true,
  file_recv: false,
  file_recv_max_size: 100,
  mine_functions: {},
  mine_missing: 'error',
  mine_reach: 'run',
  mine_ttl: 86_400,
  mine_timeout: 60,
  workers: {},
  returners: {},
  state_auto_order: true,
  test: false,
  providers: {},
  state_output: 'full',
  state_verbose: true,
  state_output_diff: false,
  state_output_profile: true,
  state_output_pct: false,
  state_compress_ids: false,
  state_output_exclude: [],
  state_output_terse: [],
} as const;

const open = ({ path, given: dict, givenFile: file, cwd, env }: ConfigRequest): Source => {
  if (dict !== undefined)
    return { dir: resolve(cwd), dict, ...(file === undefined ? {} : { file }) };
  const named = path ?? env.TSALT_CONFIG_DIR;
  const given = resolve(cwd, named ?? '.');
  const stat = statSync(given, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new TsaltError('config-missing', `The configuration folder ${given} does not exist.`, {
      hint: 'Pass to -c a folder that has a tsalt.yaml, or the file itself.',
    });
  const found = stat.isDirectory() ? join(given, 'tsalt.yaml') : given;
  if (!existsSync(found)) return { dir: given, dict: new Map() };
  checkTrusted(found, 'The configuration');
  const read = readYaml(found);
  if (read === null) return { dir: dirname(found), file: found, dict: new Map() };
  if (!isDict(read))
    throw new TsaltError('config-shape', 'The configuration must be a mapping of options.', {
      at: { file: found, line: 1 },
    });
  return { dir: dirname(found), file: found, dict: read };
};

const readYaml = (file: string): Data => {
  try {
    return loadYaml(readText(file), { file });
  } catch (error) {
    throw hideSecrets(error);
  }
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = messageOf(cause);
    throw new TsaltError('config-unreadable', `The configuration cannot be read: ${reason}.`, {
      at: { file },
      cause,
    });
  }
};

const known = new Set([
  ...Object.keys(keys),
  ...Object.keys(composed),
  ...Object.keys(hostDefaults),
  ...otherSaltOptions,
]);

/** Unknown keys configure modules, unless they look like a misspelling. */
const checkNames = ({ dict, file = '' }: Source): void => {
  for (const key of dict.keys()) {
    const name = String(key);
    if (known.has(name)) continue;
    const meant = closestMatch(name, known);
    if (meant === undefined) continue;
    throw new TsaltError('config-key', `There is no option '${name}'.`, {
      at: keyLocation(file, dict, key),
      hint: `Did you mean '${meant}'?`,
    });
  }
};

const get = <T>({ dict, file = '' }: Source, key: string, kind: ValueKind<T>): T | undefined =>
  readKey({ file, dict, code: 'config' }, key, kind);

type PlainKeys = {
  -readonly [K in keyof typeof keys]?: (typeof keys)[K] extends ValueKind<infer T> ? T : never;
};

const readPlain = (source: Source): PlainKeys => {
  const read: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(keys)) {
    const value = get<unknown>(source, key, kind);
    if (value !== undefined) read[key] = value;
  }
  return read as PlainKeys;
};

/**
 * Resolves a path of the configuration: `~` is the home folder, other paths are relative to the
 * file.
 */
export const pathOf = (dir: string, path: string): string => {
  const full = path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
  return isAbsolute(full) ? full : resolve(dir, full);
};

const wrong = (source: Source, key: string, expected: string, value: Data): TsaltError =>
  new TsaltError(
    'config-value',
    `The value of '${key}' must be ${expected}, not ${describeValue(value)}.`,
    { at: keyLocation(source.file ?? '', source.dict, key) },
  );

const rootsOf = (source: Source, key: 'file_roots' | 'pillar_roots'): Roots | undefined => {
  const dict = get(source, key, composed[key]);
  if (dict === undefined) return undefined;
  const roots: Record<string, readonly string[]> = {};
  for (const [env, value] of dict) {
    const folders = typeof value === 'string' ? [value] : value;
    if (!Array.isArray(folders) || !folders.every(folder => typeof folder === 'string'))
      throw wrong(source, key, 'folders by environment', value);
    roots[String(env)] = folders.map(folder => pathOf(source.dir, String(folder)));
  }
  return roots;
};

const defaultPillar = (dir: string): readonly string[] => {
  const folders = [join(dir, 'pillar'), join(dir, 'states', 'pillar')];
  const found = folders.find(folder => existsSync(folder));
  return [found ?? join(dir, 'pillar')];
};

const defaultCache = (env: Env): string => {
  const { XDG_CACHE_HOME: cache } = env;
  const base = cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache');
  return join(base, 'tsalt-ssh');
};

const filesOf = (source: Source): { ssh_config_file?: string; known_hosts_file?: string } => {
  const ssh = get(source, 'ssh_config_file', composed.ssh_config_file);
  const hosts = get(source, 'known_hosts_file', composed.known_hosts_file);
  return {
    ...(ssh === undefined ? {} : { ssh_config_file: pathOf(source.dir, ssh) }),
    ...(hosts === undefined ? {} : { known_hosts_file: pathOf(source.dir, hosts) }),
  };
};

/** `rosters` lists sources; without it `roster` names backends of `roster_file`. */
const rostersOf = (source: Source): RosterSource[] => {
  const listed = source.dict.get('rosters');
  if (listed !== undefined) {
    const entries = get(source, 'rosters', composed.rosters) ?? [];
    return entries.map(entry => rosterEntry(source, entry));
  }
  const file = get(source, 'roster_file', composed.roster_file);
  const dir = get(source, 'roster_dir', composed.roster_dir);
  const backends = get(source, 'roster', composed.roster) ?? [dir === undefined ? 'flat' : 'dir'];
  return backends.flatMap(backend => {
    const path = backend === 'dir' ? (dir ?? file) : file;
    const found =
      path === undefined ? defaultRoster(source.dir) : rosterPath(source, backend, path);
    return found === undefined && backend === 'flat' ? [] : [{ backend, source: found ?? '' }];
  });
};

const rosterEntry = (source: Source, entry: Plain): RosterSource => {
  if (typeof entry === 'string') return { backend: '', source: rosterPath(source, '', entry) };
  const pairs = isPlainDict(entry) ? Object.entries(entry) : [];
  const [backend, path] = pairs[0] ?? [];
  if (pairs.length !== 1 || backend === undefined || typeof path !== 'string')
    throw wrong(source, 'rosters', "a list of files or of 'backend: file'", toData(entry));
  return { backend, source: rosterPath(source, backend, path) };
};

const rosterPath = (source: Source, backend: string, path: string): string =>
  backend === 'scan' ? path : pathOf(source.dir, path);

/** Returns the roster of a project folder if none is configured. */
const defaultRoster = (dir: string): string | undefined =>
  ['roster.yaml', 'roster.yml', 'roster']
    .map(name => join(dir, name))
    .find(file => statSync(file, { throwIfNoEntry: false })?.isFile());

const roster_defaults = (source: Source): Dict => {
  const merged: Dict = new Map();
  for (const [option, key] of Object.entries(hostDefaults)) {
    const value = source.dict.get(option);
    if (value !== undefined) merged.set(key, value);
  }
  const given = get(source, 'roster_defaults', composed.roster_defaults) ?? new Map();
  for (const [key, value] of given) merged.set(key, value);
  return merged;
};

const nodegroupsOf = (source: Source): Record<string, string | readonly string[]> => {
  const groups: Record<string, string | readonly string[]> = {};
  for (const [name, value] of get(source, 'nodegroups', composed.nodegroups) ?? []) {
    const parts = Array.isArray(value) ? value.map(String) : value;
    if (typeof parts !== 'string' && !Array.isArray(parts))
      throw wrong(source, 'nodegroups', 'a target expression for each name', value);
    groups[String(name)] = parts as string | readonly string[];
  }
  for (const [name, value] of get(source, 'ssh_list_nodegroups', composed.ssh_list_nodegroups) ??
    []) {
    const ids = Array.isArray(value) ? value.map(String).join(',') : value;
    if (typeof ids !== 'string') throw wrong(source, 'ssh_list_nodegroups', 'lists of ids', value);
    groups[String(name)] = `L@${ids}`;
  }
  return groups;
};

const extPillar = (source: Source): PlainDict[] => {
  const entries = get(source, 'ext_pillar', composed.ext_pillar) ?? [];
  for (const entry of entries)
    if (!isPlainDict(entry))
      throw wrong(source, 'ext_pillar', "a list of 'name: arguments'", toData(entry));
  return entries as PlainDict[];
};

const aggregateOf = (source: Source): boolean | readonly string[] => {
  const value = source.dict.get('state_aggregate') ?? false;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(String);
  throw wrong(source, 'state_aggregate', 'true, false or a list of state modules', value);
};

const tabularOf = (source: Source): boolean | string => {
  const value = source.dict.get('state_tabular') ?? false;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  throw wrong(source, 'state_tabular', 'true, false or a format', value);
};

/** The options for `config.get` and templates: defaults, then all configured ones, without secrets. */
const optionsOf = (source: Source, config: object): Dict => {
  const options: Dict = new Map();
  for (const [key, value] of Object.entries(config))
    if (!['dir', 'file', 'rosters', 'roster_defaults'].includes(key))
      options.set(key, toData(value as Plain));
  for (const [key, value] of source.dict)
    if (!options.has(key) && !secretOptions.includes(String(key)) && key !== 'roster_defaults')
      options.set(key, value);
  for (const key of keyFiles) {
    const path = options.get(key);
    if (typeof path === 'string') options.set(key, pathOf(source.dir, path));
  }
  return options;
};
