import { raise } from '../jinja-error.ts';
import { charCount } from '../values/iterate.ts';
import { repeatText } from '../values/operators.ts';
import type { Value } from '../values/value.ts';
import { stringArgument } from './arguments.ts';

export const capitalize = (self: string): string => {
  const [first = '', ...rest] = Array.from(self);
  return first.toUpperCase() + rest.join('').toLowerCase();
};

export const title = (self: string): string =>
  self.replace(/\p{L}[\p{L}\p{M}]*/gu, word => capitalize(word));

export const isCased = (self: string, cased: string): boolean =>
  self === cased && self.toLowerCase() !== self.toUpperCase();

export const matcher =
  (pattern: RegExp) =>
  (self: string): boolean =>
    pattern.test(self);

export const padding = (self: string, width: number, fill: Value | undefined): [number, string] => {
  const char = fill === undefined ? ' ' : stringArgument(fill);
  if (charCount(char) !== 1) raise('The fill character must be exactly one character long');
  return [Math.max(0, width - charCount(self)), char];
};

export const center = (self: string, width: number, fill: Value | undefined): string => {
  const [room, char] = padding(self, width, fill);
  const left = Math.floor(room / 2) + (room & width & 1);
  return repeatText(char, left) + self + repeatText(char, room - left);
};

export const zeroFill = (self: string, width: number): string => {
  const sign = /^[-+]/.exec(self)?.[0] ?? '';
  return sign + repeatText('0', Math.max(0, width - charCount(self))) + self.slice(sign.length);
};

export const expandTabs = (self: string, size: number): string => {
  let column = 0;
  let result = '';
  for (const char of self) {
    if (char !== '\t') {
      result += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
      continue;
    }
    const room = size > 0 ? size - (column % size) : 0;
    result += repeatText(' ', room);
    column += room;
  }
  return result;
};
