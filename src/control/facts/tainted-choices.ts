import { collectionTaint, hasTaintMarks } from '../../data/collection-taint.ts';
import { excerptOf } from '../../data/excerpt.ts';
import { choosesOnlyNames, type Ranges } from '../../data/taint.ts';
import { keyPosition, type Trace } from '../../data/values/position.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import type { TsaltError } from '../../protocol/error.ts';
import { choiceError } from '../../render/taint/choice-error.ts';

/** A rendered file, and the host whose data must not choose anything in it. */
export type Rendered = {
  readonly data: Data;
  readonly file: string;
  /** The file's text. */
  readonly text: string;
  /** Maps positions in the data to positions in the templates. */
  readonly trace?: Trace | undefined;
  /** The host's id. */
  readonly owner: string;
  readonly kind: 'states' | 'pillar';
  readonly isTop: boolean;
};

/**
 * Refuses an SLS or top file in which data of the host chose what is included, excluded or
 * extended, a template engine or a saltenv. In states the host may choose a name within a folder,
 * as in `include: [nginx.{{ grains.os }}]`; in pillar it may not choose anything.
 *
 * @throws TsaltError `render-tainted`
 */
export const refuseTaintedChoices = (rendered: Rendered): void => {
  const { data, isTop } = rendered;
  if (!isDict(data) || !hasTaintMarks()) return;
  if (isTop) {
    refuseIn(data, rendered, 'what the top file assigns');
    return;
  }
  const keys = collectionTaint(data)?.keys;
  for (const key of declarations) {
    const ranges = keys?.get(key);
    if (ranges) throw fault(rendered, ranges, `the declaration ${key}`, [data, key]);
  }
  refuseValue(data, 'include', rendered, 'what is included');
  refuseValue(data, 'exclude', { ...rendered, kind: 'pillar' }, 'what is excluded');
  const extended = data.get('extend');
  if (isDict(extended ?? null)) refuseKeys(extended as Dict, rendered, 'what is extended');
  if (rendered.kind === 'states') refuseArguments(data, rendered);
};

const declarations = ['include', 'extend', 'exclude'];

/** Arguments that decide how the control node reads the other arguments. */
const choosing = ['template', 'saltenv', '__env__', 'default_renderer'];

/** @param where the collection that holds the tainted value, and its key or index there */
const fault = (
  { owner, file, text, trace, kind }: Rendered,
  ranges: Ranges,
  choice: string,
  [node, key]: readonly [node: object, key: unknown],
): TsaltError => {
  const position = keyPosition(node, key);
  const at = position ? (trace?.(position) ?? { file, ...position }) : { file };
  return choiceError(owner, ranges, choice, {
    at,
    ...(at.line !== undefined && at.file === file ? { excerpt: excerptOf(text, at.line) } : {}),
    ...(kind === 'states'
      ? { hint: 'A host may choose a name in a folder that you write out.' }
      : {}),
  });
};

/** Dotted names of SLS are paths. */
const isName = (text: Data, ranges: Ranges): boolean =>
  typeof text === 'string' && choosesOnlyNames(text.replaceAll('.', '/'), ranges);

const refuseValue = (dict: Dict, key: string, rendered: Rendered, choice: string): void => {
  const value = dict.get(key);
  const ranges = collectionTaint(dict)?.values.get(key);
  if (ranges && !(rendered.kind === 'states' && isName(value ?? null, ranges)))
    throw fault(rendered, ranges, choice, [dict, key]);
  if (value !== undefined) refuseIn(value, rendered, choice);
};

/** Refuses tainted keys, and tainted values that choose more than a name, at any depth. */
const refuseIn = (value: Data, rendered: Rendered, choice: string): void => {
  if (Array.isArray(value)) {
    for (const [index, ranges] of collectionTaint(value)?.values ?? [])
      if (rendered.kind === 'pillar' || !isName(value[Number(index)] ?? null, ranges))
        throw fault(rendered, ranges, choice, [value, Number(index)]);
    for (const item of value) refuseIn(item, rendered, choice);
  } else if (isDict(value)) {
    refuseKeys(value, rendered, choice);
    for (const key of value.keys()) refuseValue(value, String(key), rendered, choice);
  }
};

const refuseKeys = (dict: Dict, rendered: Rendered, choice: string): void => {
  for (const [key, ranges] of collectionTaint(dict)?.keys ?? [])
    throw fault(rendered, ranges, choice, [dict, key]);
};

/** Refuses tainted arguments at any depth: they also occur below `names` and `extend`. */
const refuseArguments = (value: Data, rendered: Rendered): void => {
  if (Array.isArray(value)) for (const item of value) refuseArguments(item, rendered);
  if (!isDict(value)) return;
  const marks = collectionTaint(value);
  if (marks)
    for (const key of choosing) {
      const ranges = marks.keys.get(key) ?? marks.values.get(key);
      if (ranges) throw fault(rendered, ranges, `the argument ${key}`, [value, key]);
    }
  for (const item of value.values()) refuseArguments(item, rendered);
};
