import { requisiteInKeywords, requisiteKeywords } from '../../protocol/state-keywords.ts';
import { type ScannedLine, scanLines, type TextSpan } from './scan-lines.ts';

export type OutlineArgument = {
  readonly name: string;
  readonly span: TextSpan;
  readonly value: string;
};

/** A state of an ID, as it is written. */
export type OutlineState = {
  /** `pkg.installed`; only `pkg` until its function is written. */
  readonly name: string;
  readonly span: TextSpan;
  readonly args: readonly OutlineArgument[];
};

export type OutlineId = {
  readonly id: string;
  readonly span: TextSpan;
  /** The last line that belongs to it. */
  readonly end: number;
  /** It is below `extend`: another SLS declares it. */
  readonly isExtend: boolean;
  readonly states: readonly OutlineState[];
};

/** A place that names an ID of a state: a requisite. */
export type OutlineRequisite = {
  readonly id: string;
  readonly span: TextSpan;
  /** The module before the ID; undefined for a bare ID. */
  readonly module?: string;
};

/** The parts of an SLS that its text shows without rendering. */
export type Outline = {
  readonly ids: readonly OutlineId[];
  readonly includes: readonly { readonly name: string; readonly span: TextSpan }[];
  readonly requisites: readonly OutlineRequisite[];
};

/** Keywords of requisites, and those that name states in the same form. */
export const requisiteNames: ReadonlySet<string> = new Set([
  ...requisiteKeywords,
  ...requisiteInKeywords,
  'use',
  'use_in',
]);

type Draft = {
  ids: { id: string; span: TextSpan; end: number; isExtend: boolean; states: DraftState[] }[];
  includes: { name: string; span: TextSpan }[];
  requisites: OutlineRequisite[];
};
type DraftState = { name: string; span: TextSpan; args: OutlineArgument[] };

/** Reads an SLS for its IDs, states, includes and requisites. Templates are not rendered. */
export const outlineOf = (text: string): Outline => {
  const draft: Draft = { ids: [], includes: [], requisites: [] };
  for (const one of scanLines(text.split('\n'))) {
    const isExtend = one.path[0] === 'extend';
    const path = isExtend ? one.path.slice(1) : one.path;
    const id = draft.ids.at(-1);
    if (id && path.length > 0) id.end = one.line;
    if (path.length === 0) readTop(draft, one, isExtend);
    else if (path[0] === 'include' && !isExtend) readInclude(draft, one);
    else if (isHeaderTags(id, one)) draft.ids.pop();
    else if (id && path.length === 1) readState(id.states, one);
    else if (id && path.length === 2) readArgument(draft, id.states.at(-1), one);
    else if (path.length === 3 && requisiteNames.has(path[2] ?? '')) readRequisite(draft, one);
  }
  return draft;
};

/** The list of `tags:` in the header of an SLS declares no ID. */
const isHeaderTags = (id: Draft['ids'][number] | undefined, { path, isItem }: ScannedLine) =>
  isItem && path.length === 1 && path[0] === 'tags' && id?.id === 'tags';

const readTop = (draft: Draft, one: ScannedLine, isExtend: boolean): void => {
  const { key, keySpan, value, valueSpan, isItem } = one;
  if (key === undefined || !keySpan || isItem) return;
  if (!isExtend && key === 'include') {
    for (const part of flowParts(value, valueSpan)) draft.includes.push(part);
    return;
  }
  if (!isExtend && (key === 'exclude' || key === 'extend')) return;
  if (!isExtend && key === 'tags' && value !== '' && !value.includes('.')) return;
  const states: DraftState[] = [];
  // The short form `ID: test.nop`.
  if (/^\w+\.\w+$/.test(value)) states.push({ name: value, span: valueSpan, args: [] });
  draft.ids.push({ id: key, span: keySpan, end: one.line, isExtend, states });
};

const readInclude = (draft: Draft, { key, keySpan, value, valueSpan }: ScannedLine): void => {
  // `- web.nginx:` with settings of its own, or `- base: web.nginx`.
  if (key !== undefined && keySpan && value === '')
    draft.includes.push({ name: key, span: keySpan });
  else if (value !== '') draft.includes.push({ name: value, span: valueSpan });
};

const readState = (states: DraftState[], one: ScannedLine): void => {
  const { key, keySpan, value, valueSpan, isItem } = one;
  if (isItem) return;
  if (key !== undefined && keySpan) states.push({ name: key, span: keySpan, args: [] });
  else if (/^[\w.]+$/.test(value)) states.push({ name: value, span: valueSpan, args: [] });
};

const readArgument = (draft: Draft, state: DraftState | undefined, one: ScannedLine): void => {
  const { key, keySpan, value, valueSpan } = one;
  if (!state) return;
  if (key === undefined || !keySpan) {
    // The long form `pkg:` with `- installed`.
    if (!state.name.includes('.') && /^\w+$/.test(value)) {
      state.name = `${state.name}.${value}`;
      state.span = valueSpan;
    }
    return;
  }
  state.args.push({ name: key, span: keySpan, value });
  if (requisiteNames.has(key)) readFlow(draft, value, valueSpan);
};

const readRequisite = (draft: Draft, one: ScannedLine): void => {
  const { key, value, valueSpan } = one;
  if (value === '') return;
  if (key === undefined && /^[[{]/.test(value)) readFlow(draft, value, valueSpan);
  else
    draft.requisites.push({
      id: value,
      span: valueSpan,
      ...(key === undefined ? {} : { module: key }),
    });
};

/** `[{pkg: nginx}, web]` after a requisite's keyword. */
const readFlow = (draft: Draft, value: string, span: TextSpan): void => {
  if (!/^[[{]/.test(value)) return;
  for (const { name, span: part } of flowParts(value, span)) {
    const pair = /^(\w+):\s+(.*)$/.exec(name);
    const id = pair?.[2] ?? name;
    const from = part.to - id.length;
    draft.requisites.push({
      id,
      span: { ...part, from },
      ...(pair?.[1] === undefined ? {} : { module: pair[1] }),
    });
  }
};

/** The entries of `[a, 'b', {c: d}]` as texts. */
const flowParts = (value: string, { line, from }: TextSpan): { name: string; span: TextSpan }[] =>
  /^[[{]/.test(value)
    ? [...value.matchAll(/[^[\]{},\s'"](?:[^[\]{},'"]*[^[\]{},\s'"])?/g)].map(match => {
        const start = from + match.index;
        return { name: match[0], span: { line, from: start, to: start + match[0].length } };
      })
    : [];
