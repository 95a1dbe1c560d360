import { join } from 'node:path';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import type { AugeasCommand } from './augtool.ts';

/** The augeas command and the number of arguments for each of Salt's commands. */
const kinds: Readonly<Record<string, { method: string; count: readonly number[] }>> = {
  set: { method: 'set', count: [1, 2] },
  setm: { method: 'setm', count: [2, 3] },
  mv: { method: 'move', count: [2] },
  move: { method: 'move', count: [2] },
  ins: { method: 'insert', count: [3] },
  insert: { method: 'insert', count: [3] },
  rm: { method: 'remove', count: [1] },
  remove: { method: 'remove', count: [1] },
};

/** A parsed command, or the error. */
export type ReadCommand = { method: string; words: string[] } | { error: string };

/** Reads a line such as `set bind 0.0.0.0`, `ins LABEL before PATH`, `rm PATH`. */
export const readAugeasCommand = (line: string): ReadCommand => {
  const space = line.indexOf(' ');
  const wrong = (arg: string) => ({
    error: `Invalid formatted command, see debug log for details: ${arg}`,
  });
  if (space < 0) return wrong(line);
  const name = line.slice(0, space);
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind) return { error: `Command ${name} is not supported (yet)` };
  const arg = line.slice(space + 1);
  const words = wordsOf(arg);
  const isGood =
    words !== undefined &&
    kind.count.includes(words.length) &&
    (kind.method !== 'insert' || ['before', 'after'].includes(words[1] ?? ''));
  return isGood ? { method: kind.method, words } : wrong(arg);
};

const wordsOf = (arg: string): string[] | undefined => {
  try {
    return splitCommandArgs(arg);
  } catch {
    return undefined;
  }
};

/** Prefixes a path with its context, unless it is already below it. */
const inContext = (path: string, context: string | null): string => {
  if (!context) return path;
  const bare = path.replace(/^\/+/, '');
  if (bare === '') return context;
  return path.startsWith(context) ? path : join(context, bare);
};

/** Returns the command in augtool's syntax. */
export const toAugtool = (
  { method, words }: { method: string; words: string[] },
  context: string | null,
): AugeasCommand => {
  const [first = '', second = '', third] = words;
  const path = inContext(first, context);
  if (method === 'set') return words.length === 2 ? ['set', path, second] : ['clear', path];
  if (method === 'setm')
    return third === undefined ? ['clearm', path, second] : ['setm', path, second, third];
  if (method === 'move') return ['mv', path, second];
  if (method === 'insert') return ['ins', first, second, inContext(third ?? '', context)];
  return ['rm', path];
};
