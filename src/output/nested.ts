import type { Plain } from '../protocol/plain.ts';
import type { Palette } from './color.ts';
import { harmless, numberText, sortedKeys, splitLines } from './text.ts';

type Layout = { readonly colors: Palette; readonly failed: boolean };

/**
 * Salt's default layout: keys in order with their values indented below (spec: salt.output.nested).
 *
 * @param indent columns before the first level; above 0 a dictionary starts with a rule
 * @param failed the call came back with a return code: keys and lists are red
 */
export const nested = (
  value: Plain,
  { colors, indent = 0, failed = false }: { colors: Palette; indent?: number; failed?: boolean },
): string => lines(value, indent, '', { colors, failed }).join('\n');

const lines = (value: Plain, indent: number, prefix: string, layout: Layout): string[] => {
  const { colors, failed } = layout;
  const line = (color: string, text: string, before: string, suffix = ''): string =>
    `${' '.repeat(indent)}${color}${before}${text}${colors.ENDC}${suffix}`;

  if (value === null) return [line(colors.LIGHT_YELLOW, 'None', prefix)];
  if (typeof value === 'boolean')
    return [line(colors.LIGHT_YELLOW, value ? 'True' : 'False', prefix)];
  if (typeof value === 'number') return [line(colors.LIGHT_YELLOW, numberText(value), prefix)];
  if (typeof value === 'string')
    return splitLines(value).map((text, at) =>
      line(colors.GREEN, harmless(text), at === 0 ? prefix : ' '.repeat(prefix.length)),
    );
  if (Array.isArray(value)) {
    const color = failed ? colors.RED : colors.GREEN;
    return value.flatMap(item => {
      if (typeof item !== 'object' || item === null) return lines(item, indent, '- ', layout);
      const mark = line(color, '|_', '');
      return [mark, ...lines(item, indent + 2, Array.isArray(item) ? '- ' : '', layout)];
    });
  }
  const color = failed ? colors.RED : colors.CYAN;
  const rule = indent > 0 ? [line(color, '----------', '')] : [];
  const items = sortedKeys(value).flatMap(key => [
    line(color, harmless(key), prefix, ':'),
    ...lines(value[key] ?? null, indent + 4, '', layout),
  ]);
  return [...rule, ...items];
};
