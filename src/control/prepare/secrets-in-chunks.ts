import { hasKnownSecret } from '../../data/known-secrets.ts';
import { isSecretName } from '../../data/secret-names.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';

/** Whether a value is a reference to a secret, or empty. */
const isReference = (text: string): boolean =>
  text === '' || /^(?:sdb:\/\/|__slot__:|[!*]|\*+$|x$)/.test(text);

/** Shorter values occur in other strings by chance. */
const shortest = 6;

/**
 * Finds chunks that contain secrets: chunks with `no_log`, arguments with the name of a secret, and
 * strings that contain a decrypted value, a value of a secret store, or a pillar value with the
 * name of a secret.
 *
 * @returns where they are, without their values
 */
export const secretsIn = (chunks: readonly LowChunk[], pillar: Dict): readonly string[] => {
  const secrets = namedInPillar(pillar);
  const isSecret = (text: string): boolean =>
    hasKnownSecret(text) || secrets.some(secret => text.includes(secret));
  return chunks.flatMap(chunk => {
    const where = `ID '${chunk.__id__}' (${chunk.state}.${chunk.fun})`;
    if (chunk.no_log === true) return [`${where} has no_log`];
    const argument = Object.keys(chunk).find(
      key => !key.startsWith('__') && holdsSecret(key, chunk[key] ?? null, isSecret),
    );
    return argument === undefined ? [] : [`${where}, argument '${argument}'`];
  });
};

/** Whether a value, or one inside it, has the name of a secret or contains one. */
export const holdsSecret = (
  name: string,
  value: Plain,
  isSecret: (text: string) => boolean,
): boolean => {
  if (typeof value === 'string') return isSecret(value) || isNamed(name, value);
  if (typeof value === 'number') return isSecretName(name);
  if (Array.isArray(value)) return value.some(item => holdsSecret(name, item, isSecret));
  return (
    isPlainDict(value) &&
    Object.entries(value).some(([key, item]) => holdsSecret(key, item, isSecret))
  );
};

const isNamed = (name: string, value: string): boolean => isSecretName(name) && !isReference(value);

/** The strings of the pillar whose keys are names of secrets. */
const namedInPillar = (pillar: Dict): readonly string[] => {
  const found = new Set<string>();
  const look = (name: string, value: Data): void => {
    if (typeof value === 'string') {
      if (isSecretName(name) && value.length >= shortest && !isReference(value)) found.add(value);
    } else if (Array.isArray(value)) for (const item of value) look(name, item);
    else if (isDict(value)) for (const [key, item] of value) look(String(key), item);
  };
  look('', pillar);
  return [...found];
};
