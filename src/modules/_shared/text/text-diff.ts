import { unifiedDiff } from './unified-diff.ts';

/** Beyond this a diff is of no use to a reader and of much cost to the host. */
const largestDiff = 16 * 1024 * 1024;

/**
 * The `diff` that Salt reports when one content replaces another: '' when they are equal, a
 * sentence when one of them is binary, else the unified diff.
 */
export const contentDiff = (before: Buffer, after: Buffer): string => {
  if (before.equals(after)) return '';
  const oldIsText = isText(before);
  const newIsText = isText(after);
  if (!oldIsText && !newIsText) return 'Replace binary file';
  if (!oldIsText) return 'Replace binary file with text file';
  if (!newIsText) return 'Replace text file with binary file';
  if (before.length + after.length > largestDiff) return 'Replace large text file';
  return linesDiff(splitAtNewlines(decodeForDiff(before)), splitAtNewlines(decodeForDiff(after)));
};

/** The diff of lines that carry their ends. */
export const linesDiff = (before: readonly string[], after: readonly string[]): string =>
  unifiedDiff(before, after).join('');

/** UTF-8, or Latin-1 where it is not valid UTF-8. */
export const decodeForDiff = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
};

/** Lines with their newline, split at `\n` only. */
export const splitAtNewlines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const printable = (byte: number): boolean =>
  (byte >= 32 && byte < 127) || [10, 13, 9, 12, 8].includes(byte);

/** Salt's rule: no NUL, and valid UTF-8 or at least 70 % printable ASCII, in the first 512 bytes. */
export const isText = (content: Buffer): boolean => {
  const block = content.subarray(0, 512);
  if (block.includes(0)) return false;
  if (block.length === 0) return true;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(block);
    return true;
  } catch {
    return block.filter(byte => !printable(byte)).length / block.length <= 0.3;
  }
};
