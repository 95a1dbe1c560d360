import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

const programs = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'];
const program = programs.find(path => existsSync(path));

/** Can a real sshd be started here? */
export const hasSshd = program !== undefined;

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
  const port = await freePort();
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
  let text = '';
  const [command = program, ...args] = [
    ...under,
    program,
    '-D',
    '-e',
    '-f',
    join(dir, 'sshd_config'),
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr?.on('data', chunk => {
    text += String(chunk);
  });
  await answers(port, child, () => text);
  return {
    port,
    user: username,
    key,
    hostKeys,
    log: () => text,
    pid: child.pid ?? 0,
    close: () =>
      new Promise(resolve => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  };
};

export const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

export const answers = async (
  port: number,
  child: ChildProcess,
  log: () => string,
): Promise<void> => {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) break;
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`sshd does not answer: ${log()}`);
};
