/** How Python shows values, where Salt puts them into files and comments. */

/** `str(value)`. */
export const pyStr = (value: unknown): string =>
  typeof value === 'string' ? value : pyRepr(value);

/** `repr(value)` of JSON data. */
export const pyRepr = (value: unknown): string => {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return reprText(value);
  if (Array.isArray(value)) return `[${value.map(pyRepr).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${pyRepr(key)}: ${pyRepr(item)}`)
      .join(', ')}}`;
  return String(value);
};

const reprText = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
};

/** `str.splitlines()`: lines without their ends, by every line end that Python knows. */
export const splitLines = (text: string): string[] => {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** `str.splitlines(True)` of bytes: lines with their ends (`\n`, `\r`, `\r\n`). */
export const splitKeepingEnds = (text: string): string[] =>
  text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];

/** A string, a list or anything else as the list of texts that Salt makes of it. */
export const textList = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(pyStr) : [pyStr(value)];
