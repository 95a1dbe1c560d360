import { noteSecret } from '../data/known-secrets.ts';
import { type Data, isDict } from '../data/values/value.ts';
import { withoutEnd } from '../data/values/without-end.ts';

/** Whether the host sent this text. */
export type IsHostString = (text: string) => boolean;

/**
 * Replaces every marked block in all strings of the data (not in keys); returns new data. A block
 * that the host itself sent is not decrypted: a host must not learn secrets that way.
 *
 * @param marked the word after BEGIN and END in the first and last line of a block
 */
export const decryptAll = (
  data: Data,
  marked: string,
  decrypt: (block: string) => Promise<string>,
  said: IsHostString = () => false,
): Promise<Data> =>
  replaceAll(data, marked, async block => (isSaid(block, said) ? block : decrypt(block)));

/**
 * Whether the host sent a block: at least half of its text between the marks. The host may have
 * sent its lines separately or joined; pieces of ciphertext never match by chance.
 */
const isSaid = (block: string, said: IsHostString): boolean => {
  const pieces = block
    .replaceAll('\\n', '\n')
    .replace(/^-{5}[^-\n]*-{5}|-{5}[^-\n]*-{5}$/g, '')
    .split(/\s+/)
    .filter(word => /^[\w+/=]+$/.test(word))
    .flatMap(word => word.match(/.{1,16}/g) ?? []);
  return pieces.length > 0 && pieces.filter(said).length * 2 >= pieces.length;
};

const replaceAll = async (
  data: Data,
  marked: string,
  decrypt: (block: string) => Promise<string>,
): Promise<Data> => {
  if (typeof data === 'string') return decryptText(data, marked, decrypt);
  if (Array.isArray(data)) {
    for (const [index, item] of data.entries())
      data[index] = await replaceAll(item, marked, decrypt);
    return data;
  }
  if (isDict(data))
    for (const [key, item] of data) data.set(key, await replaceAll(item, marked, decrypt));
  return data;
};

/**
 * Removes trailing line ends if something was decrypted: a YAML block adds one that is not part of
 * the secret.
 */
const decryptText = async (
  text: string,
  marked: string,
  decrypt: (block: string) => Promise<string>,
): Promise<string> => {
  const begin = `-----BEGIN ${marked}-----`;
  const finish = `-----END ${marked}-----`;
  let result = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(begin, at);
    const stop = start < 0 ? -1 : text.indexOf(finish, start + begin.length);
    if (stop < 0) break;
    const end = stop + finish.length;
    const secret = await decrypt(text.slice(start, end));
    noteSecret(secret);
    result += text.slice(at, start) + secret;
    at = end;
  }
  if (at === 0) return text;
  return withoutEnd(result + text.slice(at), '\n');
};
