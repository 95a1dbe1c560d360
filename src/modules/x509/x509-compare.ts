import { messageOf } from '../../protocol/error.ts';
import { failed, would } from '../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { type Certificate, digestOf } from './x509-certificate.ts';
import type { Encoded } from './x509-encodings.ts';
import { NoSuchFileError } from './x509-keys.ts';
import { readName } from './x509-names.ts';
import { showExtensions } from './x509-show.ts';

/** Another encoding than the wanted one, where a file can be read. */
export const otherEncoding = (present: Encoded, wanted: string): PlainDict =>
  present.problem === undefined && present.encoding !== wanted
    ? { encoding: { old: present.encoding, new: wanted } }
    : {};

/** Whether only these parts differ: the existing object is then written again, not replaced. */
export const isWrongOnlyIn = (parts: PlainDict, ...names: string[]): boolean =>
  Object.keys(parts).every(one => names.includes(one));

/**
 * Runs a state's work; what is wrong with its arguments or files is its comment. A prediction does
 * not fail for a file that an earlier state may make.
 */
export const failOrForesee = async (
  name: string,
  work: () => Promise<StateReturn>,
): Promise<StateReturn> => {
  try {
    return await work();
  } catch (error) {
    if (__opts__.test && error instanceof NoSuchFileError)
      return would(name, `${error.message}; if created in this state run, ${name} would be made`);
    return failed(name, messageOf(error));
  }
};

export const showName = (name: Buffer): string =>
  Object.entries(readName(name))
    .map(([part, value]) => `${part}=${value}`)
    .join(', ');

export const tryRead = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

type Comparable = Pick<Certificate, 'subject' | 'publicKey' | 'extensions'>;

/** The parts of a request or certificate that differ from the desired ones. */
export const different = (
  present: (Comparable & { readonly algorithm: string }) | undefined,
  wish: Comparable,
  digest: string,
): PlainDict => {
  if (!present) return { replaced: 'it could not be read' };
  const parts: PlainDict = {};
  if (!present.subject.equals(wish.subject))
    parts.subject_name = { old: showName(present.subject), new: showName(wish.subject) };
  if (!present.publicKey.equals(wish.publicKey))
    parts.public_key = { old: 'another', new: 'as given' };
  const [old, now] = [showExtensions(present.extensions), showExtensions(wish.extensions)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const others = names.filter(one => !sameExtension(present, wish, old, now, one));
  if (others.length > 0)
    parts.extensions = Object.fromEntries(
      others.map(one => [one, { old: old[one] ?? null, new: now[one] ?? null }]),
    );
  return { ...parts, ...otherDigest(present.algorithm, digest) };
};

/** Another digest than the wanted one, where the key's algorithm has none of its own. */
export const otherDigest = (algorithm: string, wanted: string): PlainDict => {
  const present = digestOf(algorithm);
  return present === null || present === wanted
    ? {}
    : { digest: { old: present ?? algorithm, new: wanted } };
};

const sameExtension = (
  present: Comparable,
  wish: Comparable,
  old: Record<string, string>,
  now: Record<string, string>,
  name: string,
): boolean => {
  const value = (from: Comparable, shown: Record<string, string>) =>
    from.extensions[Object.keys(shown).indexOf(name)];
  const [one, other] = [value(present, old), value(wish, now)];
  return (
    one !== undefined &&
    other !== undefined &&
    one.critical === other.critical &&
    one.value.equals(other.value)
  );
};
