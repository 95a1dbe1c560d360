import { isAbsolute } from 'node:path';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { refuseNewlines } from '../../../_shared/text/one-line.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { fingerprintOf, keyFile, readKeyLines, writeKeyLines } from '../../authorized-keys.ts';
import { hasFingerprint, hostPattern, keyForHost, knownHostLine } from '../../known-hosts.ts';

type HostOptions = {
  /** the file */
  config?: string | null;
  /** its port, when it is not 22 */
  port?: number | null;
};

const knownFile = (user: string | null, config: string | null): string => {
  if (user) return keyFile(user, config ?? '.ssh/known_hosts');
  const path = config ?? '/etc/ssh/ssh_known_hosts';
  if (!isAbsolute(path))
    throw new CommandExecutionError('If not specifying a "user", specify an absolute "config".');
  return path;
};

type KnownHost = { hostname: string; enc: string; key: string; fingerprint: string };

/**
 * The keys of a host that are known.
 *
 * @param user the user with the file; the system's file when empty
 * @param hostname the host
 * @param fingerprint_hash_type `sha256` or `md5`
 *
 * @example tsalt-ssh '*' ssh.get_known_host_entries root github.com
 */
export const get_known_host_entries = async (
  user: string | null,
  hostname: string,
  {
    config = null,
    port = null,
    fingerprint_hash_type = null,
  }: HostOptions & { fingerprint_hash_type?: string | null } = {},
): Promise<KnownHost[] | null> => {
  const pattern = hostPattern(hostname, port);
  const found = readKeyLines(knownFile(user, config)).flatMap(
    line => keyForHost(line, pattern) ?? [],
  );
  return found.length === 0
    ? null
    : found.map(({ enc, key }) => ({
        hostname,
        enc,
        key,
        fingerprint: fingerprintOf(key, fingerprint_hash_type ?? 'sha256'),
      }));
};

/**
 * The keys that a host shows, by `ssh-keyscan`.
 *
 * @param hostname the host
 * @param enc only keys of this type
 * @param port its port
 * @param hash_known_hosts has no effect: hashes are made where a key is written
 * @param timeout seconds
 * @param fingerprint_hash_type `sha256` or `md5`
 *
 * @example tsalt-ssh '*' ssh.recv_known_host_entries github.com enc=ed25519
 */
export const recv_known_host_entries = async (
  hostname: string,
  {
    enc = null,
    port = null,
    hash_known_hosts: _hash = true,
    timeout = 5,
    fingerprint_hash_type = null,
  }: {
    enc?: string | null;
    port?: number | null;
    hash_known_hosts?: boolean;
    timeout?: number;
    fingerprint_hash_type?: string | null;
  } = {},
): Promise<KnownHost[] | null> => {
  if (!/^[\w.:%-]+$/.test(hostname) || hostname.startsWith('-'))
    throw new SaltInvocationError(`${hostname} is no host name`);
  const type = enc ? ['-t', enc.replace(/^ssh-/, '').replace(/^ecdsa-.*/, 'ecdsa')] : [];
  const where = port ? ['-p', String(Number(port))] : [];
  const { stdout } = await runCommand(
    ['ssh-keyscan', ...where, ...type, '-T', String(timeout), hostname],
    { plainLocale: true },
  );
  const found = stdout.split('\n').flatMap(line => {
    const [, type_, key] = line.startsWith('#') ? [] : line.trim().split(/\s+/);
    return type_ && key
      ? [
          {
            hostname,
            enc: type_,
            key,
            fingerprint: fingerprintOf(key, fingerprint_hash_type ?? 'sha256'),
          },
        ]
      : [];
  });
  return found.length === 0 ? null : found;
};

type CheckOptions = HostOptions & {
  key?: string | null;
  fingerprint?: string | null;
  /** `sha256` or `md5` */
  fingerprint_hash_type?: string | null;
};

/**
 * Returns what setting a known host would do: `add`, `update` or `exists`.
 *
 * @param user the user with the file; the system's file when empty
 * @param hostname the host
 * @param key the key it must have
 * @param fingerprint the fingerprint its key must have
 * @example tsalt-ssh '*' ssh.check_known_host root github.com
 */
export const check_known_host = async (
  user: string | null,
  hostname: string,
  {
    key = null,
    fingerprint = null,
    config = null,
    port = null,
    fingerprint_hash_type = null,
  }: CheckOptions = {},
): Promise<'add' | 'update' | 'exists'> => {
  const known = await get_known_host_entries(user, hostname, { config, port });
  if (!known) return 'add';
  if (key) return known.some(each => each.key === key) ? 'exists' : 'update';
  if (!fingerprint) return 'exists';
  const type = fingerprint_hash_type ?? 'sha256';
  return known.some(each => hasFingerprint(each.key, fingerprint, type)) ? 'exists' : 'update';
};

/**
 * Makes a host known, by its key, or by a fingerprint that the key it shows must have.
 *
 * @param user the user with the file; the system's file when empty
 * @param hostname the host
 * @param fingerprint the fingerprint
 * @param key the key
 * @param enc type of the key
 * @param hash_known_hosts hide the host's name in the file
 * @param timeout seconds to wait for the host
 * @example tsalt-ssh '*' ssh.set_known_host root github.com fingerprint=SHA256:…
 */
export const set_known_host = async (
  user: string | null,
  hostname: string,
  {
    fingerprint = null,
    key = null,
    port = null,
    enc = null,
    config = null,
    hash_known_hosts = true,
    timeout = 5,
    fingerprint_hash_type = null,
  }: CheckOptions & { enc?: string | null; hash_known_hosts?: boolean; timeout?: number } = {},
): Promise<{
  status: string;
  error?: string;
  old?: KnownHost[] | null;
  new?: KnownHost[] | null;
}> => {
  const failure = (error: string): { status: string; error: string } => ({
    status: 'error',
    error,
  });
  refuseNewlines({ name: hostname, key, enc });
  if (key && fingerprint) return failure('Specify either "key" or "fingerprint", not both.');
  if (key && !enc) return failure('Required argument "enc" if using "key" argument.');
  const place = { config, port };
  const options = { key, fingerprint, fingerprint_hash_type, ...place };
  if ((await check_known_host(user, hostname, options)) === 'exists') return { status: 'exists' };
  const old = await get_known_host_entries(user, hostname, place);
  let keys: { enc: string; key: string }[];
  if (key && enc) keys = [{ enc, key }];
  else {
    const shown = await recv_known_host_entries(hostname, { enc, port, timeout });
    if (!shown) return failure('Unable to receive remote host keys');
    const type = fingerprint_hash_type ?? 'sha256';
    keys = fingerprint ? shown.filter(each => hasFingerprint(each.key, fingerprint, type)) : shown;
    if (keys.length === 0)
      return failure(
        `Remote host public keys found but none of their fingerprints match the one you have provided`,
      );
  }
  const pattern = hostPattern(hostname, port);
  const path = knownFile(user, config);
  const kept = readKeyLines(path).filter(line => !keyForHost(line, pattern));
  const added = keys.map(each => knownHostLine(pattern, each, hash_known_hosts));
  writeHosts(user, path, [...kept, ...added]);
  return { status: 'updated', old, new: await get_known_host_entries(user, hostname, place) };
};

/**
 * Makes a host unknown.
 *
 * @param user the user with the file; the system's file when empty
 * @param hostname the host
 * @example tsalt-ssh '*' ssh.rm_known_host root github.com
 */
export const rm_known_host = async (
  user: string | null,
  hostname: string,
  { config = null, port = null }: HostOptions = {},
): Promise<{ status: string; comment?: string; error?: string }> => {
  const pattern = hostPattern(hostname, port);
  const path = knownFile(user, config);
  if (!existsSync(path))
    return { status: 'error', error: `Known hosts file ${path} does not exist` };
  writeHosts(
    user,
    path,
    readKeyLines(path).filter(line => !keyForHost(line, pattern)),
  );
  return { status: 'removed', comment: `Host ${hostname} was removed from ${path}` };
};

const writeHosts = (user: string | null, path: string, lines: string[]): void => {
  if (user) writeKeyLines(user, path, lines);
  else writeAtomic(path, lines.map(line => `${line}\n`).join(''));
};
