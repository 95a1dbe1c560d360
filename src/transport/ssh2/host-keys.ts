import { verifyHostKey } from '../host-key.ts';
import { knownKeyTypes } from '../known-hosts.ts';
import type { TransportOptions } from '../transport.ts';
import type { Route } from './plan.ts';

const algorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
  'ssh-rsa',
] as const;

type HostKeyAlgorithm = (typeof algorithms)[number];

/** Algorithms to offer: first those whose keys are known of the host, so that it shows one of them. */
export const hostKeyAlgorithms = ({ entries, address }: Route): HostKeyAlgorithm[] => {
  const types = knownKeyTypes(entries, address);
  const isKnown = (algorithm: string): boolean =>
    types.includes(algorithm.startsWith('rsa-sha2') ? 'ssh-rsa' : algorithm);
  return [...algorithms.filter(isKnown), ...algorithms.filter(algorithm => !isKnown(algorithm))];
};

/** @throws {TsaltError} kind `host-key`: the key is not the host's, or nobody can tell */
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
