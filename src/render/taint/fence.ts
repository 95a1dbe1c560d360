import { type Ranges, rangesOf, type TaintRange } from '../../data/taint.ts';

/**
 * Marks for the beginning and the end of a tainted part, while another template engine renders the
 * text: it copies them with the text around them.
 */
const open = '\uf8b0';
const close = '\uf8b1';
const marks = /[\uf8b0\uf8b1]/g;

/** Adds marks around the tainted parts of a text. */
export const fence = (text: string, ranges: Ranges): string => {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    result += text.slice(at, start).replace(marks, '');
    result += open + text.slice(start, end).replace(marks, '') + close;
    at = end;
  }
  return result + text.slice(at).replace(marks, '');
};

/**
 * Removes the marks and returns the tainted parts: those between marks, and those that the engine
 * reported. If marks are not in pairs, the whole text is tainted.
 *
 * @param fenced the ranges that the marks represent
 * @param printed the engine's ranges, in the text with marks
 */
export const unfence = (
  text: string,
  fenced: Ranges,
  printed: Ranges | undefined,
): { readonly text: string; readonly ranges: Ranges | undefined } => {
  const { source } = fenced[0];
  const found: TaintRange[] = [];
  const offsets: number[] = [];
  let start: number | undefined;
  let isWhole = true;
  for (const { index, 0: mark } of text.matchAll(marks)) {
    const at = index - offsets.length;
    offsets.push(index);
    if (mark === open && start === undefined) start = at;
    else if (mark === close && start !== undefined) {
      if (at > start) found.push({ start, end: at, source });
      start = undefined;
    } else isWhole = false;
  }
  const plain = text.replace(marks, '');
  if (!isWhole || start !== undefined)
    return { text: plain, ranges: rangesOf([{ start: 0, end: plain.length, source }]) };
  let passed = 0;
  const moved = (offset: number): number => {
    while (passed > 0 && (offsets[passed - 1] ?? 0) >= offset) passed -= 1;
    while (passed < offsets.length && (offsets[passed] ?? 0) < offset) passed += 1;
    return offset - passed;
  };
  for (const range of printed ?? [])
    found.push({ ...range, start: moved(range.start), end: moved(range.end), isNode: false });
  const merged: TaintRange[] = [];
  for (const range of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last && range.start < last.end)
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, range.end), isNode: false };
    else if (range.end > range.start) merged.push(range);
  }
  return { text: plain, ranges: rangesOf(merged) };
};
