import type { Algorithms } from 'ssh2';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { checkSshOption } from '../openssh.ts';

/** A host's `ssh_options`, as far as ssh2 implements them. */
export type Ssh2Options = {
  readonly family?: 4 | 6;
  readonly localAddress?: string;
  readonly connectTimeout?: number;
  readonly attempts?: number;
  readonly hostKeyAlias?: string;
  readonly identitiesOnly?: boolean;
  /** A socket; `none`: no agent. */
  readonly identityAgent?: string;
  readonly identityFiles: readonly string[];
  /** Methods that may be used, in this order: `publickey`, `password`, `keyboard-interactive`. */
  readonly methods: readonly string[];
  /** Seconds between keepalives, and how many may stay unanswered; 0: none are sent. */
  readonly aliveInterval?: number;
  readonly aliveCount?: number;
  readonly tcpKeepAlive?: boolean;
  /** Of SSH packets. */
  readonly compression?: boolean;
  readonly algorithms: Algorithms;
};

type Draft = { -readonly [K in keyof Omit<Ssh2Options, 'algorithms'>]: Ssh2Options[K] } & {
  identityFiles: string[];
  algorithms: Record<string, unknown>;
};

/** Applies a value; returns `undefined` if ssh2 does not support it. */
type Reader = (draft: Draft, value: string) => true | undefined;

/**
 * Reads `ssh_options` for ssh2. As with ssh, the first value of an option wins.
 *
 * @param settings further options, of the ssh configuration
 * @throws {TsaltError} `ssh-option` for an option that ssh2 does not support: none is ignored
 * silently
 */
export const ssh2Options = (
  { id, ssh_options = [] }: Host,
  settings: readonly string[] = [],
): Ssh2Options => {
  const draft: Draft = {
    identityFiles: [],
    methods: ['publickey', 'password', 'keyboard-interactive'],
    algorithms: {},
  };
  const seen = new Set<string>();
  for (const option of [...ssh_options, ...settings]) {
    const text = checkSshOption(option);
    const [name = '', value = ''] = splitAt(text, text.indexOf('='));
    const key = name.toLowerCase();
    if (seen.has(key) && key !== 'identityfile') continue;
    seen.add(key);
    const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (!reader?.(draft, value.trim().replace(/^"(.*)"$/, '$1'))) throw cannot(id, text);
  }
  return draft as Ssh2Options;
};

const splitAt = (text: string, at: number): [string, string] => [
  text.slice(0, at),
  text.slice(at + 1),
];

const cannot = (id: string, option: string): TsaltError =>
  new TsaltError('ssh-option', `${id}: transport ssh2 cannot do the ssh option ${option}.`, {
    hint: 'Use --transport openssh (or transport: openssh in the roster), which hands it to ssh.',
  });

const truth = (value: string): boolean | undefined =>
  value === 'yes' ? true : value === 'no' ? false : undefined;

const whole = (value: string): number | undefined =>
  /^\d{1,6}$/.test(value) ? Number(value) : undefined;

const set =
  <K extends keyof Draft>(key: K, read: (value: string) => Draft[K] | undefined): Reader =>
  (draft, value) => {
    const known = read(value);
    if (known === undefined) return;
    draft[key] = known;
    return true;
  };

/** A method that is on by default and may be switched off. */
const method =
  (name: string): Reader =>
  (draft, value) => {
    const isOn = truth(value);
    if (isOn === false) draft.methods = draft.methods.filter(one => one !== name);
    return isOn === undefined ? undefined : true;
  };

/** Features that ssh2 does not have: `no` is accepted, `yes` is not. */
const never: Reader = (_draft, value) => (value === 'no' ? true : undefined);

/** A list of names; `+`, `-` and `^` change the default as ssh does. */
const algorithms =
  (key: keyof Algorithms): Reader =>
  (draft, value) => {
    const [, sign = '', list = ''] = /^([+^-]?)([\w@.,-]+)$/.exec(value) ?? [];
    const names = list.split(',').filter(name => name !== '');
    if (names.length === 0) return;
    draft.algorithms[key] =
      sign === '+'
        ? { append: names }
        : sign === '-'
          ? { remove: names }
          : // ssh2 puts to the front only what it has not already.
            sign === '^'
            ? { remove: names, prepend: names }
            : names;
    return true;
  };

const seconds = (value: string): number | undefined => {
  const number = whole(value);
  return number === undefined || number === 0 ? undefined : number;
};

const readers: Readonly<Record<string, Reader>> = {
  addressfamily: (draft, value) => {
    if (value === 'inet' || value === 'inet6') draft.family = value === 'inet' ? 4 : 6;
    return value === 'any' || draft.family !== undefined ? true : undefined;
  },
  bindaddress: set('localAddress', value => value),
  ciphers: algorithms('cipher'),
  compression: (draft, value) => {
    const wanted = truth(value);
    if (wanted === undefined) return;
    draft.compression = wanted;
    if (wanted) draft.algorithms.compress = ['zlib@openssh.com', 'none'];
    return true;
  },
  connecttimeout: set('connectTimeout', seconds),
  connectionattempts: set('attempts', seconds),
  gssapiauthentication: never,
  gssapidelegatecredentials: never,
  hostbasedauthentication: never,
  hostkeyalgorithms: algorithms('serverHostKey'),
  hostkeyalias: set('hostKeyAlias', value => value),
  identitiesonly: set('identitiesOnly', truth),
  identityagent: set('identityAgent', value => value),
  identityfile: (draft, value) => {
    draft.identityFiles.push(value);
    return true;
  },
  kbdinteractiveauthentication: method('keyboard-interactive'),
  kexalgorithms: algorithms('kex'),
  macs: algorithms('hmac'),
  numberofpasswordprompts: (_draft, value) => (value === '1' ? true : undefined),
  passwordauthentication: method('password'),
  preferredauthentications: (draft, value) => {
    const wanted = value.split(',').map(name => name.trim());
    draft.methods = wanted.filter(name => draft.methods.includes(name));
    return draft.methods.length > 0 ? true : undefined;
  },
  pubkeyauthentication: method('publickey'),
  serveralivecountmax: set('aliveCount', whole),
  serveraliveinterval: set('aliveInterval', whole),
  tcpkeepalive: set('tcpKeepAlive', truth),
};
