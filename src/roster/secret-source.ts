import { keyLocation } from '../data/values/read.ts';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import { Secret } from '../protocol/host.ts';
import { secretRosterKeys } from './keys.ts';
import type { Layer, SecretKey, SecretSource } from './roster.ts';

/** Reads secrets from the first layer that has them: the values, or where to find them. */
export const readSecrets = (
  layers: readonly Layer[],
): {
  readonly secrets: Partial<Record<SecretKey, SecretSource>>;
  readonly known: Partial<Record<SecretKey, Secret>>;
} => {
  const secrets: Partial<Record<SecretKey, SecretSource>> = {};
  const known: Partial<Record<SecretKey, Secret>> = {};
  for (const key of secretRosterKeys) {
    const source = layers.find(({ dict }) => (dict.get(key) ?? null) !== null);
    if (source === undefined) continue;
    const value = source.dict.get(key) ?? null;
    const at = keyLocation(source.file, source.dict, key);
    const node = sourceOf(key, value, at);
    if (node !== undefined) secrets[key] = { node, file: source.file, at };
    else known[key] = new Secret(secretText(key, value, at));
  }
  return { secrets, known };
};

const secretText = (key: string, value: Data, at: SourceLocation): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return String(value);
  throw badSecret(key, at);
};

/** Returns how to fetch the secret; undefined if it is the value itself. */
const sourceOf = (key: string, value: Data, at: SourceLocation): Dict | undefined => {
  if (typeof value === 'string' && value.startsWith('sdb://')) return new Map([['sdb', value]]);
  return isDict(value) ? checkSource(key, value, at) : undefined;
};

const ways = ['env', 'file', 'fd', 'command', 'prompt'];

const checkSource = (key: string, node: Dict, at: SourceLocation): Dict => {
  const [name] = node.keys();
  if (node.size === 1 && ways.includes(String(name))) return node;
  throw badSecret(key, at);
};

const badSecret = (key: string, at: SourceLocation): TsaltError =>
  new TsaltError(
    'roster-secret',
    `The value of '${key}' must be text or one of {env: NAME}, {file: PATH}, {fd: NUMBER}, {command: [PROGRAM, ARGUMENT]}, {prompt: true}, or an address sdb://PROFILE/KEY.`,
    { at },
  );
