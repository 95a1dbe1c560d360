import type { SyntaxOptions } from './options.ts';

/** The beginning of a tag. */
export type Opening = {
  readonly type: 'raw' | 'block' | 'print' | 'comment' | 'line statement' | 'line comment';
  /** `-` strips the whitespace before, `+` keeps it. */
  readonly sign: string;
  readonly start: number;
  readonly end: number;
};

/** The patterns that find tags and their ends. */
export type TagPatterns = {
  readonly next: (text: string, from: number) => Opening | undefined;
  readonly blockEnd: RegExp;
  readonly variableEnd: RegExp;
  readonly commentEnd: RegExp;
  /** The first group is the sign. */
  readonly rawEnd: RegExp;
};

const known = new WeakMap<SyntaxOptions, TagPatterns>();

export const tagPatterns = (options: SyntaxOptions): TagPatterns => {
  const patterns = known.get(options) ?? make(options);
  known.set(options, patterns);
  return patterns;
};

const make = (options: SyntaxOptions): TagPatterns => {
  const blockEnd = ending(options.blockEnd, options.trimBlocks);
  const start = literal(options.blockStart);
  const rules = [
    { group: 'comment', delimiter: options.commentStart, source: literal(options.commentStart) },
    { group: 'block', delimiter: options.blockStart, source: start },
    { group: 'print', delimiter: options.variableStart, source: literal(options.variableStart) },
    ...linePrefix('statement', options.lineStatement, '^[ \\t\\v]*'),
    ...linePrefix('note', options.lineComment, '(?:^|(?<=\\S))[^\\S\\r\\n]*'),
  ].sort((a, b) => b.delimiter.length - a.delimiter.length);
  const raw = `(?<raw>${start}(?<rawSign>[-+]?)\\s*raw\\s*(?:-${literal(options.blockEnd)}\\s*|${literal(options.blockEnd)}))`;
  const openings = rules.map(({ group, source }) => `(?<${group}>${source}(?<${group}Sign>[-+]?))`);
  const opening = new RegExp([raw, ...openings].join('|'), 'gm');
  return {
    next: (text, from) => {
      opening.lastIndex = from;
      return toOpening(opening.exec(text));
    },
    blockEnd: new RegExp(blockEnd, 'y'),
    variableEnd: new RegExp(
      `-${literal(options.variableEnd)}\\s*|${literal(options.variableEnd)}`,
      'y',
    ),
    commentEnd: new RegExp(ending(options.commentEnd, options.trimBlocks), 'g'),
    rawEnd: new RegExp(`${start}([-+]?)\\s*endraw\\s*(?:${blockEnd})`, 'g'),
  };
};

const linePrefix = (group: string, prefix: string | undefined, before: string) =>
  prefix === undefined ? [] : [{ group, delimiter: prefix, source: before + literal(prefix) }];

const types = [
  ['raw', 'raw'],
  ['block', 'block'],
  ['print', 'print'],
  ['comment', 'comment'],
  ['statement', 'line statement'],
  ['note', 'line comment'],
] as const;

const toOpening = (found: RegExpExecArray | null): Opening | undefined => {
  if (!found) return undefined;
  const { groups = {} } = found;
  const [group, type] = types.find(([name]) => groups[name] !== undefined) ?? types[0];
  return {
    type,
    sign: groups[`${group}Sign`] ?? '',
    start: found.index,
    end: found.index + found[0].length,
  };
};

/** The pattern of a tag's end: `-` consumes the whitespace after it, `trim_blocks` one line end. */
const ending = (text: string, trims: boolean): string =>
  `\\+${literal(text)}|-${literal(text)}\\s*|${literal(text)}${trims ? '\\n?' : ''}`;

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
