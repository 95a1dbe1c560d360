import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, resolve, sep } from 'node:path';
import type { Artifact, TracedLocation } from '../protocol/artifact.ts';
import { artifactHead, type StackPosition } from '../protocol/stack.ts';
import type { Blocks } from './blocks.ts';
import { type Moved, placeBefore } from './moved.ts';
import { type Cut, withoutFolders } from './portable-path.ts';

/** How many characters were removed in a line before one of its columns; all 0-based. */
type Shift = readonly [line: number, column: number, missing: number];
/** The positions in a part of an artifact, which begins at a 0-based line. */
type Kept = {
  readonly line: number;
  /** Absent if it is that of the first part. */
  readonly map?: SourceMapPayload;
  /** Where its pieces were in the text of the map. */
  readonly moved?: readonly Moved[];
  readonly shifts: readonly Shift[];
};

/**
 * Returns the data that maps positions in the base of an artifact to its sources, as lines of a file:
 * one for its head, and one for its blocks.
 *
 * @param moved - where their pieces were in the text of the source map
 * @param line - how many lines of the artifact are before the head
 */
export const tracedBlocks = (
  map: string,
  moved: Blocks['moved'],
  line: number,
): [head: string, blocks: string] => [
  lineOf({ line, map: JSON.parse(map), moved: moved.head, shifts: [] }),
  lineOf({ line: 0, moved: moved.blocks, shifts: [] }),
];

/** Returns the data of blocks that are behind so many lines of an artifact. */
export const blocksAt = (trace: string, lines: number): string =>
  trace === '' ? '' : lineOf({ ...(JSON.parse(trace) as Kept), line: lines });

const lineOf = (kept: Kept): string => `${JSON.stringify(kept)}\n`;

/**
 * Returns a part of an artifact without the folders of this machine, and the data that maps it to its
 * sources, as one line of a file.
 *
 * @param line - how many lines of the artifact are before this part
 */
export const tracedText = (
  bundle: { readonly text: string; readonly map: string },
  line = 0,
): { readonly text: string; readonly trace: string } => {
  const { text, cuts } = withoutFolders(bundle.text);
  const shifts = shiftsOf(bundle.text, cuts);
  return { text, trace: lineOf({ line, map: JSON.parse(bundle.map), shifts }) };
};

/** Returns where the text on hosts is shorter than the text of the source map. */
const shiftsOf = (text: string, cuts: readonly Cut[]): Shift[] => {
  let [line, start, missing] = [0, 0, 0];
  return cuts.map(({ at, length }): Shift => {
    for (let end = text.indexOf('\n', start); end >= 0 && end < at; end = text.indexOf('\n', start))
      [line, start, missing] = [line + 1, end + 1, 0];
    const column = at - start - missing;
    missing += length;
    return [line, column, missing];
  });
};

/** Decoding the map takes a tenth of a second: a process makes many runs with one artifact. */
let opened: { readonly path: string; readonly trace: Artifact['trace'] } | undefined;

/**
 * Maps positions in an artifact's text with that file. Without the file, no position is returned;
 * this is not an error.
 *
 * @param path names one content: the hash of the artifact is part of it
 */
export const openTrace = (root: string, path: string): Artifact['trace'] => {
  if (opened?.path === path) return opened.trace;
  const kept = read(path);
  if (!kept) return () => [];
  opened = { path, trace: traceOf(root, kept) };
  return opened.trace;
};

const traceOf = (root: string, kept: readonly Kept[]): Artifact['trace'] => {
  const maps = kept.map(({ map }) => map && new SourceMap(map));
  const parts = kept.map((part, at) => ({ ...part, map: maps[at] ?? maps[0] }));
  return positions =>
    positions.flatMap(position => {
      const part = parts.findLast(({ line }) => line < position[0]);
      if (!part?.map) return [];
      const built = asBuilt(part.shifts, part.line, position);
      const [row, column] = part.moved ? placeBefore(part.moved, ...built) : built;
      const found = part.map.findEntry(row, column);
      if (!('originalSource' in found) || found.originalSource === '') return [];
      return [placed(root, found.originalSource, found.originalLine, found.originalColumn)];
    });
};

const read = (path: string): Kept[] | undefined => {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return lines.map(line => JSON.parse(line) as Kept);
  } catch {
    return undefined;
  }
};

/** Returns the 0-based position in the text of the source map of a part that begins at a line. */
const asBuilt = (
  shifts: readonly Shift[],
  begin: number,
  [line, column]: StackPosition,
): [number, number] => {
  const row = line - 1 - begin;
  const at = column - 1 - (line === 1 ? artifactHead.length : 0);
  const missing = shifts.findLast(shift => shift[0] === row && shift[1] <= at)?.[2] ?? 0;
  return [row, at + missing];
};

const placed = (root: string, source: string, line: number, column: number): TracedLocation => {
  const file = resolve(root, decodeURIComponent(source));
  const own =
    !file.startsWith(join(root, 'src') + sep) && !file.includes(`${sep}node_modules${sep}`);
  return { file, line: line + 1, column: column + 1, own };
};
