import { raise } from '../jinja-error.ts';
import { quoted } from '../values/text.ts';
import { Bytes } from '../values/things.ts';

/** The single-byte encodings, and how many characters they support. */
const narrow: ReadonlyMap<string, number> = new Map([
  ['ascii', 128],
  ['usascii', 128],
  ['latin1', 256],
  ['iso88591', 256],
]);

/** Python's `text.encode(encoding, errors)`. */
export const encode = (text: string, encoding: string, errors: string): Bytes => {
  const code = encoding.toLowerCase().replace(/[-_ ]/g, '');
  if (code === 'utf8') return new Bytes(Buffer.from(text, 'utf8'));
  const known = narrow.get(code) ?? raise(`unknown encoding: ${encoding}`);
  let position = 0;
  let bytes = '';
  for (const char of text) {
    const number = char.codePointAt(0) ?? 0;
    if (number < known) bytes += char;
    else if (errors === 'replace') bytes += '?';
    else if (errors !== 'ignore')
      raise(`'${encoding}' codec can't encode character ${quoted(char)} in position ${position}`);
    position += 1;
  }
  return new Bytes(Buffer.from(bytes, 'latin1'));
};
