import { type Plain, type PlainDict, setOwn } from './plain.ts';

/**
 * The prefix of an argument that is replaced by the result of a call just before its state runs.
 */
export const slotPrefix = '__slot__:';

/** Whether a value contains the text of a slot, or a key that reads as one. */
export const containsSlot = (value: Plain | undefined): boolean => {
  if (typeof value === 'string') return value.startsWith(slotPrefix);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(containsSlot);
  return Object.keys(value).some(key => key.startsWith(slotPrefix) || containsSlot(value[key]));
};

/** The call of a slot. */
export type SlotCall = {
  readonly fun: string;
  readonly args: readonly string[];
  readonly kwargs: PlainDict;
  /** The text after the closing parenthesis. */
  readonly rest: string;
};

/**
 * Parses `module.function(arg, 'quoted, arg', key=value)`. As in Salt, all values stay strings,
 * quotes are removed, and spaces outside of quotes are ignored.
 */
export const parseSlotCall = (text: string): SlotCall | undefined => {
  const open = text.indexOf('(');
  const fun = text.slice(0, open).replace(/\s/g, '');
  if (open < 0 || fun === '') return undefined;
  const args: string[] = [];
  const kwargs: PlainDict = {};
  const brackets: string[] = [];
  let word = '';
  let begun = false;
  let key: string | undefined;
  const finish = (): void => {
    if (key !== undefined) setOwn(kwargs, key, word);
    else if (begun) args.push(word);
    word = '';
    begun = false;
    key = undefined;
  };
  for (let at = open + 1; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"' || char === "'") {
      const quoted = readQuoted(text, at);
      if (!quoted) return undefined;
      word += quoted.value;
      begun = true;
      at = quoted.end;
    } else if (/\s/.test(char)) continue;
    else if (closers[char] !== undefined) {
      brackets.push(closers[char]);
      word += char;
      begun = true;
    } else if (brackets.length > 0 && char === brackets.at(-1)) {
      brackets.pop();
      word += char;
    } else if (brackets.length === 0 && char === ',') finish();
    else if (brackets.length === 0 && char === ')') {
      finish();
      return { fun, args, kwargs, rest: text.slice(at + 1) };
    } else if (brackets.length === 0 && char === '=' && key === undefined && begun) {
      key = word;
      word = '';
    } else if (']})'.includes(char)) return undefined;
    else {
      word += char;
      begun = true;
    }
  }
  return undefined;
};

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

const readQuoted = (text: string, start: number): { value: string; end: number } | undefined => {
  const quote = text[start];
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === quote) return { value, end: at };
    const next = text[at + 1];
    if (char === '\\' && (next === quote || next === '\\')) {
      value += next;
      at++;
    } else value += char;
  }
  return undefined;
};
