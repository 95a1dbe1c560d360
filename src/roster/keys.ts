import {
  flag,
  mapping,
  oneOf,
  seconds,
  stringKind,
  stringsKind,
  type ValueKind,
} from '../data/values/read.ts';
import { isJumpChain, isUser } from './address.ts';
import type { SecretKey } from './roster.ts';
import { splitRosterArgs } from './split-args.ts';

const port: ValueKind<number> = {
  expected: 'a port from 1 to 65535',
  schema: {
    type: ['integer', 'string'],
    minimum: 1,
    maximum: 65_535,
    pattern: '^[0-9]{1,5}$',
  },
  read: value => {
    const number = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= 65535
      ? number
      : undefined;
  },
};

const matching = (expected: string, test: (value: string) => boolean): ValueKind<string> => ({
  expected,
  schema: stringKind.schema,
  read: value => {
    const read = stringKind.read(value);
    return read !== undefined && test(read) ? read : undefined;
  },
});

export const noControl = (value: string): boolean => !/[\u0000-\u001f\u007f]/.test(value);

const remotePath = matching(
  'a path on the host, absolute or in ~/',
  value => /^(\/|~\/)/.test(value) && noControl(value),
);

const localPath = matching('a path', value => value !== '' && noControl(value));

const umask: ValueKind<string> = {
  expected: "an octal umask like '0022'",
  schema: { type: ['string', 'integer'], pattern: '^0?[0-7]{3}$' },
  read: value => {
    const read = typeof value === 'number' ? String(value).padStart(4, '0') : value;
    return typeof read === 'string' && /^0?[0-7]{3}$/.test(read) ? read : undefined;
  },
};

/** A program and its arguments: a list, or a string of words separated by spaces. */
const command: ValueKind<readonly string[]> = {
  expected: 'a program and its arguments',
  schema: stringsKind.schema,
  read: value => {
    const words = typeof value === 'string' ? splitRosterArgs(value) : stringsKind.read(value);
    return words !== undefined && words.length > 0 && words.every(noControl) ? words : undefined;
  },
};

const hostKey = matching(
  "a fingerprint 'SHA256:…' or a public key",
  value =>
    /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value) ||
    /^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}( .*)?$/.test(value),
);

/** Roster keys except the secrets, with their types. */
export const rosterKinds = {
  host: stringKind,
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
  ssh_options: stringsKind,
  ssh_pre_flight: localPath,
  ssh_pre_flight_args: stringsKind,
  ssh_pre_hook: command,
  remote_port_forwards: stringsKind,
  disable_wipe: flag,
  cmd_umask: umask,
  via: matching('the name of a segment', value => /^[A-Za-z0-9][\w.-]{0,63}$/.test(value)),
} as const;

export const secretRosterKeys: readonly SecretKey[] = ['passwd', 'sudo_passwd', 'priv_passwd'];

export const isSecretKey = (key: unknown): boolean => secretRosterKeys.includes(key as SecretKey);

/** Names a roster entry may have. */
export const rosterKeys: readonly string[] = [...Object.keys(rosterKinds), ...secretRosterKeys];
