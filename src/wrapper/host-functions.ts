import { splitFunctionName } from '../data/signatures/function-name.ts';
import { type Data, Float } from '../data/values/value.ts';

/** Limits of one call: depth of nesting, number of values, number of characters. */
export type CallLimits = {
  readonly depth: number;
  readonly values: number;
  readonly characters: number;
};

/**
 * When a host may call a function. `always`: it reads the host's own data, or only computes.
 * `stated`: a compiled state calls it (`module.run`, `onlyif`, `unless`) with those arguments.
 * `serialize`: the job has a `file.serialize` whose formats the host cannot read or write.
 */
export type CallRight = 'always' | 'stated' | 'serialize';

/** The kinds of arguments. `any` is data within the limits of the call. */
type ArgumentKind = 'scalar' | 'any';

/** The arguments that a host may pass to a function of the control node. */
export type HostFunction = {
  readonly right: CallRight;
  /** Arguments by name. All others are refused. */
  readonly arguments: Readonly<Record<string, ArgumentKind>>;
  /** The maximum number of further positional arguments (`*args`), all scalars. */
  readonly most?: number;
  readonly limits: CallLimits;
};

/** The maximum length of names, paths and keys of a call: that of a path. */
export const longestName = 4096;

const usual: CallLimits = { depth: 64, values: 20_000, characters: 256 * 1024 };
const documents: CallLimits = { depth: 64, values: 50_000, characters: 256 * 1024 };

const scalars = (names: string): Record<string, ArgumentKind> =>
  Object.fromEntries(
    names
      .split(' ')
      .filter(Boolean)
      .map(name => [name, 'scalar']),
  );

const always = (
  names: string,
  more: Readonly<Record<string, ArgumentKind>> = {},
  most?: number,
): HostFunction => ({
  right: 'always',
  arguments: { ...scalars(names), ...more },
  limits: usual,
  ...(most === undefined ? {} : { most }),
});

const stated = (
  names: string,
  more: Readonly<Record<string, ArgumentKind>> = {},
  most?: number,
): HostFunction => ({ ...always(names, more, most), right: 'stated' });

const any = (names: string): Record<string, ArgumentKind> =>
  Object.fromEntries(names.split(' ').map(name => [name, 'any']));

const oneOf = (names: string, spec: HostFunction): Record<string, HostFunction> =>
  Object.fromEntries(names.split(' ').map(name => [name, spec]));

const omit = 'omit_opts omit_pillar omit_master omit_grains';
const noValue = always('');

/**
 * The functions of the control node that a host may call, with their arguments. A host is not
 * trusted and chooses the arguments. Therefore this list contains only functions that read this
 * host's own data, or whose time grows linearly with the length of the arguments. Formulas call all
 * other functions while they are rendered.
 */
const modules: Readonly<Record<string, Readonly<Record<string, HostFunction>>>> = {
  config: {
    get: always(`key delimiter merge ${omit}`, any('default')),
    option: always(`value ${omit} omit_all wildcard`, any('default')),
    merge: always(`value ${omit}`, any('default')),
    dot_vals: always('value'),
    items: noValue,
    manage_mode: always('mode'),
    backup_mode: always('backup'),
    valid_fileproto: always('uri'),
  },
  cp: {
    ...oneOf('list_master list_master_dirs list_master_symlinks', always('saltenv prefix')),
    list_states: always('saltenv'),
  },
  defaults: {
    deepcopy: always('', any('source')),
    merge: always('merge_lists in_place convert_none', any('dest src')),
    update: always('merge_lists in_place convert_none', any('dest defaults')),
  },
  log: oneOf('critical debug error exception info warning', stated('message')),
  match: oneOf('compound glob grain ipcidr list pillar', stated('tgt delimiter minion_id')),
  orch: { result: stated('id_ host key', any('default')) },
  pillar: {
    ...oneOf('fetch get', always('key merge merge_nested_lists delimiter', any('default'))),
    ...oneOf('data items ls obfuscate', always('', {}, 256)),
    item: always('default delimiter', {}, 256),
    raw: always('key'),
    keys: always('key delimiter'),
    filter_by: always('pillar default base', any('lookup_dict merge')),
  },
  salt_version: oneOf('equal get_release_number greater_than less_than', always('name')),
  saltutil: {
    refresh_pillar: always('wait timeout clean_cache'),
    pillar_refresh: always('wait timeout clean_cache'),
    list_extmods: stated(''),
    ...oneOf(
      'sync_all sync_beacons sync_clouds sync_engines sync_executors sync_grains sync_log_handlers sync_matchers sync_modules sync_output sync_outputters sync_pillar sync_proxymodules sync_renderers sync_returners sync_sdb sync_serializers sync_states sync_thorium sync_utils',
      stated('saltenv refresh clean_pillar_cache', any('extmod_whitelist extmod_blacklist')),
    ),
    ...oneOf(
      'clear_cache clear_job_cache refresh_beacons refresh_grains refresh_matchers refresh_modules',
      stated('async clean_pillar_cache days hours'),
    ),
  },
  slsutil: {
    boolstr: always('value true false'),
    merge: always('strategy renderer merge_lists', any('obj_a obj_b')),
    merge_all: always('strategy renderer merge_lists', any('lst')),
    update: always('recursive_update merge_lists', any('dest upd')),
    ...oneOf('dir_exists file_exists path_exists', stated('path saltenv')),
    deserialize: {
      right: 'serialize',
      arguments: any('serializer stream_or_string'),
      limits: documents,
    },
    serialize: { right: 'serialize', arguments: any('serializer obj'), limits: documents },
  },
};

/** Formats of `file.serialize` that only the control node reads or writes. */
export const controlFormats = {
  'slsutil.deserialize': ['yaml', 'yamlex', 'toml'],
  'slsutil.serialize': ['python'],
} as const;

/**
 * Returns the arguments that a host may pass to this function; undefined if hosts must not call it.
 */
export const hostFunction = (name: string): HostFunction | undefined => {
  const [module, fun = ''] = splitFunctionName(name);
  const functions = Object.hasOwn(modules, module) ? modules[module] : undefined;
  return functions && Object.hasOwn(functions, fun) ? functions[fun] : undefined;
};

/** Lists all functions that hosts may call, sorted. */
export const hostFunctionNames = (): string[] =>
  Object.entries(modules)
    .flatMap(([module, functions]) => Object.keys(functions).map(fun => `${module}.${fun}`))
    .sort();

/** Whether an argument is of its kind: a name, path, flag or number, or any data. */
export const isOfKind = (value: Data, kind: ArgumentKind): boolean =>
  kind === 'any' ||
  value === null ||
  value instanceof Float ||
  (typeof value === 'string' ? value.length <= longestName : typeof value !== 'object');
