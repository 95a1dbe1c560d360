import { type Data, isDict } from '../data/value.ts';

/** Replaces every marked block in all texts of the data (keys stay); gives new data. */
export const decryptAll = async (
  data: Data,
  marked: RegExp,
  decrypt: (block: string) => Promise<string>,
): Promise<Data> => {
  if (typeof data === 'string') return decryptText(data, marked, decrypt);
  if (Array.isArray(data)) {
    for (const [index, item] of data.entries())
      data[index] = await decryptAll(item, marked, decrypt);
    return data;
  }
  if (isDict(data))
    for (const [key, item] of data) data.set(key, await decryptAll(item, marked, decrypt));
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
