import { type ChildProcess, spawn } from 'node:child_process';
import { timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import ssh2 from 'ssh2';

export type EmbeddedServerOptions = {
  /** The "host's" HOME: a scratch directory. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Public keys that may log in, as `type base64` lines; those of HOME's `authorized_keys` may, too. */
  readonly keys?: readonly string[];
  readonly password?: string;
  /** Asks this by keyboard-interactive and expects the password. */
  readonly prompt?: string;
  /** The login shell; it gets `-c command`. */
  readonly shell?: string;
  /** Printed before each command's own output, as a careless .bashrc does. */
  readonly noise?: string | Buffer;
  readonly banner?: string;
  /** Milliseconds each packet of the client waits: a long way off. */
  readonly latency?: number;
  readonly hostKey?: string;
  /** Sees every command. */
  readonly onExec?: (command: string) => void;
};

export type EmbeddedServer = {
  readonly port: number;
  /** `type base64` of the host key. */
  readonly hostKey: string;
  /** The events, for assertions. */
  readonly counts: {
    connections: number;
    channels: number;
    logins: string[];
    /** Bytes that clients sent to commands. */
    bytes: number;
  };
  /** Cuts every connection without a goodbye. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
};

/** A new key pair: the private key as a file's text, the public one as `type base64`. */
export const newKey = (
  type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519',
  passphrase?: string,
): { private: string; public: string } => {
  const options = {
    ...(type === 'rsa' ? { bits: 2048 } : type === 'ecdsa' ? { bits: 256 } : {}),
    ...(passphrase ? { passphrase, cipher: 'aes256-ctr', rounds: 4 } : {}),
  };
  let pair = ssh2.utils.generateKeyPairSync(type, options as never);
  // One in some dozens of ssh2's own keys is one that ssh2 cannot read.
  while (ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)
    pair = ssh2.utils.generateKeyPairSync(type, options as never);
  return { private: pair.private, public: pair.public.split(' ').slice(0, 2).join(' ') };
};

/**
 * An SSH server inside this process, on loopback, that runs commands as the current user: real
 * protocol, real shell, nothing installed. Used by tests and by `npm run demo`.
 */
export const startEmbeddedServer = async (
  options: EmbeddedServerOptions,
): Promise<EmbeddedServer> => {
  mkdirSync(options.home, { recursive: true });
  const key = options.hostKey ?? newKey().private;
  const counts: EmbeddedServer['counts'] = { connections: 0, channels: 0, logins: [], bytes: 0 };
  const children = new Set<ChildProcess>();
  const sockets = new Set<ssh2.Connection>();
  const server = new ssh2.Server(
    { hostKeys: [key], ...(options.banner ? { banner: options.banner } : {}) },
    client => {
      counts.connections += 1;
      sockets.add(client);
      client.on('error', () => undefined);
      client.on('close', () => sockets.delete(client));
      client.on('authentication', context => authenticate(context, options, counts));
      client.on('session', accept => {
        counts.channels += 1;
        const session = accept();
        session.on('pty', acceptPty => acceptPty?.());
        session.on('exec', (acceptExec, _reject, { command }) => {
          options.onExec?.(command);
          const channel = acceptExec();
          if (options.noise) channel.write(options.noise);
          const child = run(command, options);
          children.add(child);
          // As with sshd, the command's process group receives a signal when the client
          // disconnects.
          const hangUp = (): void => {
            child.stdin?.destroy();
            child.stdout?.destroy();
            child.stderr?.destroy();
          };
          session.on('signal', (acceptSignal, _rejectSignal, { name }) => {
            acceptSignal?.();
            if (child.pid) process.kill(-child.pid, `SIG${name}` as NodeJS.Signals);
          });
          channel.on('close', hangUp);
          channel.on('error', () => undefined);
          client.on('close', hangUp);
          child.stdin?.on('error', () => undefined);
          channel.on('data', (chunk: Buffer) => {
            counts.bytes += chunk.length;
          });
          channel.pipe(child.stdin as NodeJS.WritableStream);
          child.stdout?.pipe(channel, { end: false });
          child.stderr?.pipe(channel.stderr, { end: false });
          child.on('close', (code, signal) => {
            children.delete(child);
            if (signal) channel.exit(signal.slice(3), false, '');
            else channel.exit(code ?? 255);
            channel.end();
          });
        });
      });
      client.on('tcpip', (accept, reject, info) => {
        const channel = accept();
        void import('node:net').then(({ connect }) => {
          const socket = connect(info.destPort, info.destIP);
          socket.on('error', () => channel.destroy());
          channel.on('error', () => socket.destroy());
          socket.pipe(channel).pipe(socket);
        });
        void reject;
      });
    },
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    for (const socket of sockets) socket.end();
    for (const child of children) child.kill('SIGKILL');
  };
  const parsed = ssh2.utils.parseKey(key) as ssh2.ParsedKey;
  return {
    port,
    hostKey: `${parsed.type} ${parsed.getPublicSSH().toString('base64')}`,
    counts,
    cut: () => {
      for (const socket of sockets)
        (socket as unknown as { _sock: { destroy(): void } })._sock.destroy();
    },
    close: () =>
      new Promise(resolve => {
        close();
        server.close(() => resolve());
      }),
  };
};

const run = (command: string, { home, env, shell }: EmbeddedServerOptions): ChildProcess =>
  spawn(shell ?? '/bin/sh', ['-c', command], {
    cwd: home,
    detached: true,
    stdio: 'pipe',
    env: {
      PATH: process.env.PATH,
      USER: process.env.USER,
      LANG: 'C.UTF-8',
      HOME: home,
      ...env,
    },
  });

const authenticate = (
  context: ssh2.AuthContext,
  { keys: given = [], home, password, prompt }: EmbeddedServerOptions,
  counts: EmbeddedServer['counts'],
): void => {
  counts.logins.push(context.method);
  const keys = [...given, ...authorizedKeys(home)];
  const methods: ssh2.AuthenticationType[] = [
    ...(keys.length > 0 ? ['publickey' as const] : []),
    ...(password !== undefined && prompt === undefined ? ['password' as const] : []),
    ...(prompt === undefined ? [] : ['keyboard-interactive' as const]),
  ];
  if (context.method === 'keyboard-interactive' && prompt !== undefined)
    context.prompt([{ prompt, echo: false }], answers =>
      same(answers[0] ?? '', password) ? context.accept() : context.reject(methods),
    );
  else if (mayEnter(context, keys, prompt === undefined ? password : undefined)) context.accept();
  else context.reject(methods);
};

const authorizedKeys = (home: string): string[] => {
  const file = `${home}/.ssh/authorized_keys`;
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map(line => line.split(' ').slice(0, 2).join(' '));
};

const mayEnter = (
  context: ssh2.AuthContext,
  keys: readonly string[],
  password: string | undefined,
): boolean => {
  if (context.method === 'password') return same(context.password, password);
  if (context.method === 'publickey') {
    const line = `${context.key.algo.replace(/^rsa-sha2-.*/, 'ssh-rsa')} ${context.key.data.toString('base64')}`;
    const key = keys.includes(line) ? ssh2.utils.parseKey(line) : undefined;
    const isSigned = context.signature !== undefined && context.blob !== undefined;
    return !!key && !(key instanceof Error) && (!isSigned || isGood(key, context));
  }
  return false;
};

const isGood = (key: ssh2.ParsedKey, context: ssh2.PublicKeyAuthContext): boolean =>
  key.verify(
    context.blob ?? Buffer.alloc(0),
    context.signature ?? Buffer.alloc(0),
    context.hashAlgo,
  ) === true;

const same = (given: string, wanted: string | undefined): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted ?? '')];
  return wanted !== undefined && a.length === b.length && timingSafeEqual(a, b);
};
