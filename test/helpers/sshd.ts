import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

const programs = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'];
const program = programs.find(path => existsSync(path));

/** Can a real sshd be started here? */
export const hasSshd = program !== undefined;

/**
 * Can this sshd give its logins a terminal? It makes each terminal one of the group `tty`, which only
 * root may do where the file system of terminals does not (`gid=` of devpts).
 */
export const givesTerminals = (): boolean => {
  if (userInfo().uid === 0 || !existsSync('/proc/self/mounts')) return true;
  const mounts = readFileSync('/proc/self/mounts', 'utf8');
  return !/^\S+ \/dev\/pts devpts (?!\S*\bgid=)/m.test(mounts);
};

export type SshdOptions = {
  /** A folder for keys and configuration. */
  readonly dir: string;
  /** Further lines of sshd_config. */
  readonly config?: readonly string[];
  readonly hostKeyTypes?: readonly ('ed25519' | 'rsa' | 'ecdsa')[];
  /** A program to start it with, as `unshare` with its arguments. */
  readonly under?: readonly string[];
};

export type Sshd = {
  readonly port: number;
  readonly user: string;
  /** Private key that may log in. */
  readonly key: string;
  /** Public host keys as `type base64`. */
  readonly hostKeys: readonly string[];
  readonly log: () => string;
  readonly pid: number;
  readonly close: () => Promise<void>;
};

/** A real OpenSSH sshd on loopback, for the user who runs the tests (root or not). */
export const startSshd = async (options: SshdOptions): Promise<Sshd> => {
  if (!program) throw new Error('no sshd here');
  const { dir, config = [], hostKeyTypes = ['ed25519'], under = [] } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { username, uid } = userInfo();
  if (uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const keygen = (type: string, file: string): string => {
    if (!existsSync(file)) execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', file]);
    return readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim();
  };
  const key = join(dir, 'user_key');
  writeFileSync(join(dir, 'authorized_keys'), `${keygen('ed25519', key)}\n`, { mode: 0o600 });
  const hostKeys = hostKeyTypes.map(type => keygen(type, join(dir, `host_${type}`)));
  const configure = (port: number): void =>
    writeFileSync(
      join(dir, 'sshd_config'),
      [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        ...hostKeyTypes.map(type => `HostKey ${join(dir, `host_${type}`)}`),
        `AuthorizedKeysFile ${join(dir, 'authorized_keys')}`,
        `PidFile ${join(dir, 'sshd.pid')}`,
        'StrictModes no',
        'UsePAM no',
        'UseDNS no',
        'PermitRootLogin yes',
        'PasswordAuthentication no',
        'MaxStartups 500',
        ...config,
        '',
      ].join('\n'),
    );
  const [command = program, ...args] = [
    ...under,
    program,
    '-D',
    '-e',
    '-f',
    join(dir, 'sshd_config'),
  ];
  const { port, child, log, close } = await listen(port => {
    configure(port);
    return spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  });
  return { port, user: username, key, hostKeys, log, pid: child.pid ?? 0, close };
};

export const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

type Listening = {
  readonly port: number;
  readonly child: ChildProcess;
  readonly log: () => string;
  readonly close: () => Promise<void>;
};

/**
 * Starts an SSH server on a free port and waits until it answers. Between our look for a port and
 * its own bind another program may take that port: then it is started on another one.
 */
export const listen = async (start: (port: number) => ChildProcess): Promise<Listening> => {
  for (let ports = 1; ; ports += 1) {
    const port = await freePort();
    const child = start(port);
    let text = '';
    child.stderr?.on('data', chunk => {
      text += String(chunk);
    });
    const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
    const log = (): string => text;
    const close = async (): Promise<void> => {
      child.kill();
      await exited;
    };
    if (await answers(port, child)) return { port, child, log, close };
    await close();
    if (ports === 5 || !/address already in use/i.test(text))
      throw new Error(`The SSH server does not answer: ${text}`);
  }
};

const answers = async (port: number, child: ChildProcess): Promise<boolean> => {
  for (const end = Date.now() + 50_000; child.exitCode === null && Date.now() < end; ) {
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
    });
    // The response may come from the program that took the port.
    if (open && child.exitCode === null) return true;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  return false;
};
