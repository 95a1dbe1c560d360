import { messageOf, renderFault } from '../fault.ts';
import { guard } from '../guard.ts';
import type { Stage } from '../types.ts';
import { contextOf } from './context.ts';

/** What a template with JavaScript in it compiles to: statements that print. */
export class Program {
  readonly #lines: string[] = [];

  /** Prints text of the template. */
  text(text: string): void {
    if (text !== '') this.#lines.push(`$out(${JSON.stringify(text)});`);
  }

  /** Prints the value of an expression; filters are names of functions, first to last. */
  print(expression: string, line: number, filters: readonly string[] = []): void {
    const shown = JSON.stringify(expression.trim());
    this.#lines.push(
      `$at(${line}); $put(await (${expression}\n), ${shown}, ${JSON.stringify(filters)});`,
    );
  }

  code(code: string, line: number): void {
    this.#lines.push(`$at(${line});\n${code}\n`);
  }

  /** A part of a statement that no other statement may stand before: `} else {`. */
  glue(code: string): void {
    this.#lines.push(code);
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

type Body = (...values: unknown[]) => Promise<void>;

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...parts: string[]
) => Body;

const programs = new Map<string, Body>();
const names = ['$out', '$put', '$at', '$include', '$iter'];

/** Runs a compiled template. The template is its author's code; data only ever are values. */
export const runProgram = async (
  language: string,
  text: string,
  stage: Stage,
  compile: (text: string) => Program,
): Promise<string> => {
  const { file } = stage.request;
  const context = contextOf(stage);
  const variables = Object.keys(context).filter(
    name => /^[A-Za-z_]\w*$/.test(name) && !reserved.has(name),
  );
  const output: string[] = [];
  let line = 1;
  const put = (value: unknown, expression: string, filters: readonly string[]): void => {
    if (value === undefined) throw new TypeError(`${expression} is undefined`);
    let shown = filters.includes('json') ? JSON.stringify(value) : show(value);
    for (const filter of filters) shown = apply(filter, shown);
    output.push(stage.guarded ? guard(shown) : shown);
  };
  try {
    const body = bodyOf(`${language}\0${variables.join()}\0${text}`, variables, () =>
      compile(text),
    );
    await body(
      (part: string) => output.push(part),
      put,
      (at: number) => {
        line = at;
      },
      async (path: unknown) => {
        const included = stage.request.context.files.read(String(path), stage.request.saltenv);
        const request = { ...stage.request, text: included, file: String(path) };
        output.push(await runProgram(language, included, { ...stage, request }, compile));
      },
      iterate,
      ...variables.map(name => context[name]),
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'TsaltError') throw error;
    const at = error instanceof SyntaxError && typeof error.cause === 'number' ? error.cause : line;
    throw renderFault(
      `${language.toLowerCase()}-failed`,
      `${language} error: ${messageOf(error)}`,
      {
        file,
        text,
        line: error instanceof SyntaxError && error.cause === undefined ? undefined : at,
      },
      { cause: error },
    );
  }
  return output.join('');
};

/** A fault of the template's own syntax, at a line. */
export const syntaxFault = (message: string, line: number): SyntaxError =>
  new SyntaxError(message, { cause: line });

const bodyOf = (key: string, variables: readonly string[], compile: () => Program): Body => {
  const known = programs.get(key);
  if (known) return known;
  if (programs.size > 1000) programs.clear();
  const body = new AsyncFunction(...names, ...variables, `{\n${compile()}\n}`);
  programs.set(key, body);
  return body;
};

const reserved = new Set([
  'let',
  'const',
  'class',
  'function',
  'new',
  'delete',
  'this',
  'static',
  'package',
  'default',
  'enum',
  'import',
  'export',
  'await',
  'null',
  'true',
  'false',
  'in',
  'var',
  'void',
  'with',
  'yield',
  'return',
  'switch',
  'case',
  'for',
  'while',
  'do',
  'if',
  'else',
  'try',
  'catch',
  'throw',
  'typeof',
  'instanceof',
  'interface',
  'private',
  'protected',
  'public',
  'super',
  'break',
  'continue',
  'debugger',
  'extends',
  'finally',
  'implements',
]);

const show = (value: unknown): string => {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const iterate = (value: unknown): Iterable<unknown> => {
  if (typeof value === 'object' && value !== null && !(Symbol.iterator in value))
    return Object.keys(value);
  return value as Iterable<unknown>;
};

const html: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const apply = (filter: string, text: string): string => {
  switch (filter) {
    case 'h':
    case 'x':
      return text.replace(/[&<>"']/g, char => html[char] ?? char);
    case 'u':
      return encodeURIComponent(text).replace(/%20/g, '+');
    case 'trim':
      return text.trim();
    case 'n':
    case 'str':
    case 'unicode':
    case 'json':
      return text;
    default:
      throw new TypeError(`there is no filter '${filter}'`);
  }
};
