import { templateParts } from '../../validate/template-parts.ts';
import { requisiteNames } from '../text/outline.ts';
import { pathAt } from '../text/scan-lines.ts';
import type { ProjectFile } from '../workspace.ts';

/** A document with a position in it. */
export type PositionIn = {
  readonly file: ProjectFile;
  readonly text: string;
  readonly lines: readonly string[];
  readonly line: number;
  readonly character: number;
};

/** The kind of word that fits a position, and the part that is written already. */
export type PositionContext =
  /** An expression of a template, up to the position. */
  | { readonly kind: 'template'; readonly before: string }
  | { readonly kind: 'salt-path'; readonly typed: string }
  | { readonly kind: 'sls'; readonly typed: string }
  /** The value of a setting of a target in a top file. */
  | { readonly kind: 'match'; readonly typed: string }
  | { readonly kind: 'state'; readonly typed: string }
  | { readonly kind: 'function'; readonly module: string; readonly typed: string }
  | { readonly kind: 'argument'; readonly state: string; readonly typed: string }
  | {
      readonly kind: 'value';
      readonly state: string;
      readonly argument: string;
      readonly typed: string;
    }
  | { readonly kind: 'requisite'; readonly module?: string; readonly typed: string };

/** Finds out what can be written at a position. */
export const contextAt = (position: PositionIn): PositionContext | undefined => {
  const { lines, line, character } = position;
  const before = (lines[line] ?? '').slice(0, character);
  const template = templateBefore(position);
  if (template !== undefined) return { kind: 'template', before: template };
  const url = /salt:\/\/([^\s'"]*)$/.exec(before);
  if (url) return { kind: 'salt-path', typed: url[1] ?? '' };
  if (/^\s*#/.test(before)) return undefined;
  return yamlContext(position, before);
};

/** The expression up to a position inside `{{ … }}` or `{% … %}`. */
const templateBefore = ({ text, lines, line, character }: PositionIn): string | undefined => {
  let offset = character;
  for (let at = 0; at < line; at++) offset += (lines[at]?.length ?? 0) + 1;
  const part = templateParts(text).find(
    ({ start, end, kind, isClosed }) =>
      kind !== 'comment' && start + 2 <= offset && (isClosed ? offset <= end - 2 : offset <= end),
  );
  if (!part) return undefined;
  // An expression without an end is over at the end of its line.
  const inside = text.slice(part.start, offset);
  return part.isClosed || !inside.includes('\n') ? inside : undefined;
};

/** The keys that a line is below, and the text of the line up to a position, without its dashes. */
export const linePath = (
  lines: readonly string[],
  line: number,
  before: string,
): { readonly path: readonly string[]; readonly rest: string; readonly isItem: boolean } => {
  const [, spaces = '', dashes = '', rest = ''] = /^(\s*)((?:-(?:\s+|$))*)(.*)$/.exec(before) ?? [];
  const isItem = dashes !== '';
  return { path: pathAt(lines, line, spaces.length, isItem), rest, isItem };
};

const yamlContext = (position: PositionIn, before: string): PositionContext | undefined => {
  const { file, lines, line } = position;
  if (/^\s*(?:-\s+)*-$/.test(before)) return undefined;
  const { path: above, rest, isItem } = linePath(lines, line, before);
  const isExtend = above[0] === 'extend';
  const path = isExtend ? above.slice(1) : above;
  if (file.kind === 'top' || file.kind === 'pillar-top') {
    if (!isItem || above.length !== 2) return undefined;
    const match = /^(?:match|ignore_missing):\s+(.*)$/.exec(rest);
    return match ? { kind: 'match', typed: match[1] ?? '' } : { kind: 'sls', typed: rest };
  }
  if (path[0] === 'include' && !isExtend)
    return isItem && path.length === 1 ? { kind: 'sls', typed: rest } : undefined;
  if (file.kind !== 'sls' || path.length === 0) return undefined;
  return bodyContext(path, rest, isItem);
};

const bodyContext = (
  path: readonly string[],
  rest: string,
  isItem: boolean,
): PositionContext | undefined => {
  const [, state = '', argument = ''] = path;
  const pair = /^([\w.-]+):\s+['"]?(.*)$/.exec(rest);
  if (path.length === 1) return isItem || pair ? undefined : { kind: 'state', typed: rest };
  if (path.length === 2 && isItem) {
    if (pair?.[1] !== undefined)
      return { kind: 'value', state, argument: pair[1], typed: pair[2] ?? '' };
    if (!state.includes('.')) return { kind: 'function', module: state, typed: rest };
    return /[\s:]/.test(rest) ? undefined : { kind: 'argument', state, typed: rest };
  }
  if (path.length === 3 && isItem && requisiteNames.has(argument)) {
    const typed = pair ? (pair[2] ?? '') : rest;
    return pair?.[1] === undefined
      ? { kind: 'requisite', typed }
      : pair[1] === 'sls'
        ? { kind: 'sls', typed }
        : { kind: 'requisite', module: pair[1], typed };
  }
  return undefined;
};
