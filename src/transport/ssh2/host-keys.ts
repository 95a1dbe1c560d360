import type { ServerHostKeyAlgorithm } from 'ssh2';
import { verifyHostKey } from '../host-key.ts';
import { knownKeyTypes } from '../known-hosts.ts';
import type { TransportOptions } from '../transport.ts';
import type { Route } from './plan.ts';

type Algorithm = ServerHostKeyAlgorithm;

/** Leaves out `ssh-rsa`, which signs with SHA-1: as with OpenSSH, only an ssh option allows it. */
const defaults: readonly Algorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/**
 * Returns the algorithms to offer, changed by the ssh option `HostKeyAlgorithms`. Algorithms of the
 * host's known keys come first, so that the host shows one of these keys.
 */
export const hostKeyAlgorithms = ({ entries, address, given }: Route): Algorithm[] => {
  const { serverHostKey: change } = given.algorithms;
  if (Array.isArray(change)) return change;
  const named = (key: 'append' | 'prepend' | 'remove'): Algorithm[] => [change?.[key] ?? []].flat();
  const removed = named('remove');
  const base = defaults.filter(algorithm => !removed.includes(algorithm));
  const offered = [...new Set([...base, ...named('append')])];
  const types = knownKeyTypes(entries, address);
  const isKnown = (algorithm: Algorithm): boolean =>
    types.includes(algorithm.startsWith('rsa-sha2') ? 'ssh-rsa' : algorithm);
  const [known, unknown] = [offered.filter(isKnown), offered.filter(one => !isKnown(one))];
  return [...named('prepend'), ...known, ...unknown];
};

/** @throws {TsaltError} kind `host-key`: the key is not the host's, or this cannot be decided */
export const verifyKeyOf = (
  { host, address, entries, newKeysFile }: Route,
  key: Buffer,
  { hostKeys, log }: TransportOptions,
): void =>
  verifyHostKey(
    {
      mode: hostKeys ?? 'strict',
      entries,
      newKeysFile,
      pin: host.host_key,
      log,
    },
    address,
    key,
  );
