import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { nearest } from '../data/nearest.ts';
import {
  describe,
  flag,
  type Kind,
  mapping,
  oneOf,
  placeOf,
  readKey,
  seconds,
  text,
  texts,
} from '../data/read.ts';
import { type Data, type Dict, isDict } from '../data/value.ts';
import { type Place, TsaltError } from '../protocol/error.ts';
import { type Host, Secret } from '../protocol/host.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { isAddress, isId, isJumpChain, isUser } from './address.ts';
import type { CheckedHost, Entry, SecretKey, SecretSource } from './roster.ts';
import { readSshOption } from './ssh-options.ts';

/** Roster keys and the file they stand in: an entry's own, or the defaults. */
export type Layer = { readonly dict: Dict; readonly file: string };

const port: Kind<number> = {
  expected: 'a port from 1 to 65535',
  read: value => {
    const number = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= 65535
      ? number
      : undefined;
  },
};

const matching = (expected: string, test: (value: string) => boolean): Kind<string> => ({
  expected,
  read: value => {
    const read = text.read(value);
    return read !== undefined && test(read) ? read : undefined;
  },
});

const noControl = (value: string): boolean => !/[\u0000-\u001f\u007f]/.test(value);

const remotePath = matching(
  'a path on the host, absolute or in ~/',
  value => /^(\/|~\/)/.test(value) && noControl(value),
);

const localPath = matching('a path', value => value !== '' && noControl(value));

const umask: Kind<string> = {
  expected: "an octal umask like '0022'",
  read: value => {
    const read = typeof value === 'number' ? String(value).padStart(4, '0') : value;
    return typeof read === 'string' && /^0?[0-7]{3}$/.test(read) ? read : undefined;
  },
};

const hostKey = matching(
  "a fingerprint 'SHA256:…' or a public key",
  value =>
    /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value) ||
    /^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}( .*)?$/.test(value),
);

const kinds = {
  host: text,
  user: matching('a login name', isUser),
  port,
  priv: localPath,
  identities_only: flag,
  sudo: flag,
  sudo_user: matching('a login name', isUser),
  become: oneOf('sudo', 'su', 'doas'),
  tty: flag,
  timeout: seconds,
  minion_opts: mapping,
  grains: mapping,
  mine_functions: mapping,
  thin_dir: remotePath,
  node_bin: remotePath,
  host_key: hostKey,
  set_path: matching('a PATH', noControl),
  proxy_jump: matching("hosts like 'user@host:port', with commas between", isJumpChain),
  transport: oneOf('ssh2', 'openssh', 'local', 'chroot', 'container'),
  ssh_options: texts,
  ssh_pre_flight: localPath,
  ssh_pre_flight_args: texts,
  remote_port_forwards: texts,
  disable_wipe: flag,
  cmd_umask: umask,
} as const;

const secretKeys: readonly SecretKey[] = ['passwd', 'sudo_passwd', 'priv_passwd'];

export const isSecretKey = (key: unknown): boolean => secretKeys.includes(key as SecretKey);

/** Names a roster entry may have. */
export const rosterKeys: readonly string[] = [...Object.keys(kinds), ...secretKeys];

/**
 * Turns what backends say of one id into a `Host`: names and values checked, defaults filled
 * in, passwords out of sight.
 *
 * @param entries all entries of the id; a later one's keys win over an earlier one's
 * @throws TsaltError `roster-…` with file, line and the nearest known name
 */
export const checkHost = (entries: readonly Entry[], defaults: Layer): CheckedHost => {
  const entry = entries.at(-1) as Entry;
  const { id } = entry;
  checkId(entry);
  const layers: Layer[] = [...entries]
    .reverse()
    .map(one => ({ dict: dictOf(one), file: one.file }));
  for (const layer of layers) checkKeys(id, layer, 'roster');
  layers.push(defaults);

  const read = <T>(key: string, kind: Kind<T>): { value: T; file: string } | undefined => {
    const layer = layers.find(({ dict }) => dict.has(key));
    const value = layer && readKey({ ...layer, code: 'roster' }, key, kind);
    return layer === undefined || value === undefined ? undefined : { value, file: layer.file };
  };
  const value = <K extends keyof typeof kinds>(key: K): ValueOf<K> | undefined =>
    read(key, kinds[key] as Kind<ValueOf<K>>)?.value;
  const merged = (key: 'minion_opts' | 'grains'): PlainDict =>
    Object.assign(
      {},
      ...layers.toReversed().map(layer => readKey({ ...layer, code: 'roster' }, key, kinds[key])),
    );
  const local = (key: 'priv' | 'ssh_pre_flight'): string | undefined => {
    const found = read(key, kinds[key]);
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
      remote_port_forwards: forwards(
        value('remote_port_forwards'),
        placeIn(layers, 'remote_port_forwards'),
      ),
      disable_wipe: value('disable_wipe'),
      cmd_umask: value('cmd_umask'),
    }),
    file: entries[0]?.file ?? '',
    secrets,
  };
};

type ValueOf<K extends keyof typeof kinds> = (typeof kinds)[K] extends Kind<infer T> ? T : never;

/** Where the layer that counts has this key. */
const placeIn = (layers: readonly Layer[], key: string): Place | undefined => {
  const layer = layers.find(({ dict }) => dict.has(key));
  return layer && placeOf(layer.file, layer.dict, key);
};

const checkId = ({ id, at }: Entry): void => {
  if (isId(id)) return;
  throw new TsaltError(
    'roster-id',
    `The id ${JSON.stringify(id)} has characters that an id must not have.`,
    {
      at,
      hint: 'An id is made of letters, digits and . _ - @ : +, and starts with a letter or digit.',
    },
  );
};

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
    `The roster entry '${id}' must be a host name or a mapping, not ${describe(value)}.`,
    { at },
  );
};

const checkKeys = (id: string, { dict, file }: Layer, what: string): void => {
  for (const key of dict.keys()) {
    const name = String(key);
    if (rosterKeys.includes(name)) continue;
    const meant = nearest(name, rosterKeys);
    throw new TsaltError(`${what}-key`, `The roster entry '${id}' has an unknown key '${name}'.`, {
      at: placeOf(file, dict, key),
      hint:
        meant === undefined ? `Known keys: ${rosterKeys.join(', ')}.` : `Did you mean '${meant}'?`,
    });
  }
};

const checkAddress = (
  host: string,
  transport: string | undefined,
  entry: Entry,
  at: Place | undefined,
): void => {
  const inside = transport === 'local' || transport === 'chroot' || transport === 'container';
  if (inside ? noControl(host) && !host.startsWith('-') : isAddress(host)) return;
  throw new TsaltError(
    'roster-host',
    `The host ${JSON.stringify(host)} of '${entry.id}' is neither a host name nor an address.`,
    { at: at?.line === undefined ? entry.at : at },
  );
};

const readSecrets = (layers: readonly Layer[]) => {
  const secrets: Partial<Record<SecretKey, SecretSource>> = {};
  const known: Partial<Record<SecretKey, Secret>> = {};
  for (const key of secretKeys) {
    const source = layers.find(({ dict }) => (dict.get(key) ?? null) !== null);
    if (source === undefined) continue;
    const value = source.dict.get(key) ?? null;
    const at = placeOf(source.file, source.dict, key);
    const node = sourceOf(key, value, at);
    if (node !== undefined) secrets[key] = { node, file: source.file, at };
    else known[key] = new Secret(secretText(key, value, at));
  }
  return { secrets, known };
};

const secretText = (key: string, value: Data, at: Place): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return String(value);
  throw badSecret(key, at);
};

/** How the secret is to be fetched; undefined where it is the value itself. */
const sourceOf = (key: string, value: Data, at: Place): Dict | undefined => {
  if (typeof value === 'string' && value.startsWith('sdb://')) return new Map([['sdb', value]]);
  return isDict(value) ? checkSource(key, value, at) : undefined;
};

const checkSource = (key: string, node: Dict, at: Place): Dict => {
  const [name] = node.keys();
  if (node.size === 1 && ['env', 'file', 'command', 'prompt'].includes(String(name))) return node;
  throw badSecret(key, at);
};

const badSecret = (key: string, at: Place): TsaltError =>
  new TsaltError(
    'roster-secret',
    `The value of '${key}' must be text or one of {env: NAME}, {file: PATH}, {command: [PROGRAM, ARGUMENT]}, {prompt: true}, or an address sdb://PROFILE/KEY.`,
    { at },
  );

/** Paths of files here: `~` is the home folder, the rest starts at the file that names them. */
export const localFile = (path: string, file: string): string => {
  if (path === 'agent-forwarding') return path;
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : resolve(dirname(file), path);
};

const currentUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return 'root';
  }
};

// What decides about files and pillar stays on this side.
const controlOnly = ['file_roots', 'pillar_roots', 'ext_pillar', 'fileserver_backend', 'id'];

const checkMinionOpts = (opts: PlainDict, layers: readonly Layer[]): void => {
  const wrong = controlOnly.find(key => Object.hasOwn(opts, key));
  if (wrong === undefined) return;
  const nodes = layers.map(({ dict, file }) => ({ node: dict.get('minion_opts'), file }));
  const found = nodes.find(({ node }) => isDict(node) && node.has(wrong));
  throw new TsaltError('roster-minion-opts', `minion_opts must not set '${wrong}'.`, {
    at: found && placeOf(found.file, found.node as Dict, wrong),
    hint: 'The control node decides about it: set it in tsalt.yaml.',
  });
};

const sshOptions = (
  options: readonly string[] | undefined,
  at: Place | undefined,
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
  at: Place | undefined,
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
