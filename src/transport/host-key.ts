import { createHash } from 'node:crypto';
import { messageOf, showLocation, TsaltError } from '../protocol/error.ts';
import {
  addKnownHost,
  checkHostKey,
  type HostAddress,
  hostKeyType,
  type KnownHost,
  keyFingerprint,
  lookupName,
} from './known-hosts.ts';
import type { HostKeyMode } from './transport.ts';

export type HostKeyRules = {
  readonly mode: HostKeyMode;
  /**
   * The known keys. A newly accepted key is added, so that the run accepts no other one after it.
   */
  readonly entries: KnownHost[];
  /** Where a newly accepted key is written; absent: nowhere. */
  readonly newKeysFile: string | undefined;
  /** The roster's `host_key`, which overrides all files. */
  readonly pin?: string | undefined;
  readonly log?: ((message: string) => void) | undefined;
};

/**
 * Checks a host's key before anything is sent to the host.
 * @throws {TsaltError} kind `host-key`: unknown, changed, revoked, or not the pinned one
 */
export const verifyHostKey = (rules: HostKeyRules, address: HostAddress, key: Buffer): void => {
  const name = lookupName(address);
  const shown = `${hostKeyType(key) || 'unknown type'} ${keyFingerprint(key)}`;
  if (rules.pin !== undefined) {
    if (!isPinned(rules.pin, key)) throw pinned(name, shown);
    return;
  }
  const verdict = checkHostKey(rules.entries, address, key);
  switch (verdict.verdict) {
    case 'known':
      return;
    case 'revoked':
      throw new TsaltError('host-key-revoked', `The key of ${name} is revoked: ${shown}.`, {
        kind: 'host-key',
        at: verdict.entry.at,
      });
    case 'changed':
      throw new TsaltError(
        'host-key-changed',
        `The key of ${name} has changed: it shows ${shown}.`,
        {
          kind: 'host-key',
          at: verdict.entry.at,
          hint: `Someone may intercept the connection. If the host was really reinstalled, remove its old key: ssh-keygen -R '${name}' (${showLocation(verdict.entry.at)}).`,
        },
      );
    case 'unknown':
      if (rules.mode === 'strict') throw unknown(name, shown, verdict.authority);
      if (rules.mode === 'accept-new') accept(rules, address, key);
      else rules.log?.(`${name}: host key ${shown} was not checked`);
  }
};

const accept = (
  { newKeysFile, entries, log }: HostKeyRules,
  address: HostAddress,
  key: Buffer,
): void => {
  const name = lookupName(address);
  const file = newKeysFile ?? 'no file';
  try {
    if (newKeysFile !== undefined) addKnownHost(newKeysFile, address, key);
  } catch (cause) {
    throw new TsaltError(
      'known-hosts-write',
      `The key of ${name} cannot be written to ${file}: ${messageOf(cause)}.`,
      {
        kind: 'host-key',
        hint: 'Name a file that can be written by known_hosts_file in tsalt.yaml.',
        cause,
      },
    );
  }
  entries.push({ at: { file }, names: name, type: hostKeyType(key), key });
  log?.(`${name}: new host key ${hostKeyType(key)} ${keyFingerprint(key)} written to ${file}`);
};

const isPinned = (pin: string, key: Buffer): boolean => {
  const text = pin.trim();
  if (text.startsWith('SHA256:')) return text.replace(/=+$/, '') === keyFingerprint(key);
  if (text.startsWith('MD5:')) {
    const md5 = createHash('md5').update(key).digest('hex').match(/../g)?.join(':');
    return text.slice(4).toLowerCase() === md5;
  }
  const words = text.split(/\s+/);
  return words.some(word => word.length > 32 && Buffer.from(word, 'base64').equals(key));
};

const pinned = (name: string, shown: string): TsaltError =>
  new TsaltError('host-key-pin', `The key of ${name} is not the pinned one: it shows ${shown}.`, {
    kind: 'host-key',
    hint: 'The roster entry pins the key by host_key. Compare with the host itself before changing it.',
  });

const unknown = (name: string, shown: string, authority: boolean): TsaltError =>
  new TsaltError('host-key-unknown', `The key of ${name} is not known: it shows ${shown}.`, {
    kind: 'host-key',
    hint: authority
      ? 'known_hosts has a certificate authority for it, which transport ssh2 cannot check: use --transport openssh.'
      : 'Compare the fingerprint with the host itself, then use --accept-new-host-keys once, or pin it in the roster by host_key.',
  });
