import type { Comments } from './source.ts';

/** A parsed documentation comment. */
export type DocComment = {
  readonly text: string;
  /** `@param name text`. Keys of an options object are listed by their own names. */
  readonly params: Readonly<Record<string, string>>;
  readonly returns?: string;
  readonly examples: readonly string[];
  /** Every other tag that has text: `@maintainer`, `@maturity`, `@depends`, `@platform` … */
  readonly tags: Readonly<Record<string, string>>;
};

/** Reads the inside of a `/** … *​/` comment (without its delimiters). */
export const parseDocComment = (comment: string): DocComment => {
  const [text = '', ...blocks] = splitBlocks(cleanLines(comment));
  const params: Record<string, string> = {};
  const tags: Record<string, string> = {};
  const examples: string[] = [];
  let returns: string | undefined;
  for (const block of blocks) {
    const [, tag = '', body = ''] = /^@(\w+)[ \t]*([\s\S]*)$/.exec(block) ?? [];
    if (tag === 'param') addParam(params, body);
    else if (tag === 'example') examples.push(unfence(body));
    else if (tag === 'returns' || tag === 'return') returns = body.trim();
    else if (body.trim() !== '') tags[tag] = joinTag(tags[tag], body.trim());
  }
  return { text: text.trim(), params, examples, tags, ...(returns ? { returns } : {}) };
};

/** Returns the documentation comment among the comments above something: the last one. */
export const docOf = (comments: Comments): DocComment | undefined => {
  const last = comments.findLast(({ type, value }) => type === 'CommentBlock' && value[0] === '*');
  return last && parseDocComment(last.value);
};

const cleanLines = (comment: string): string[] =>
  comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line, at) => (at === 0 ? line.trim() : line.replace(/^\s*\*? ?/, '').trimEnd()));

/** Splits the text before the first tag, and one block per tag; tags in code fences are ignored. */
const splitBlocks = (lines: readonly string[]): string[] => {
  const blocks: string[][] = [[]];
  let fenced = false;
  for (const line of lines) {
    if (line.trimStart().startsWith('```')) fenced = !fenced;
    if (!fenced && /^@\w/.test(line)) blocks.push([]);
    blocks.at(-1)?.push(line);
  }
  return blocks.map(block => block.join('\n'));
};

const addParam = (params: Record<string, string>, body: string): void => {
  const match = /^(?:\{[^}]*\}\s*)?\[?([\w$.]+)(?:=[^\]]*)?\]?\s*(?:-\s+)?([\s\S]*)$/.exec(body);
  if (!match) return;
  const [, path = '', doc = ''] = match;
  const name = path.split('.').at(-1) ?? path;
  Object.defineProperty(params, name, {
    value: joinDocLines(doc),
    enumerable: true,
    writable: true,
  });
};

/** Joins the lines of a text, as those of a parameter's description. */
export const joinDocLines = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');

const unfence = (body: string): string =>
  body
    .replace(/^\s*```\w*\n?/, '')
    .replace(/\n?```\s*$/, '')
    .replace(/^\n+|\s+$/g, '');

const joinTag = (before: string | undefined, text: string): string =>
  before === undefined ? joinDocLines(text) : `${before}, ${joinDocLines(text)}`;
