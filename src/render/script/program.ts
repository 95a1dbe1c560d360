import { type Filter, makoTextFilters } from './filters.ts';

/**
 * The compiled form of a template with JavaScript: the body of a function that returns its
 * `GuestParts`. Statements print; the template's functions, blocks and imports come first.
 */
export class ScriptProgram {
  readonly #shared: string[] = [];
  /** The body, and the functions inside it that are being written. */
  readonly #open: string[][] = [[]];
  readonly #functions = new Map<string, string>();
  #parent = 'undefined';

  /** Prints text of the template. */
  text(text: string): void {
    if (text !== '') this.#add(`$out(${JSON.stringify(text)}, true);`);
  }

  /** Prints the value of an expression; filters are names, first to last. */
  print(expression: string, line: number, filters: readonly string[] = []): void {
    const shown = JSON.stringify(expression.trim());
    this.#add(
      `$at(${line}); await $put(await (${expression}\n), ${shown}, ${filterList(filters)}, ${line});`,
    );
  }

  code(code: string, line: number): void {
    this.#add(`$at(${line});\n${code}\n`);
  }

  /** Adds code that no other statement may precede: `} else {`. */
  glue(code: string): void {
    this.#add(code);
  }

  /** Adds code that all functions of the template can use. */
  shared(code: string, line: number): void {
    this.#shared.push(`$at(${line});\n${code}\n`);
  }

  /** Sets the expression for the file of the template that this one inherits from. */
  inherit(file: string): void {
    this.#parent = file;
  }

  /** Begins the body of a function, which one of the `end…` methods ends. */
  begin(): void {
    this.#open.push([]);
  }

  /** Ends a function that the template defines, `name(parameters)`. It returns its text. */
  endFunction(name: string, parameters: string, filters: readonly string[]): void {
    const code = `async function ${name}(${parameters}) { return ${this.#captured(filters)}; }`;
    if (this.#open.length > 1) this.#add(code);
    else {
      this.#shared.push(code);
      this.#functions.set(name, name);
    }
  }

  /** Ends a block: printed here, unless a template that this one inherits from has the block. */
  endBlock(name: string, filters: readonly string[]): void {
    this.#shared.push(`async function $block_${name}() { return ${this.#captured(filters)}; }`);
    this.#functions.set(name, `$block_${name}`);
    this.#add(`if (!('${name}' in parent)) $out(await self.${name}());`);
  }

  /** Ends a block without a name: printed here. */
  endNameless(filters: readonly string[]): void {
    this.#add(`$out(await ${this.#captured(filters)});`);
  }

  has(name: string): boolean {
    return this.#functions.has(name);
  }

  toString(): string {
    const functions = [...this.#functions].map(([name, code]) => `${name}: ${code}`).join(', ');
    const body = this.#open[0]?.join('\n') ?? '';
    return [
      ...this.#shared,
      `return { parent: ${this.#parent}, functions: { ${functions} }, body: async ($out, $put) => {`,
      body,
      '} };',
    ].join('\n');
  }

  #add(code: string): void {
    this.#open.at(-1)?.push(code);
  }

  #captured(filters: readonly string[]): string {
    const body = this.#open.pop()?.join('\n') ?? '';
    return `$text(async ($out, $put) => {\n${body}\n}, ${filterList(filters)})`;
  }
}

export type TextFunction = (...args: unknown[]) => Promise<string>;

/** Prints a text; `isLiteral` if it is the template's own. */
type PrintText = (text: string, isLiteral?: boolean) => void;

export type Body = (out: PrintText, put: Put) => Promise<void>;

export type Put = (
  value: unknown,
  expression: string,
  filters: readonly Filter[],
  line: number,
) => Promise<void>;

/** Filters that Mako does not have are functions of the template. */
const filterList = (filters: readonly string[]): string =>
  `[${filters.map(name => (makoTextFilters.has(name) ? JSON.stringify(name) : name)).join(', ')}]`;

/** Makes a syntax error of the template, at a line. */
export const scriptSyntaxError = (message: string, line: number): SyntaxError =>
  new SyntaxError(message, { cause: line });
