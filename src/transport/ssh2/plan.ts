import type { AnyAuthMethod } from 'ssh2';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { KeyRing, type ParseKey } from '../keys.ts';
import { type HostAddress, type KnownHost, readKnownHosts } from '../known-hosts.ts';
import type { SshConfig, SshSettings } from '../ssh-config.ts';
import type { TransportOptions } from '../transport.ts';
import { readable } from '../unreachable.ts';
import { loginMethods } from './methods.ts';
import { type Ssh2Options, ssh2Options } from './options.ts';

/** The settings of a connection to a host, known before the socket opens. */
export type Route = {
  readonly host: Host;
  readonly address: HostAddress;
  readonly settings: SshSettings;
  /** From the roster's `ssh_options`. */
  readonly given: Ssh2Options;
  readonly newKeysFile: string | undefined;
  /** Shared by those hosts of the run that use the same files. */
  readonly entries: KnownHost[];
};

/** The settings of a login in addition. */
export type ConnectionPlan = Route & {
  readonly methods: readonly AnyAuthMethod[];
  /** The first method is one configured key: it may be sent together with the handshake. */
  readonly oneKey: boolean;
};

/** Makes the plans of one run; keys and known hosts are read once. */
export class Planner {
  readonly #options: TransportOptions;
  readonly #config: SshConfig;
  readonly #keys: KeyRing;
  readonly #knownHosts = new Map<string, KnownHost[]>();

  constructor(options: TransportOptions, config: SshConfig, parseKey: () => Promise<ParseKey>) {
    this.#options = options;
    this.#config = config;
    this.#keys = new KeyRing(parseKey, options.ask);
  }

  async route(wanted: Host): Promise<Route> {
    checkWord(wanted.host, 'host');
    checkWord(wanted.user, 'user');
    const { unsaid = [] } = wanted;
    const settings = await this.#config.settings(
      wanted.host,
      unsaid.includes('user') ? undefined : wanted.user,
      unsaid.includes('port') ? undefined : wanted.port,
    );
    const host = {
      ...wanted,
      ...(unsaid.includes('user') && settings.user !== undefined ? { user: settings.user } : {}),
      ...(unsaid.includes('port') && settings.port !== undefined ? { port: settings.port } : {}),
    };
    checkWord(host.user, 'user');
    const given = ssh2Options(host, settings.compression ? ['Compression=yes'] : []);
    const alias = given.hostKeyAlias ?? settings.hostKeyAlias;
    const address: HostAddress = {
      host: settings.hostname,
      port: host.port,
      ...(alias === undefined ? {} : { alias }),
    };
    const { knownHostsFiles } = this.#options;
    return {
      host,
      address,
      settings,
      given,
      newKeysFile: knownHostsFiles ? knownHostsFiles[0] : settings.newKeysFile,
      entries: this.#entries(knownHostsFiles ?? settings.knownHostsFiles),
    };
  }

  async plan(route: Route, keysOnly: boolean): Promise<ConnectionPlan> {
    const { host, settings, given } = route;
    const [keys, options] = [this.#keys, this.#options];
    return {
      ...route,
      ...(await loginMethods({ host, settings, given, keysOnly, keys, options })),
    };
  }

  #entries(files: readonly string[]): KnownHost[] {
    const key = files.join('\0');
    const entries = this.#knownHosts.get(key) ?? readKnownHosts(files);
    this.#knownHosts.set(key, entries);
    return entries;
  }
}

/**
 * Refuses strings that a program could take for an option, and characters that no name contains.
 */
const checkWord = (value: string, key: string): void => {
  if (value === '' || /^-|[\s\0-\x1f\x7f]/.test(value))
    throw new TsaltError(
      'roster-value',
      `The ${key} ${JSON.stringify(readable(value, 80))} cannot be right.`,
      { hint: `A ${key} does not start with "-" and has no blanks or control characters.` },
    );
};
