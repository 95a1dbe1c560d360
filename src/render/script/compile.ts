import { compileMako } from '../mako/mako.ts';
import { compileWempy } from '../wempy.ts';
import { offered } from './guest/protocol.ts';
import type { ScriptProgram } from './program.ts';

export type Language = 'mako' | 'wempy';

const compilers: Readonly<Record<Language, (text: string) => ScriptProgram>> = {
  mako: compileMako,
  wempy: compileWempy,
};

const known = new Map<string, string>();

/**
 * Compiles a template to the code of a function: its parameters are the offered names, then the
 * variables.
 *
 * @throws SyntaxError with the line as `cause`
 */
export const codeOf = (language: Language, text: string, variables: readonly string[]): string => {
  const key = `${language}\0${text}`;
  const body = known.get(key) ?? compilers[language](text).toString();
  if (known.size > 1000) known.clear();
  known.set(key, body);
  return `(async function (${[...offered, ...variables].join(', ')}) {{\n${body}\n}})`;
};

/**
 * Returns the template's line for a line of such code, both 1-based; undefined if there is none.
 */
export const templateLine = (code: string, line: number): number | undefined => {
  const lines = code.split('\n').slice(0, line);
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const found = [...(lines[at] ?? '').matchAll(/\$at\((\d+)\);/g)].at(-1)?.[1];
    if (found !== undefined) return Number(found) + Math.max(0, lines.length - 2 - at);
  }
  return undefined;
};
