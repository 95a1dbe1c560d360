import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { fingerprintOf } from './authorized-keys.ts';

export type HostKey = { readonly enc: string; readonly key: string };

/** The name of a host in known_hosts: with its port when that is not 22. */
export const hostPattern = (hostname: string, port: number | null): string =>
  port === null || port === 22 ? hostname : `[${hostname}]:${port}`;

/** The key of a line of known_hosts, when the line is about this host. */
export const keyForHost = (line: string, pattern: string): HostKey | undefined => {
  const [names = '', enc, key] = line.trim().split(/\s+/);
  if (names.startsWith('#') || names.startsWith('@') || !enc || !key) return undefined;
  return names.split(',').some(name => isName(name, pattern)) ? { enc, key } : undefined;
};

const isName = (name: string, pattern: string): boolean => {
  const [, salt, hash] = name.match(/^\|1\|([^|]+)\|(.+)$/) ?? [];
  if (salt === undefined || hash === undefined) return name === pattern;
  const expected = hashOf(pattern, Buffer.from(salt, 'base64'));
  const given = Buffer.from(hash, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
};

const hashOf = (pattern: string, salt: Buffer): Buffer =>
  createHmac('sha1', salt).update(pattern).digest();

export const knownHostLine = (pattern: string, { enc, key }: HostKey, hashed: boolean): string => {
  const salt = randomBytes(20);
  const name = hashed
    ? `|1|${salt.toString('base64')}|${hashOf(pattern, salt).toString('base64')}`
    : pattern;
  return `${name} ${enc} ${key}`;
};

/** Whether a key has a fingerprint, as colons of hex or as `SHA256:…`. */
export const hasFingerprint = (key: string, fingerprint: string, hashType: string): boolean => {
  const [, type, base64] = fingerprint.match(/^(SHA256|SHA512|SHA1):([A-Za-z0-9+/=]+)$/) ?? [];
  if (type !== undefined && base64 !== undefined)
    return digest(key, type.toLowerCase()) === base64.replace(/=+$/, '');
  const bare = fingerprint.replace(/^MD5:/i, '').toLowerCase();
  return fingerprintOf(key, bare.length === 47 ? 'md5' : hashType) === bare;
};

const digest = (key: string, type: string): string =>
  createHash(type).update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '');
