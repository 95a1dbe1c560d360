import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { writeAtomic } from '../_shared/files/atomic-write.ts';
import { applyPerms } from '../_shared/files/check-perms.ts';
import { homeOf, primaryGid, uidOf } from '../_shared/files/owner-names.ts';
import { restoreContext } from '../_shared/files/selinux.ts';
import { existsSync, lstatSync, mkdirSync, realpathSync } from '../_shared/safe-fs/fs.ts';
import { readOfUser } from '../_shared/safe-fs/open.ts';
import { CommandExecutionError } from '../api.ts';

/** A line of an authorized_keys file. */
export type AuthorizedKey = {
  readonly options: string[];
  readonly enc: string;
  readonly key: string;
  readonly comment: string;
};

const line =
  /^(?:(.*?)\s+)?((?:sk-)?(?:ssh-|ecdsa-|rsa-sha2-)[\w@.-]+)\s+([A-Za-z0-9+/]+={0,3})(?:\s+(.*))?$/;

/** Parses a line; undefined when it does not hold a key. */
export const parseKeyLine = (text: string): AuthorizedKey | undefined => {
  const found = text.trim().match(line);
  if (!found || text.trim().startsWith('#')) return undefined;
  const [, options = '', enc = '', key = '', comment = ''] = found;
  return { options: splitOptions(options), enc, key, comment: comment.trim() };
};

const shortTypes: Readonly<Record<string, string>> = {
  r: 'ssh-rsa',
  rsa: 'ssh-rsa',
  d: 'ssh-dss',
  dsa: 'ssh-dss',
  dss: 'ssh-dss',
  e: 'ecdsa-sha2-nistp256',
  ecdsa: 'ecdsa-sha2-nistp256',
  ed25519: 'ssh-ed25519',
};

/**
 * The type of a key by the names that Salt takes for it: `rsa`, `ed25519` …
 *
 * @throws CommandExecutionError for an unknown type
 */
export const authorizedKeyType = (enc: string): string => {
  const type = Object.hasOwn(shortTypes, enc) ? (shortTypes[enc] ?? enc) : enc;
  if (
    /^(?:sk-)?(?:ssh-(?:rsa|dss|ed25519)|rsa-sha2-\d+|ecdsa-sha2-nistp\d+)(?:-cert-v01)?(?:@openssh\.com)?$/.test(
      type,
    )
  )
    return type;
  throw new CommandExecutionError(`Incorrect encryption key type '${enc}'.`);
};

/** Whether a text can be a key at all: whole groups of base64, as every key of OpenSSH is. */
export const isKeyText = (key: string): boolean =>
  key.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(key);

/** Commas inside quotes do not separate. */
const splitOptions = (text: string): string[] =>
  text.match(/(?:[^,"]|"(?:\\.|[^"\\])*")+/g)?.map(option => option.trim()) ?? [];

export const renderKeyLine = ({ options, enc, key, comment }: AuthorizedKey): string =>
  [options.join(','), enc, key, comment].filter(Boolean).join(' ');

/** The file of a user's keys: `%h`, `%u` and `%%` as sshd reads them, else below the home. */
export const keyFile = (user: string, config = '.ssh/authorized_keys'): string => {
  const home = homeOf(user);
  if (home === undefined || uidOf(user) === undefined)
    throw new CommandExecutionError(`User ${user} does not exist`);
  const path = config.replace(/%[hu%]/g, token =>
    token === '%h' ? home : token === '%u' ? user : '%',
  );
  return isAbsolute(path) ? path : join(home, path);
};

/** The lines of a key file; none where it is missing. */
export const readKeyLines = (path: string): string[] =>
  existsSync(path)
    ? readOfUser(path)
        .toString('utf8')
        .split('\n')
        .filter((text, at, all) => text !== '' || at < all.length - 1)
    : [];

/**
 * Writes a user's key file, with a `.ssh` directory of his own around it. A link in a user's
 * directory could lead anywhere, so root does not follow it.
 */
export const writeKeyLines = (user: string, path: string, lines: readonly string[]): void => {
  const dir = dirname(path);
  const owner = { user, group: primaryGid(user) ?? null };
  if (!existsSync(dir)) {
    mkdirSync(dir, { mode: 0o700, recursive: true });
    applyPerms(dir, { ...owner, mode: '0700' });
  }
  refuseLink(path, user);
  const isNew = !existsSync(path);
  const text = lines.map(each => `${each}\n`).join('');
  const uid = uidOf(user);
  const gid = owner.group ?? undefined;
  writeAtomic(path, text, {
    ...(isNew && { mode: 0o600 }),
    ...(isNew && uid !== undefined && { uid }),
    ...(isNew && gid !== undefined && { gid }),
  });
  restoreContext(path);
};

const refuseLink = (path: string, user: string): void => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink())
    throw new CommandExecutionError(
      `${path} of user ${user} is a symlink to ${realpathSync(path)}: keys are written only to a file`,
    );
};

/** The fingerprint of a key, as `ssh-keygen -l` shows it: colons of hex. */
export const fingerprintOf = (key: string, hashType = 'sha256'): string =>
  (createHash(hashType).update(Buffer.from(key, 'base64')).digest('hex').match(/../g) ?? []).join(
    ':',
  );
