import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParsedKey } from 'ssh2';
import { program } from '../loader/programs.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { shCommand } from './shell.ts';
import type { AskSecret, Connection, ConnectOptions, Transport } from './transport.ts';
import { readable } from './unreachable.ts';

export type KeyDeployOptions = {
  readonly transport: Transport;
  readonly host: Host;
  /** Asks for the login password if the roster has none. */
  readonly ask: AskSecret;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connect?: ConnectOptions;
  readonly log?: (message: string) => void;
};

/**
 * `--key-deploy`: logs in with the key. If that is refused, logs in with the password and writes
 * the public key into the user's `authorized_keys`. The host's key is verified before any password
 * is asked for.
 * @returns a connection that was authenticated with the key
 * @throws {TsaltError} as `connect`, and `key-deploy` if the host does not accept the key
 */
export const connectDeployingKey = async (options: KeyDeployOptions): Promise<Connection> => {
  const { transport, host, connect: rest, log } = options;
  const byKey = (): Promise<Connection> => transport.connect(host, { ...rest, keysOnly: true });
  try {
    return await byKey();
  } catch (error) {
    if (!(error instanceof TsaltError) || error.code !== 'auth-refused') throw error;
  }
  const key = await publicKey(options);
  const passwd = host.passwd ?? (await askPassword(options));
  const connection = await transport.connect({ ...host, passwd }, rest);
  try {
    await authorize(connection, key);
  } finally {
    connection.close();
  }
  log?.(`${host.id}: the public key was added to authorized_keys of ${host.user}`);
  return await byKey();
};

const askPassword = ({ host, ask }: KeyDeployOptions): Promise<Secret> =>
  ask({
    host: host.id,
    what: 'password',
    prompt: `Password of ${host.user}@${host.id}, to deploy the key: `,
  });

const authorize = async (connection: Connection, key: string): Promise<void> => {
  const channel = await connection.exec(shCommand(program('authorize-key'), []));
  let output = '';
  for (const stream of [channel.stdout, channel.stderr]) {
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4000);
    });
  }
  channel.stdin.on('error', () => undefined);
  channel.stdin.end(`${key}\n`);
  const { code } = await channel.exited;
  if (code === 0) return;
  const { id } = connection.host;
  throw new TsaltError('key-deploy', `${id}: the host does not take the public key.`, {
    kind: 'auth',
    excerpt: readable(output),
  });
};

/**
 * Returns the line for `authorized_keys`: from the public key file, or derived from the private
 * key.
 */
const publicKey = async ({ host, env }: KeyDeployOptions): Promise<string> => {
  const { priv } = host;
  const home = env.HOME ?? '';
  const files =
    priv === undefined || priv === 'agent-forwarding'
      ? ['id_ed25519', 'id_ecdsa', 'id_rsa'].map(name => join(home, '.ssh', name))
      : [priv.startsWith('~/') ? home + priv.slice(1) : priv];
  for (const file of files) {
    const line = (await readText(`${file}.pub`)) ?? (await derived(file, host.priv_passwd));
    if (line !== undefined && /^[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( [ -~]*)?$/.test(line)) return line;
  }
  throw new TsaltError('key-deploy', `${host.id}: there is no public key to deploy.`, {
    kind: 'auth',
    hint: `Looked for ${files.map(file => `${file}.pub`).join(', ')}; ssh-keygen makes a pair.`,
  });
};

const readText = async (file: string): Promise<string | undefined> =>
  await readFile(file, 'utf8').then(
    text => text.split('\n')[0]?.trim(),
    () => undefined,
  );

const derived = async (file: string, passphrase?: Secret): Promise<string | undefined> => {
  const data = await readFile(file).catch(() => undefined);
  if (data === undefined) return;
  const { default: ssh2 } = await import('ssh2');
  const key = ssh2.utils.parseKey(data, passphrase?.reveal()) as ParsedKey | Error;
  return key instanceof Error ? undefined : `${key.type} ${key.getPublicSSH().toString('base64')}`;
};
