import { connect as connectSocket, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AnyAuthMethod,
  Client,
  ClientChannel,
  ConnectConfig,
  ParsedKey,
  PseudoTtyOptions,
} from 'ssh2';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { cancelled, readable, timedOut, unreachable } from './faults.ts';
import { verifyHostKey } from './host-key.ts';
import { KeyRing, type ParseKey } from './keys.ts';
import { type Address, type KnownHost, knownKeyTypes, readKnownHosts } from './known-hosts.ts';
import { proxyCommand } from './proxy-command.ts';
import { SshConfig, type SshSettings } from './ssh-config.ts';
import { type Ssh2Options, ssh2Options } from './ssh2-options.ts';
import { nudge, pipelineAuth } from './ssh2-tuning.ts';
import type {
  Channel,
  Connection,
  ConnectOptions,
  ExecOptions,
  Exit,
  Transport,
  TransportOptions,
} from './transport.ts';
import { openTunnels } from './tunnels.ts';

const heartbeat = 10_000;
const heartbeatsMissed = 3;
const mostRetries = 3;
const hostKeyAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
  'ssh-rsa',
] as const;

type HostKeyAlgorithm = (typeof hostKeyAlgorithms)[number];

/** SSH inside this process. What it cannot do (certificates, FIDO, GSSAPI) is left to `openssh`. */
export const ssh2Transport = async (options: TransportOptions): Promise<Transport> => {
  const { default: ssh2 } = await import('ssh2');
  return new Ssh2Transport(options, () => new ssh2.Client(), ssh2.utils.parseKey as ParseKey);
};

/** Everything one connection needs to know, settled before the socket opens. */
type Plan = {
  readonly host: Host;
  readonly address: Address;
  readonly settings: SshSettings;
  /** From the roster's `ssh_options`. */
  readonly given: Ssh2Options;
  readonly entries: readonly KnownHost[];
  readonly methods: readonly AnyAuthMethod[];
  /** The first method is one configured key: it may be sent in the first flight. */
  readonly oneKey: boolean;
  readonly onPhase?: ConnectOptions['onPhase'] | undefined;
};

class Ssh2Transport implements Transport {
  readonly #options: TransportOptions;
  readonly #newClient: () => Client;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #config: SshConfig;
  readonly #keys: KeyRing;
  readonly #knownHosts = new Map<string, KnownHost[]>();
  readonly #jumps = new Map<string, Promise<Connection>>();

  constructor(options: TransportOptions, newClient: () => Client, parseKey: ParseKey) {
    this.#options = options;
    this.#newClient = newClient;
    this.#env = options.env ?? process.env;
    this.#config = new SshConfig({ file: options.sshConfig, env: this.#env });
    this.#keys = new KeyRing(parseKey, options.ask);
  }

  async connect(
    host: Host,
    { signal, keysOnly = false, onPhase }: ConnectOptions = {},
  ): Promise<Connection> {
    const plan = await this.#plan(host, keysOnly);
    for (let tries = 0; ; tries++) {
      try {
        return await this.#attempt({ ...plan, onPhase }, signal);
      } catch (error) {
        // sshd drops connections over MaxStartups unread: nothing has happened yet, so again.
        const code = error instanceof TsaltError ? error.code : '';
        const again =
          code === 'connect-dropped'
            ? tries < mostRetries
            : /^connect-(failed|timeout)$/.test(code) && tries + 1 < (plan.given.attempts ?? 1);
        if (!again || signal?.aborted) throw error;
        this.#options.log?.(`${host.id}: no connection (${code}), trying again`);
        await sleep(150 * 2 ** tries * (1 + Math.random()));
      }
    }
  }

  async #attempt(plan: Plan, signal: AbortSignal | undefined): Promise<Connection> {
    try {
      return await this.#open(plan, plan.oneKey, signal);
    } catch (error) {
      // A server that breaks off over the early login gets the usual order.
      if (!(error instanceof BrokenOff)) throw error;
      return await this.#open(plan, false, signal).catch(again => {
        throw again instanceof BrokenOff ? again.fault : again;
      });
    }
  }

  close(): void {
    for (const jump of this.#jumps.values())
      jump.then(
        connection => connection.close(),
        () => undefined,
      );
    this.#jumps.clear();
  }

  async #plan(host: Host, keysOnly: boolean): Promise<Plan> {
    checkWord(host.host, 'host');
    checkWord(host.user, 'user');
    const settings = await this.#config.settings(host.host, host.user, host.port);
    const given = ssh2Options(host);
    const alias = given.hostKeyAlias ?? settings.hostKeyAlias;
    const address: Address = {
      host: settings.hostname,
      port: host.port,
      ...(alias === undefined ? {} : { alias }),
    };
    return {
      host,
      address,
      settings,
      given,
      entries: this.#entries(settings),
      ...(await this.#login(host, settings, given, keysOnly)),
    };
  }

  #entries(settings: SshSettings): KnownHost[] {
    const files = this.#options.knownHostsFiles ?? settings.knownHostsFiles;
    const key = files.join('\0');
    const entries = this.#knownHosts.get(key) ?? readKnownHosts(files);
    this.#knownHosts.set(key, entries);
    return entries;
  }

  async #login(
    host: Host,
    settings: SshSettings,
    given: Ssh2Options,
    keysOnly: boolean,
  ): Promise<{ methods: AnyAuthMethod[]; oneKey: boolean }> {
    const { user: username, priv, passwd } = host;
    const only =
      host.identities_only ||
      this.#options.identitiesOnly ||
      (given.identitiesOnly ?? settings.identitiesOnly);
    const agentOnly = priv === 'agent-forwarding';
    const socket = given.identityAgent ?? settings.identityAgent ?? this.#env.SSH_AUTH_SOCK;
    const named = socket && socket !== 'SSH_AUTH_SOCK' ? socket : this.#env.SSH_AUTH_SOCK;
    const agent = named && named !== 'none' ? expandHome(named, this.#env) : undefined;
    const keys: ParsedKey[] = [];
    const files = agentOnly ? [] : [...(priv === undefined ? [] : [priv]), ...given.identityFiles];
    for (const file of files)
      keys.push(await this.#keys.load(expandHome(file, this.#env), host.id, host.priv_passwd));
    if (files.length === 0 && !agentOnly && (keysOnly || passwd === undefined))
      for (const file of settings.identityFiles) {
        const key = await this.#keys.loadIfUsable(file, host.id);
        if (key) keys.push(key);
      }
    const keyMethods = keys.map(key => ({ type: 'publickey', username, key }) as const);
    const useAgent = agent !== undefined && (agentOnly || !only);
    const agentMethods = useAgent ? [{ type: 'agent', username, agent } as const] : [];
    const configured = files.length > 0;
    const methods = inOrder(given.methods, [
      ...(configured ? [...keyMethods, ...agentMethods] : [...agentMethods, ...keyMethods]),
      ...(keysOnly ? [] : this.#passwordMethods(host)),
    ]);
    return {
      methods,
      oneKey: keys.length === 1 && (configured || !useAgent) && methods[0]?.type === 'publickey',
    };
  }

  #passwordMethods(host: Host): AnyAuthMethod[] {
    const { user: username, passwd } = host;
    const ask = this.#options.ask;
    const interactive: AnyAuthMethod = {
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) => {
        const answers = prompts.map(({ prompt, echo }) => {
          if (passwd && !echo) return Promise.resolve(passwd.reveal());
          if (!ask) return Promise.resolve('');
          const text = readable(prompt, 200);
          return ask({
            host: host.id,
            what: 'keyboard-interactive',
            prompt: `${host.id}: ${text} `,
          }).then(answer => answer.reveal());
        });
        Promise.all(answers).then(finish, () => finish([]));
      },
    };
    if (passwd === undefined) return ask ? [interactive] : [];
    return [{ type: 'password', username, password: passwd.reveal() }, interactive];
  }

  /** One try: socket, host key, login. */
  async #open(plan: Plan, pipelined: boolean, signal?: AbortSignal): Promise<Connection> {
    const { host, address, given } = plan;
    const where = `${host.id} (${address.host}:${address.port})`;
    if (signal?.aborted) throw cancelled(where);
    const connectLimit = this.#options.connectTimeout ?? given.connectTimeout ?? host.timeout;
    const sock = await this.#socket(plan, connectLimit, where, signal);
    const client = this.#newClient();
    return await new Promise<Connection>((resolve, reject) => {
      const login = new Login(plan.methods, host.user);
      let settled = false;
      let verdict: unknown;
      let greeting = '';
      let verified = false;
      let timer = limit(connectLimit, 'host key');
      function limit(seconds: number, what: string): NodeJS.Timeout {
        return setTimeout(() => fail(timedOut(where, what, seconds)), seconds * 1000);
      }
      const fail = (error: unknown): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        reject(error);
        client.destroy();
        sock.destroy();
      };
      const abort = (): void => fail(cancelled(where));
      const fault = (error: Error & { level?: string }): void => {
        const broken = verified
          ? new TsaltError('login-cut', `${where}: the host closed the connection during login.`, {
              kind: login.tried ? 'auth' : 'unreachable',
              excerpt: readable(error.message, 300),
            })
          : handshakeFault(where, error, greeting);
        if (verdict !== undefined) fail(verdict);
        else if (error.level === 'client-authentication') fail(login.refused(host));
        else fail(verified && pipelined ? new BrokenOff(broken) : broken);
      };
      signal?.addEventListener('abort', abort, { once: true });
      client.on('error', fault);
      client.on('close', () => fault(new Error('closed')));
      client.on('handshake', () => {
        clearTimeout(timer);
        verified = true;
        plan.onPhase?.('auth');
        timer = limit(this.#options.authTimeout ?? host.timeout, 'end of the login');
      });
      client.on('ready', () => {
        const tunnels = host.remote_port_forwards ?? [];
        if (tunnels.length === 0) ready();
        else openTunnels(client, tunnels, where).then(ready, fail);
      });
      const ready = (): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        resolve(connectionOf(client, host, where));
      };
      const settings: ConnectConfig = {
        sock: sock as Socket,
        username: host.user,
        readyTimeout: 0,
        keepaliveInterval: (given.aliveInterval ?? heartbeat / 1000) * 1000,
        keepaliveCountMax: given.aliveCount ?? heartbeatsMissed,
        algorithms: { serverHostKey: this.#algorithms(plan), ...given.algorithms },
        authHandler: (left, _partial, next) => {
          const method = login.next(left as readonly string[] | null);
          // ssh2 takes false as "no more methods"; its type does not say so.
          next(method ?? (false as unknown as AnyAuthMethod));
        },
        hostVerifier: (key: Buffer) => {
          try {
            this.#verify(plan, key);
            return true;
          } catch (error) {
            verdict = error;
            return false;
          }
        },
      };
      try {
        client.connect(settings);
      } catch (error) {
        // ssh2 checks the names of algorithms here.
        fail(unknownAlgorithm(where, error));
        return;
      }
      sock.once('data', (chunk: Buffer) => {
        greeting = chunk.toString('latin1', 0, 200);
      });
      if (pipelined) pipelineAuth(client);
      nudge(client);
    });
  }

  #verify({ host, address, entries, settings }: Plan, key: Buffer): void {
    const files = this.#options.knownHostsFiles ?? settings.knownHostsFiles;
    verifyHostKey(
      {
        mode: this.#options.hostKeys ?? 'strict',
        entries,
        newKeysFile: files[0] ?? this.#config.defaults('').knownHostsFiles[0] ?? '',
        pin: host.host_key,
        log: this.#options.log,
      },
      address,
      key,
    );
  }

  #algorithms({ entries, address }: Plan): HostKeyAlgorithm[] {
    const types = knownKeyTypes(entries, address);
    const isKnown = (algorithm: string): boolean =>
      types.includes(algorithm.startsWith('rsa-sha2') ? 'ssh-rsa' : algorithm);
    return [
      ...hostKeyAlgorithms.filter(isKnown),
      ...hostKeyAlgorithms.filter(algorithm => !isKnown(algorithm)),
    ];
  }

  async #socket(
    { host, address, settings, given }: Plan,
    seconds: number,
    where: string,
    signal?: AbortSignal,
  ): Promise<Duplex> {
    const jump = host.proxy_jump ?? settings.proxyJump;
    if (jump !== undefined && jump !== 'none')
      return await this.#throughJump(jump, host, address, signal);
    if (settings.proxyCommand !== undefined) return proxyCommand(settings.proxyCommand, where);
    return await tcp(address, given, seconds, where, signal);
  }

  /** `a,b,c`: c is reached through b, which is reached through a. Each hop is verified as a host of its own. */
  async #throughJump(
    jump: string,
    host: Host,
    address: Address,
    signal?: AbortSignal,
  ): Promise<Duplex> {
    const hops = jump.split(',');
    const last = hops.pop() ?? '';
    const key = JSON.stringify([jump, host.user, host.priv]);
    const opened = this.#jumps.get(key) ?? this.#connectHop(last, hops.join(','), host);
    this.#jumps.set(key, opened);
    if (signal?.aborted) throw cancelled(host.id);
    const connection = await opened.catch(error => {
      this.#jumps.delete(key);
      throw error;
    });
    if (!connection.forward) throw new Error('a jump host that cannot forward');
    return await connection.forward(address.host, address.port).catch(error => {
      throw unreachable(`${host.id} (${address.host}:${address.port}) through ${last}`, error);
    });
  }

  #connectHop(text: string, before: string, target: Host): Promise<Connection> {
    const hop = parseHop(text);
    return this.#config.settings(hop.host, hop.user, hop.port).then(settings =>
      this.connect({
        id: hop.host,
        host: hop.host,
        user: hop.user ?? settings.user ?? target.user,
        port: hop.port ?? settings.port ?? 22,
        timeout: target.timeout,
        minion_opts: {},
        grains: {},
        ...(target.priv === undefined ? {} : { priv: target.priv }),
        ...(target.priv_passwd === undefined ? {} : { priv_passwd: target.priv_passwd }),
        ...(before === '' ? {} : { proxy_jump: before }),
      }),
    );
  }
}

/** The server ended the connection while an early login was under way. */
class BrokenOff extends Error {
  readonly fault: TsaltError;
  constructor(fault: TsaltError) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Walks through the login methods and remembers what happened, for the message. */
class Login {
  readonly #methods: readonly AnyAuthMethod[];
  readonly #user: string;
  readonly #tried: string[] = [];
  #at = 0;
  #offered: readonly string[] | null = null;

  constructor(methods: readonly AnyAuthMethod[], user: string) {
    this.#methods = methods;
    this.#user = user;
  }

  get tried(): boolean {
    return this.#tried.length > 0;
  }

  next(offered: readonly string[] | null): AnyAuthMethod | undefined {
    this.#offered = offered ?? this.#offered;
    while (this.#at < this.#methods.length) {
      const method = this.#methods[this.#at++];
      if (!method) return;
      const wire = method.type === 'agent' ? 'publickey' : method.type;
      if (offered && !offered.includes(wire)) continue;
      this.#tried.push(method.type === 'agent' ? 'agent' : wire);
      return method;
    }
    // Without any secret at hand the question alone tells what the server would take.
    if (this.#tried.length > 0 || offered) return;
    this.#tried.push('none');
    return { type: 'none', username: this.#user };
  }

  refused({ id, user }: Host): TsaltError {
    const tried = [...new Set(this.#tried)].filter(method => method !== 'none');
    const offered = (this.#offered ?? []).map(method => readable(method, 40)).slice(0, 8);
    return new TsaltError('auth-refused', `${id}: login as ${user} was refused.`, {
      kind: 'auth',
      hint: [
        tried.length > 0 ? `Tried: ${tried.join(', ')}.` : 'There was no key or password to try.',
        offered.length > 0 ? `The host takes: ${offered.join(', ')}.` : '',
      ]
        .filter(part => part !== '')
        .join(' '),
    });
  }
}

const connectionOf = (client: Client, host: Host, where: string): Connection => {
  let lost: Error | undefined;
  let closing = false;
  client.removeAllListeners('error');
  client.removeAllListeners('close');
  client.on('error', error => {
    lost ??= connectionLost(where, error);
  });
  client.on('close', () => {
    if (!closing) lost ??= connectionLost(where);
  });
  return {
    host,
    transport: 'ssh2',
    exec: (command, options) => exec(client, where, command, options, () => lost),
    forward: (to, port) =>
      new Promise((resolve, reject) => {
        client.forwardOut('127.0.0.1', 0, to, port, (error, stream) =>
          error ? reject(error) : resolve(stream),
        );
      }),
    lost: () => lost,
    close: () => {
      closing = true;
      client.end();
      // A host that does not answer the goodbye is not waited for.
      setTimeout(() => client.destroy(), 1000).unref();
    },
  };
};

const exec = (
  client: Client,
  where: string,
  command: string,
  options: ExecOptions | undefined,
  lost: () => Error | undefined,
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const refused = (error: Error): void => reject(lost() ?? channelRefused(where, error));
    try {
      client.exec(command, options?.pty ? { pty: rawTerminal } : {}, (error, channel) => {
        if (error) refused(error);
        else resolve(channelOf(client, channel));
      });
    } catch (error) {
      refused(error instanceof Error ? error : new Error(String(error)));
    }
  });

/** Wide, so that nothing wraps; no echo, no line editing, no change of line ends. */
const rawTerminal: PseudoTtyOptions = {
  term: 'dumb',
  cols: 1000,
  rows: 50,
  modes: { ECHO: 0, ICANON: 0, ISIG: 0, OPOST: 0, IXON: 0 },
};

const channelOf = (client: Client, channel: ClientChannel): Channel => {
  let exit: Exit = { code: null, signal: null };
  channel.on('exit', (code: number | null, signal?: string) => {
    exit = { code, signal: signal ?? null };
  });
  const exited = new Promise<Exit>(resolve => {
    channel.once('close', () => resolve(exit));
    client.once('close', () => resolve(exit));
  });
  channel.on('error', () => undefined);
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr as Channel['stderr'],
    exited,
    signal: name => {
      channel.signal(name);
    },
    close: () => {
      channel.end();
      channel.close();
    },
  };
};

const tcp = (
  { host, port }: Address,
  { family, localAddress, tcpKeepAlive }: Ssh2Options,
  seconds: number,
  where: string,
  signal?: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket({
      host,
      port,
      noDelay: true,
      ...(family === undefined ? {} : { family }),
      ...(localAddress === undefined ? {} : { localAddress }),
      ...(tcpKeepAlive === undefined ? {} : { keepAlive: tcpKeepAlive }),
    });
    const timer = setTimeout(() => fail(timedOut(where, 'connection', seconds)), seconds * 1000);
    const abort = (): void => fail(cancelled(where));
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.removeListener('error', refuse);
    };
    const fail = (error: unknown): void => {
      done();
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const refuse = (error: Error): void => fail(unreachable(where, error));
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', refuse);
    socket.once('connect', () => {
      done();
      resolve(socket);
    });
  });

/** The methods that `ssh_options` leave, in their order; an agent offers keys. */
const inOrder = (order: readonly string[], methods: readonly AnyAuthMethod[]): AnyAuthMethod[] => {
  const rank = ({ type }: AnyAuthMethod): number =>
    order.indexOf(type === 'agent' ? 'publickey' : type);
  return methods.filter(one => rank(one) >= 0).sort((a, b) => rank(a) - rank(b));
};

const unknownAlgorithm = (where: string, error: unknown): TsaltError =>
  new TsaltError(
    'ssh-option',
    `${where}: transport ssh2 does not know an algorithm that ssh_options name.`,
    {
      excerpt: error instanceof Error ? readable(error.message, 300) : '',
      hint: 'Use --transport openssh, which hands it to ssh.',
      cause: error,
    },
  );

const isReset = (error: Error): boolean => 'code' in error && error.code === 'ECONNRESET';

const handshakeFault = (
  where: string,
  error: Error & { level?: string },
  greeting: string,
): TsaltError => {
  if (/no matching|Unsupported|algorithm/i.test(error.message))
    return new TsaltError('ssh-algorithms', `${where}: no common way to encrypt.`, {
      kind: 'unreachable',
      excerpt: readable(error.message, 300),
      hint: 'The system ssh may know more: --transport openssh.',
    });
  const isDropped = greeting === '' || /^(Exceeded MaxStartups|Not allowed at this)/.test(greeting);
  if (isDropped && (/lost before handshake/i.test(error.message) || isReset(error)))
    return new TsaltError(
      'connect-dropped',
      `${where} closes the connection before it says who it is.`,
      {
        kind: 'unreachable',
        hint: 'Is it an SSH server, and does it take so many connections at once (MaxStartups)?',
      },
    );
  if (error.level === 'client-socket') return unreachable(where, error);
  return new TsaltError('ssh-handshake', `${where} does not answer as an SSH server.`, {
    kind: 'unreachable',
    excerpt: readable(error.message, 300),
  });
};

const connectionLost = (where: string, error?: Error & { level?: string }): TsaltError =>
  new TsaltError(
    'connection-lost',
    error?.level === 'client-timeout'
      ? `${where}: the host has not answered for ${((heartbeatsMissed + 1) * heartbeat) / 1000} s.`
      : `${where}: the connection was lost.`,
    { kind: 'unreachable', cause: error },
  );

const channelRefused = (where: string, error: Error): TsaltError =>
  new TsaltError('channel-refused', `${where}: the host refused to run a command.`, {
    kind: 'host',
    excerpt: readable(error.message, 300),
    hint: "Look at the sshd options MaxSessions, ForceCommand and the user's login shell.",
  });

/** Nothing that a program could take for an option, and nothing no name contains. */
const checkWord = (value: string, key: string): void => {
  if (value === '' || /^-|[\s\0-\x1f\x7f]/.test(value))
    throw new TsaltError(
      'roster-value',
      `The ${key} ${JSON.stringify(readable(value, 80))} cannot be right.`,
      { hint: `A ${key} does not start with "-" and has no blanks or control characters.` },
    );
};

const parseHop = (text: string): { host: string; user?: string; port?: number } => {
  const match = /^(?:ssh:\/\/)?(?:([^@\s]+)@)?(\[[^\]\s]+\]|[^:@\s]+)(?::(\d+))?\/?$/.exec(
    text.trim(),
  );
  const host = match?.[2]?.replace(/^\[|\]$/g, '');
  if (!host)
    throw new TsaltError('proxy-jump', `"${readable(text, 80)}" is no jump host.`, {
      hint: 'Write [user@]host[:port], several with commas between.',
    });
  return {
    host,
    ...(match?.[1] === undefined ? {} : { user: match[1] }),
    ...(match?.[3] === undefined ? {} : { port: Number(match[3]) }),
  };
};

const expandHome = (path: string, env: Readonly<Record<string, string | undefined>>): string =>
  path.startsWith('~/') && env.HOME ? env.HOME + path.slice(1) : path;
