import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SourceLocation } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { makeFolder } from '../trust/make-folder.ts';

type Marker = 'revoked' | 'cert-authority';

/** One usable line of a known_hosts file. */
export type KnownHost = {
  readonly at: SourceLocation;
  readonly marker?: Marker;
  /** Comma-separated patterns, or one hashed name. */
  readonly names: string;
  readonly type: string;
  readonly key: Buffer;
};

/** The result of looking up a host's key in the known hosts. */
export type Verdict =
  | { readonly verdict: 'known'; readonly entry: KnownHost }
  | { readonly verdict: 'unknown'; readonly authority: boolean }
  | { readonly verdict: 'changed'; readonly entry: KnownHost }
  | { readonly verdict: 'revoked'; readonly entry: KnownHost };

export type HostAddress = {
  readonly host: string;
  readonly port: number;
  /** `HostKeyAlias`: the name to look up, unchanged. */
  readonly alias?: string;
};

/**
 * Reads a known_hosts text. Lines that OpenSSH would not use (comments, unknown markers,
 * broken keys) are left out.
 * @see sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"
 */
export const parseKnownHosts = (text: string, file: string): KnownHost[] =>
  text.split('\n').flatMap((line, index) => parseLine(line, { file, line: index + 1 }) ?? []);

/** Reads several files in order; absent ones count as empty. */
export const readKnownHosts = (files: readonly string[]): KnownHost[] =>
  files.flatMap(file => {
    checkTrusted(file, 'The file of known hosts');
    try {
      return parseKnownHosts(readFileSync(file, 'utf8'), file);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  });

/**
 * Checks a key as OpenSSH does: the name is `host`, or `[host]:port` for ports other than 22; a
 * host that is listed only without its port counts as known, never as changed.
 */
export const checkHostKey = (
  entries: readonly KnownHost[],
  address: HostAddress,
  key: Buffer,
): Verdict => {
  const verdict = checkName(entries, lookupName(address), key);
  if (verdict.verdict !== 'unknown' || address.alias !== undefined || address.port === 22)
    return verdict;
  const plain = checkName(entries, address.host.toLowerCase(), key);
  return plain.verdict === 'known' || plain.verdict === 'revoked' ? plain : verdict;
};

/**
 * Returns the known key types of a host, for the order of host key algorithms: a host known by its
 * RSA key must be asked for that one, or its key would seem to have changed.
 */
export const knownKeyTypes = (entries: readonly KnownHost[], address: HostAddress): string[] => {
  const names = [lookupName(address), ...(address.alias ? [] : [address.host.toLowerCase()])];
  for (const name of names) {
    const types = entries
      .filter(entry => entry.marker === undefined && matchesNames(entry.names, name))
      .map(({ type }) => type);
    if (types.length > 0) return [...new Set(types)];
  }
  return [];
};

/** Returns `SHA256:…`, as ssh-keygen shows it. */
export const keyFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** Returns the type in a public key blob; empty if the blob is malformed. */
export const hostKeyType = (key: Buffer): string => {
  if (key.length < 4) return '';
  const length = key.readUInt32BE(0);
  return length > 64 || length + 4 > key.length ? '' : key.toString('latin1', 4, 4 + length);
};

/** Returns the name under which a host's key is stored. */
export const lookupName = ({ host, port, alias }: HostAddress): string => {
  if (alias !== undefined) return alias.toLowerCase();
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
};

/** Adds a line for a new host with one append; a new file is private to this user. */
export const addKnownHost = (file: string, address: HostAddress, key: Buffer): void => {
  checkTrusted(file, 'The file of known hosts');
  makeFolder(dirname(file), 0o700);
  const line = `${lookupName(address)} ${hostKeyType(key)} ${key.toString('base64')}\n`;
  appendFileSync(file, endsInLine(file) ? line : `\n${line}`, { mode: 0o600 });
};

const checkName = (entries: readonly KnownHost[], name: string, key: Buffer): Verdict => {
  const matching = entries.filter(({ names }) => matchesNames(names, name));
  const isKey = (entry: KnownHost): boolean => entry.key.equals(key);
  const revoked = matching.find(entry => entry.marker === 'revoked' && isKey(entry));
  if (revoked) return { verdict: 'revoked', entry: revoked };
  const plain = matching.filter(({ marker }) => marker === undefined);
  const known = plain.find(isKey);
  if (known) return { verdict: 'known', entry: known };
  const [other] = plain;
  if (other) return { verdict: 'changed', entry: other };
  return {
    verdict: 'unknown',
    authority: matching.some(({ marker }) => marker === 'cert-authority'),
  };
};

const parseLine = (line: string, at: SourceLocation): KnownHost | undefined => {
  const words = line.trim().split(/[ \t]+/);
  let marker: Marker | undefined;
  if (words[0]?.startsWith('@')) {
    const word = words.shift();
    if (word !== '@revoked' && word !== '@cert-authority') return;
    marker = word === '@revoked' ? 'revoked' : 'cert-authority';
  }
  const [names = '', type = '', base64 = ''] = words;
  if (names === '' || names.startsWith('#') || base64 === '') return;
  const key = Buffer.from(base64, 'base64');
  if (hostKeyType(key) !== type) return;
  return { at, names, type, key, ...(marker ? { marker } : {}) };
};

/**
 * Whether a list of patterns (or a hashed name) matches this name. A matching negated pattern
 * excludes it.
 */
const matchesNames = (names: string, name: string): boolean => {
  if (names.startsWith('|')) return matchesHashed(names, name);
  let found = false;
  for (const pattern of names.toLowerCase().split(',')) {
    if (pattern.startsWith('!')) {
      if (matchesPattern(pattern.slice(1), name)) return false;
    } else if (!found) found = matchesPattern(pattern, name);
  }
  return found;
};

const matchesHashed = (names: string, name: string): boolean => {
  const [, version, salt = '', hash = '', ...rest] = names.split('|');
  if (version !== '1' || rest.length > 0) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
};

/** Matches `*` and `?` without backtracking, which a hostile file could make expensive. */
const matchesPattern = (pattern: string, text: string): boolean => {
  let at = 0;
  let star = -1;
  let resume = 0;
  let from = 0;
  while (from < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      resume = from;
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[from])) {
      at++;
      from++;
    } else if (star >= 0) {
      at = star + 1;
      from = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
};

const endsInLine = (file: string): boolean => {
  let size = 0;
  try {
    size = statSync(file).size;
  } catch (error) {
    if (isAbsent(error)) return true;
    throw error;
  }
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, last, 0, 1, size - 1);
  } finally {
    closeSync(descriptor);
  }
  return last[0] === 0x0a;
};

const isAbsent = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ENOTDIR');
