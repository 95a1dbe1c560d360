import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { closestMatch } from '../data/closest-match.ts';
import { describeValue, keyLocation, readKey, type ValueKind } from '../data/values/read.ts';
import { type Dict, isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { isAddress, isId, longestId, unfitCharacter } from './address.ts';
import { noControl, rosterKeys, rosterKinds } from './keys.ts';
import { checkOutside } from './outside.ts';
import type { CheckedHost, Entry, Layer } from './roster.ts';
import { readSecrets } from './secret-source.ts';
import { readSshOption } from './ssh-options.ts';

/**
 * Merges the entries of one id to a `Host`: checks names and values, adds defaults, wraps
 * passwords.
 *
 * @param entries all entries of the id; a later one's keys win over an earlier one's
 * @throws TsaltError `roster-…` with file, line and the closest known name
 */
export const checkHost = (entries: readonly Entry[], defaults: readonly Layer[]): CheckedHost => {
  const entry = entries.at(-1) as Entry;
  const { id } = entry;
  checkId(entry);
  const layers: Layer[] = [...entries].reverse().map(one => ({
    dict: dictOf(one),
    file: one.file,
    ...(one.outside ? { outside: one.outside } : {}),
  }));
  for (const layer of layers) {
    checkKeys(id, layer, 'roster');
    if (layer.outside) checkOutside(id, layer);
  }
  layers.push(...defaults);

  const read = <T>(key: string, kind: ValueKind<T>): { value: T; file: string } | undefined => {
    const layer = layers.find(({ dict }) => dict.has(key));
    const value = layer && readKey({ ...layer, code: 'roster' }, key, kind);
    return layer === undefined || value === undefined ? undefined : { value, file: layer.file };
  };
  const value = <K extends keyof typeof rosterKinds>(key: K): ValueOf<K> | undefined =>
    read(key, rosterKinds[key] as ValueKind<ValueOf<K>>)?.value;
  const merged = (key: 'minion_opts' | 'grains'): PlainDict =>
    Object.assign(
      {},
      ...layers
        .toReversed()
        .map(layer => readKey({ ...layer, code: 'roster' }, key, rosterKinds[key])),
    );
  const local = (key: 'priv' | 'ssh_pre_flight'): string | undefined => {
    const found = read(key, rosterKinds[key]);
    return found === undefined ? undefined : localFile(found.value, found.file);
  };

  const transport = value('transport');
  const host = value('host') ?? id;
  checkAddress(host, transport, entry, placeIn(layers, 'host'));
  const { secrets, known } = readSecrets(layers);
  const mine = value('mine_functions');
  const minion_opts = {
    ...merged('minion_opts'),
    ...(mine === undefined ? {} : { mine_functions: mine }),
  };
  checkMinionOpts(minion_opts, layers);

  return {
    host: defined({
      id,
      host,
      user: value('user') ?? currentUser(),
      port: value('port') ?? 22,
      unsaid: unsaidOf(value('user'), value('port')),
      ...known,
      priv: local('priv'),
      identities_only: value('identities_only'),
      sudo: value('sudo'),
      sudo_user: value('sudo_user'),
      become: value('become'),
      tty: value('tty'),
      timeout: value('timeout') ?? 30,
      minion_opts,
      grains: merged('grains'),
      thin_dir: value('thin_dir'),
      node_bin: value('node_bin'),
      host_key: value('host_key'),
      set_path: value('set_path'),
      proxy_jump: value('proxy_jump'),
      transport,
      ssh_options: sshOptions(value('ssh_options'), placeIn(layers, 'ssh_options')),
      ssh_pre_flight: local('ssh_pre_flight'),
      ssh_pre_flight_args: value('ssh_pre_flight_args'),
      ssh_pre_hook: value('ssh_pre_hook'),
      remote_port_forwards: forwards(
        value('remote_port_forwards'),
        placeIn(layers, 'remote_port_forwards'),
      ),
      disable_wipe: value('disable_wipe'),
      cmd_umask: value('cmd_umask'),
      via: value('via'),
    }),
    file: entries[0]?.file ?? '',
    secrets,
  };
};

/**
 * As `checkHost`, but returns the error of a wrong entry, so that it does not stop the other hosts.
 */
export const checkEntry = (entries: readonly Entry[], defaults: readonly Layer[]): CheckedHost => {
  try {
    return checkHost(entries, defaults);
  } catch (fault) {
    if (!(fault instanceof TsaltError)) throw fault;
    const id = entries[0]?.id ?? '';
    const nothing = { user: '', port: 22, timeout: 30, minion_opts: {}, grains: {} };
    return { host: { id, host: id, ...nothing }, file: entries[0]?.file ?? '', secrets: {}, fault };
  }
};

const unsaidOf = (user: unknown, port: unknown): Host['unsaid'] => {
  const unsaid = [
    ...(user === undefined ? (['user'] as const) : []),
    ...(port === undefined ? (['port'] as const) : []),
  ];
  return unsaid.length > 0 ? unsaid : undefined;
};

type ValueOf<K extends keyof typeof rosterKinds> =
  (typeof rosterKinds)[K] extends ValueKind<infer T> ? T : never;

/** Returns the position of this key in the layer that takes effect. */
const placeIn = (layers: readonly Layer[], key: string): SourceLocation | undefined => {
  const layer = layers.find(({ dict }) => dict.has(key));
  return layer && keyLocation(layer.file, layer.dict, key);
};

const checkId = ({ id, at }: Entry): void => {
  if (isId(id)) return;
  const start = JSON.stringify([...id].slice(0, 40).join(''));
  if (id.length > longestId)
    throw new TsaltError(
      'roster-id',
      `An id is too long: it has ${id.length} characters and starts with ${start}.`,
      { at, hint: `An id has ${longestId} characters at most.` },
    );
  const wrong = unfitCharacter(id);
  const named = wrong === undefined ? '' : `: ${JSON.stringify(wrong)} (${codePoint(wrong)})`;
  throw new TsaltError(
    'roster-id',
    `The id ${JSON.stringify(id)} has characters that an id must not have${named}.`,
    {
      at,
      hint: 'An id is made of letters, digits and . _ - @ : +, and starts with a letter or digit.',
    },
  );
};

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Checks `roster_defaults` and the `ssh_*` options the way an entry is checked. */
export const checkDefaults = (defaults: Layer): void => {
  checkKeys('roster_defaults', defaults, 'config');
};

const dictOf = ({ id, value, at }: Entry): Dict => {
  if (value === null) return new Map();
  if (typeof value === 'string') return new Map([['host', value]]);
  if (isDict(value)) return value;
  throw new TsaltError(
    'roster-entry',
    `The roster entry '${id}' must be a host name or a mapping, not ${describeValue(value)}.`,
    { at },
  );
};

const checkKeys = (id: string, { dict, file }: Layer, what: string): void => {
  for (const key of dict.keys()) {
    const name = String(key);
    if (rosterKeys.includes(name)) continue;
    const meant = closestMatch(name, rosterKeys);
    throw new TsaltError(`${what}-key`, `The roster entry '${id}' has an unknown key '${name}'.`, {
      at: keyLocation(file, dict, key),
      hint:
        meant === undefined ? `Known keys: ${rosterKeys.join(', ')}.` : `Did you mean '${meant}'?`,
    });
  }
};

const checkAddress = (
  host: string,
  transport: string | undefined,
  entry: Entry,
  at: SourceLocation | undefined,
): void => {
  const inside = transport === 'local' || transport === 'chroot' || transport === 'container';
  if (inside ? noControl(host) && !host.startsWith('-') : isAddress(host)) return;
  throw new TsaltError(
    'roster-host',
    `The host ${JSON.stringify(host)} of '${entry.id}' is neither a host name nor an address.`,
    { at: at?.line === undefined ? entry.at : at },
  );
};

/**
 * Resolves paths on this machine: `~` is the home folder, others are relative to the file that
 * names them.
 */
export const localFile = (path: string, file: string): string => {
  if (path === 'agent-forwarding') return path;
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : resolve(dirname(file), path);
};

let knownUser: string | undefined;

const currentUser = (): string => {
  knownUser ??= readUser();
  return knownUser;
};

const readUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return 'root';
  }
};

// Options that decide about files and pillar must not be sent to hosts.
const controlOnly = ['file_roots', 'pillar_roots', 'ext_pillar', 'fileserver_backend', 'id'];

const checkMinionOpts = (opts: PlainDict, layers: readonly Layer[]): void => {
  const wrong = controlOnly.find(key => Object.hasOwn(opts, key));
  if (wrong === undefined) return;
  const nodes = layers.map(({ dict, file }) => ({ node: dict.get('minion_opts'), file }));
  const found = nodes.find(({ node }) => isDict(node) && node.has(wrong));
  throw new TsaltError('roster-minion-opts', `minion_opts must not set '${wrong}'.`, {
    at: found && keyLocation(found.file, found.node as Dict, wrong),
    hint: 'The control node decides about it: set it in tsalt.yaml.',
  });
};

const sshOptions = (
  options: readonly string[] | undefined,
  at: SourceLocation | undefined,
): readonly string[] | undefined =>
  options?.map(option => {
    const read = readSshOption(option);
    if ('value' in read) return read.value;
    throw new TsaltError('roster-ssh-option', `The ssh option '${option}' ${read.problem}.`, {
      at,
      hint: read.hint,
    });
  });

const forwards = (
  list: readonly string[] | undefined,
  at: SourceLocation | undefined,
): readonly string[] | undefined => {
  const wrong = list?.find(item => !isForward(item));
  if (wrong === undefined) return list;
  throw new TsaltError(
    'roster-forward',
    `The tunnel '${wrong}' is not of the form PORT:HOST:HOSTPORT or BIND:PORT:HOST:HOSTPORT.`,
    { at },
  );
};

/** `[bind:]port:host:hostport`, as OpenSSH's `-R`. */
export const isForward = (tunnel: string): boolean =>
  /^(?:(?:\[[0-9a-fA-F:.]+\]|[\w.*-]*):)?\d{1,5}:(?:\[[0-9a-fA-F:.]+\]|\w[\w.-]*):\d{1,5}$/.test(
    tunnel,
  );

const defined = <T extends object>(fields: T): Host =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as Host;
