import { type MatchingBlock, matchingBlocks } from './sequence-matcher.ts';

type Opcode = readonly ['equal' | 'replace' | 'delete' | 'insert', number, number, number, number];

/**
 * The unified diff that Python's `difflib.unified_diff` makes of two lists of lines, item by
 * item: callers join them. File names are empty, three lines of `context`, `lineEnd` after each
 * header line, no word on a missing newline at the end.
 */
export const unifiedDiff = (
  from: readonly string[],
  to: readonly string[],
  { fromFile = '', toFile = '', lineEnd = '\n', context = 3 }: DiffOptions = {},
): string[] => {
  const lines: string[] = [];
  for (const group of groups(opcodes(from, to), context)) {
    if (lines.length === 0) lines.push(`--- ${fromFile}${lineEnd}`, `+++ ${toFile}${lineEnd}`);
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) continue;
    const left = range(first[1], last[2]);
    const right = range(first[3], last[4]);
    lines.push(`@@ -${left} +${right} @@${lineEnd}`);
    for (const [tag, i1, i2, j1, j2] of group) {
      if (tag === 'equal') for (const line of from.slice(i1, i2)) lines.push(` ${line}`);
      if (tag === 'replace' || tag === 'delete')
        for (const line of from.slice(i1, i2)) lines.push(`-${line}`);
      if (tag === 'replace' || tag === 'insert')
        for (const line of to.slice(j1, j2)) lines.push(`+${line}`);
    }
  }
  return lines;
};

type DiffOptions = { fromFile?: string; toFile?: string; lineEnd?: string; context?: number };

const range = (start: number, stop: number): string => {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
};

const opcodes = (from: readonly string[], to: readonly string[]): Opcode[] => {
  const codes: Opcode[] = [];
  let i = 0;
  let j = 0;
  for (const [a, b, size] of matchingBlocks(from, to)) {
    const tag = i < a ? (j < b ? 'replace' : 'delete') : j < b ? 'insert' : undefined;
    if (tag) codes.push([tag, i, a, j, b]);
    i = a + size;
    j = b + size;
    if (size > 0) codes.push(['equal', a, i, b, j]);
  }
  return codes;
};

const groups = (all: Opcode[], context: number): Opcode[][] => {
  const codes = trimEnds(all.length > 0 ? all : [['equal', 0, 1, 0, 1]], context);
  const result: Opcode[][] = [];
  let group: Opcode[] = [];
  for (const [tag, start, i2, from, j2] of codes) {
    let [i1, j1] = [start, from];
    if (tag === 'equal' && i2 - i1 > context * 2) {
      group.push([tag, i1, Math.min(i2, i1 + context), j1, Math.min(j2, j1 + context)]);
      result.push(group);
      group = [];
      i1 = Math.max(i1, i2 - context);
      j1 = Math.max(j1, j2 - context);
    }
    group.push([tag, i1, i2, j1, j2]);
  }
  if (group.length > 1 || (group.length === 1 && group[0]?.[0] !== 'equal')) result.push(group);
  return result;
};

const trimEnds = (codes: Opcode[], context: number): Opcode[] => {
  const trimmed = [...codes];
  const first = trimmed[0];
  if (first?.[0] === 'equal') {
    const [tag, i1, i2, j1, j2] = first;
    trimmed[0] = [tag, Math.max(i1, i2 - context), i2, Math.max(j1, j2 - context), j2];
  }
  const last = trimmed.at(-1);
  if (last?.[0] === 'equal') {
    const [tag, i1, i2, j1, j2] = last;
    trimmed[trimmed.length - 1] = [
      tag,
      i1,
      Math.min(i2, i1 + context),
      j1,
      Math.min(j2, j1 + context),
    ];
  }
  return trimmed;
};

export type { MatchingBlock };
