import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { SaltInvocationError } from '../api.ts';

/** How a password is kept: true and `md5` are MD5, false is as it is. */
export type Encryption = boolean | string;

const scram = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/;

const isHashed = (password: string): boolean =>
  /^md5[0-9a-f]{32}$/.test(password) || scram.test(password);

/** A role's password as the server keeps it (RFC 5803 for SCRAM). */
export const hashedPassword = (role: string, password: string, encryption: Encryption): string => {
  if (encryption === false || isHashed(password)) return password;
  if (encryption === true || encryption === 'md5') return md5(role, password);
  if (encryption === 'scram-sha-256')
    return scramOf(password, randomBytes(16).toString('base64'), 4096);
  throw new SaltInvocationError(
    `Not a way to keep passwords: ${encryption}. Write true, false, md5 or scram-sha-256.`,
  );
};

/** Whether the hash that the server keeps matches a password. */
export const passwordFits = (
  role: string,
  password: string,
  kept: string,
  encryption: Encryption,
): boolean => {
  if (isHashed(password)) return same(password, kept);
  const parts = scram.exec(kept);
  // As it is: then it is the server that has chosen how to keep it.
  if (encryption === 'scram-sha-256' || (encryption === false && parts !== null))
    return parts !== null && same(kept, scramOf(password, String(parts[2]), Number(parts[1])));
  return same(kept, md5(role, password)) || (encryption === false && same(kept, password));
};

const md5 = (role: string, password: string): string =>
  `md5${createHash('md5').update(`${password}${role}`).digest('hex')}`;

const scramOf = (password: string, salt: string, iterations: number): string => {
  const salted = pbkdf2Sync(
    password.normalize('NFKC'),
    Buffer.from(salt, 'base64'),
    iterations,
    32,
    'sha256',
  );
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt}$${stored}:${hmac('Server Key').toString('base64')}`;
};

const same = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
