import type { Plain } from '../protocol/plain.ts';
import type { Palette } from './color.ts';
import { harmless, numberText, outputLinesOf, sortedKeys } from './text.ts';

type Layout = {
  readonly colors: Palette;
  readonly failed: boolean;
  /** The lines written so far. */
  readonly lines: string[];
  size: number;
};

/** Limit of the output: indentation makes a deep value many times longer. */
const longest = 100_000_000;

/**
 * Salt's default layout: keys in order with their values indented below (spec: salt.output.nested).
 *
 * @param indent columns before the first level; above 0 a dictionary starts with a rule
 * @param failed the call had a nonzero return code: keys and lists are red
 * @throws Error if the text is excessively long
 */
export const nested = (
  value: Plain,
  { colors, indent = 0, failed = false }: { colors: Palette; indent?: number; failed?: boolean },
): string => {
  const lines: string[] = [];
  write(value, indent, '', { colors, failed, lines, size: 0 });
  return lines.join('\n');
};

const write = (value: Plain, indent: number, prefix: string, layout: Layout): void => {
  const { colors, failed } = layout;
  const line = (color: string, text: string, before: string, suffix = ''): void => {
    const whole = `${' '.repeat(indent)}${color}${before}${text}${colors.ENDC}${suffix}`;
    layout.size += whole.length + 1;
    if (layout.size > longest)
      throw new Error(`it is longer than ${longest / 1_000_000} million characters`);
    layout.lines.push(whole);
  };

  if (value === null) line(colors.LIGHT_YELLOW, 'None', prefix);
  else if (typeof value === 'boolean') line(colors.LIGHT_YELLOW, value ? 'True' : 'False', prefix);
  else if (typeof value === 'number') line(colors.LIGHT_YELLOW, numberText(value), prefix);
  else if (typeof value === 'string')
    for (const [at, text] of outputLinesOf(value).entries())
      line(colors.GREEN, harmless(text), at === 0 ? prefix : ' '.repeat(prefix.length));
  else if (Array.isArray(value))
    for (const item of value) {
      if (typeof item !== 'object' || item === null) {
        write(item, indent, '- ', layout);
        continue;
      }
      line(failed ? colors.RED : colors.GREEN, '|_', '');
      write(item, indent + 2, Array.isArray(item) ? '- ' : '', layout);
    }
  else {
    const color = failed ? colors.RED : colors.CYAN;
    if (indent > 0) line(color, '----------', '');
    for (const key of sortedKeys(value)) {
      line(color, harmless(key), prefix, ':');
      write(value[key] ?? null, indent + 4, '', layout);
    }
  }
};
