import { basename, isAbsolute, join } from 'node:path';
import { readAccounts } from '../../../_shared/commands/accounts.ts';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { readNames, readOr } from '../../../_shared/files/read-file.ts';
import { existsSync, readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import { keyFile } from '../../authorized-keys.ts';

/**
 * The keys of this host's sshd, by type: `rsa.pub`, `ed25519.pub` …
 *
 * @param keydir where they are
 * @param private true: the private keys, too; Salt always returns them
 * @param certs false: without certificates
 *
 * @example tsalt-ssh '*' ssh.host_keys
 */
export const host_keys = async (
  keydir = '/etc/ssh',
  { private: withPrivate = false, certs = true }: { private?: boolean; certs?: boolean } = {},
): Promise<Record<string, string>> =>
  Object.fromEntries(
    readNames(keydir).flatMap(name => {
      const [, type, isCertificate, isPublic] =
        name.match(/^ssh_host_(.+?)_key(-cert)?(\.pub)?$/) ?? [];
      if (type === undefined || (!isPublic && !withPrivate) || (isCertificate && !certs)) return [];
      const key = `${type}${isCertificate ?? ''}${isPublic ?? ''}`;
      return [[key, (readOr(join(keydir, name)) ?? '').trim()]];
    }),
  );

const keyNames = ['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'];

/**
 * The keys that users have in their `.ssh`, by user and file.
 *
 * @param user a user, or a list; all when left out
 * @param pubfile the file of the public key; false for none
 * @param prvfile the file of the private key. Salt always returns those with the usual names; here
 *   they must be named
 *
 * @example tsalt-ssh '*' ssh.user_keys deploy
 */
export const user_keys = async (
  user: string | string[] | null = null,
  {
    pubfile = null,
    prvfile = null,
  }: { pubfile?: string | false | null; prvfile?: string | false | null } = {},
): Promise<Record<string, Record<string, string>>> => {
  const wanted = user === null ? undefined : [user].flat();
  const files = [
    ...(pubfile === false ? [] : pubfile ? [pubfile] : keyNames.map(name => `${name}.pub`)),
    ...(prvfile ? [prvfile] : []),
  ];
  const found: Record<string, Record<string, string>> = {};
  for (const { name, home } of await readAccounts()) {
    if (wanted && !wanted.includes(name)) continue;
    const keys = files.flatMap(file => {
      const text = readOr(isAbsolute(file) ? file : join(home, '.ssh', file));
      return text === undefined ? [] : [[isAbsolute(file) ? basename(file) : file, text.trim()]];
    });
    if (keys.length > 0) found[name] = Object.fromEntries(keys);
  }
  return found;
};

/**
 * Replaces the names of hosts in a file of known hosts by their hashes. The file as it was stays
 * beside it as `.old`.
 *
 * @param user the user with the file
 * @param config the file; an absolute path without a user
 *
 * @example tsalt-ssh '*' ssh.hash_known_hosts deploy
 */
export const hash_known_hosts = async (
  user: string | null = null,
  config: string | null = null,
): Promise<PlainDict> => {
  if (!user && !(config && isAbsolute(config)))
    throw new CommandExecutionError('If not specifying a "user", specify an absolute "config".');
  const path = user ? keyFile(user, config ?? '.ssh/known_hosts') : (config ?? '');
  if (!existsSync(path))
    return { status: 'error', error: `Known hosts file ${path} does not exist` };
  const { code, stdout, stderr } = await runCommand(['ssh-keygen', '-H', '-f', path], {
    plainLocale: true,
    runas: user && process.geteuid?.() === 0 ? user : undefined,
  });
  if (code !== 0) throw new CommandExecutionError(`ssh-keygen: ${stderr.trim()}`);
  return { status: 'updated', comment: `${stdout}${stderr}`.trim() };
};

/**
 * Whether a private key wants a passphrase.
 *
 * @param key its file
 *
 * @example tsalt-ssh '*' ssh.key_is_encrypted /root/.ssh/id_ed25519
 */
export const key_is_encrypted = async (key: string): Promise<boolean> => {
  let text: string;
  try {
    text = readFileSync(key, 'utf8');
  } catch (cause) {
    throw new CommandExecutionError(`The key ${key} cannot be read.`, { cause });
  }
  if (/^(?:Proc-Type: 4,ENCRYPTED|-----BEGIN ENCRYPTED PRIVATE KEY-----)/m.test(text)) return true;
  const own = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text)?.[1];
  if (own === undefined) {
    if (/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text)) return false;
    throw new CommandExecutionError(`${key} is not a private key`);
  }
  // "openssh-key-v1\0", then the name of the cipher with its length before it.
  const bytes = Buffer.from(own, 'base64');
  const length = bytes.readUInt32BE(15);
  return bytes.toString('latin1', 19, 19 + length) !== 'none';
};
