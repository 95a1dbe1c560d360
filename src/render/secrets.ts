import { type Data, isDict } from '../data/value.ts';

/** Has the host said this text? */
export type Said = (text: string) => boolean;

/**
 * Replaces every marked block in all texts of the data (keys stay); gives new data. A block that
 * the host itself said stays: what others may not read, it must not have decrypted for itself.
 */
export const decryptAll = (
  data: Data,
  marked: RegExp,
  decrypt: (block: string) => Promise<string>,
  said: Said = () => false,
): Promise<Data> =>
  replaceAll(data, marked, async block => (isSaid(block, said) ? block : decrypt(block)));

/** Where most lines between its first and its last are the host's words, it is the host's. */
const isSaid = (block: string, said: Said): boolean => {
  const lines = block
    .replaceAll('\\n', '\n')
    .split('\n')
    .slice(1, -1)
    .map(line => line.trim())
    .filter(line => /^[\w+/=]+$/.test(line));
  return lines.length > 0 && lines.filter(said).length * 2 >= lines.length;
};

const replaceAll = async (
  data: Data,
  marked: RegExp,
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

/** Trailing line ends go where something was decrypted: a YAML block adds one that is no part of the secret. */
const decryptText = async (
  text: string,
  marked: RegExp,
  decrypt: (block: string) => Promise<string>,
): Promise<string> => {
  const blocks = [...text.matchAll(marked)];
  if (blocks.length === 0) return text;
  let result = '';
  let at = 0;
  for (const block of blocks) {
    result += text.slice(at, block.index) + (await decrypt(block[0]));
    at = block.index + block[0].length;
  }
  return (result + text.slice(at)).replace(/\n+$/, '');
};
