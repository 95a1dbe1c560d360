import { randomInt } from '../nondeterminism.ts';
import { bindMacro } from './bind.ts';
import { raiseLimit } from './jinja-error.ts';
import { isTruthy } from './values/compare.ts';
import { wholeNumber } from './values/number.ts';
import type { Args, Value } from './values/value.ts';

const words =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  );

const params = ['n?', 'html?', 'min?', 'max?'];

/** Returns dummy text, as Jinja's `lipsum()` does. */
export const lipsum = (args: Args): Value => {
  const [count, html = true, least, most] = bindMacro('generate_lorem_ipsum', params, args);
  const from = whole(least, 20);
  const to = Math.max(from + 1, whole(most, 100));
  const paragraphs = whole(count, 5);
  if (paragraphs * to > 1_000_000) raiseLimit('A text grew too long');
  const made = Array.from({ length: paragraphs }, () => paragraph(randomInt(from, to)));
  return isTruthy(html) ? made.map(text => `<p>${text}</p>`).join('\n') : made.join('\n\n');
};

const whole = (value: Value | undefined, otherwise: number): number =>
  Math.max(0, wholeNumber(value ?? null) ?? otherwise);

const paragraph = (count: number): string => {
  const chosen = Array.from({ length: count }, () => words[randomInt(words.length)] ?? '');
  const text = chosen.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};
