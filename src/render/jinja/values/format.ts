import { raise, raiseLimit } from '../jinja-error.ts';
import { formatValue } from './format-spec.ts';
import { orElse } from './or-else.ts';
import { longestText, quoted, reprOf, textOf } from './text.ts';
import type { Args, OnPiece, Value } from './value.ts';

/** Reads parts of a value for a replacement field: `{0.name[key]}`. */
export type FieldAccess = {
  readonly attribute: (value: Value, name: string) => Value;
  readonly item: (value: Value, key: Value) => Value;
};

/**
 * Python's `text.format(…)`.
 *
 * @param onPiece is called with the position of each field of the text itself
 */
export const formatText = (
  text: string,
  args: Args,
  access: FieldAccess,
  onPiece?: OnPiece,
): string => {
  const state = { next: 0, size: 0 };
  return expand(text, args, access, state, 2, onPiece);
};

type State = { next: number; size: number };

const expand = (
  text: string,
  args: Args,
  access: FieldAccess,
  state: State,
  depth: number,
  onPiece?: OnPiece,
): string => {
  if (depth === 0) return raise('Max string recursion exceeded');
  let result = '';
  let at = 0;
  while (at < text.length) {
    const brace = text.slice(at).search(/[{}]/);
    if (brace < 0) return result + text.slice(at);
    result += text.slice(at, at + brace);
    at += brace;
    if (text[at] === text[at + 1]) {
      result += text[at];
      at += 2;
      continue;
    }
    if (text[at] === '}') return raise("Single '}' encountered in format string");
    const end = closing(text, at);
    const { text: filled, value } = field(text.slice(at + 1, end), args, access, state, depth);
    onPiece?.(result.length, filled, value);
    result += filled;
    state.size = result.length;
    if (state.size > longestText) raiseLimit('A text grew too long');
    at = end + 1;
  }
  return result;
};

const closing = (text: string, start: number): number => {
  let open = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '{') open += 1;
    if (text[at] === '}') open -= 1;
    if (open === 0) return at;
  }
  return raise(
    start === text.length - 1
      ? "Single '{' encountered in format string"
      : "expected '}' before end of string",
  );
};

const fieldPattern = /^([^:!]*)(?:!([\s\S]))?(?::([\s\S]*))?$/;

const field = (
  body: string,
  args: Args,
  access: FieldAccess,
  state: State,
  depth: number,
): { text: string; value: Value } => {
  const found = fieldPattern.exec(body);
  if (!found) return raise("expected ':' after conversion specifier");
  const [, name = '', conversion, spec = ''] = found;
  const value = converted(fieldValue(name, args, access, state), conversion);
  const inner = spec.includes('{') ? expand(spec, args, access, state, depth - 1) : spec;
  return { text: formatValue(value, inner), value };
};

const converted = (value: Value, conversion: string | undefined): Value => {
  if (conversion === undefined) return value;
  if (conversion === 's') return textOf(value);
  if (conversion === 'r' || conversion === 'a') return reprOf(value);
  return raise(`Unknown conversion specifier ${conversion}`);
};

const fieldValue = (name: string, args: Args, access: FieldAccess, state: State): Value => {
  const [first = ''] = /^[^.[]*/.exec(name) ?? [];
  let value = argument(first, args, state);
  const rest = name.slice(first.length);
  for (const [step, attribute, key] of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]|[\s\S]/g)) {
    if (attribute !== undefined) value = access.attribute(value, attribute);
    else if (key !== undefined) value = access.item(value, /^\d+$/.test(key) ? Number(key) : key);
    else
      return raise(
        step === '.' || step === '['
          ? 'Empty attribute in format string'
          : `Only '.' or '[' may follow ']' in format field specifier`,
      );
  }
  return value;
};

const argument = (name: string, { list, named }: Args, state: State): Value => {
  if (name !== '' && !/^\d+$/.test(name)) return orElse(named.get(name), () => raise(quoted(name)));
  const index = name === '' ? state.next : Number(name);
  if (name === '') state.next += 1;
  return orElse(list[index], () => raise('tuple index out of range'));
};
