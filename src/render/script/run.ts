import { posix } from 'node:path';
import { messageOf } from '../../protocol/error.ts';
import { renderFault } from '../fault.ts';
import { guard } from '../guard.ts';
import { bounded } from '../ts/bounded.ts';
import type { Stage } from '../types.ts';
import { contextOf } from './context.ts';
import { type Filter, shownAs } from './filters.ts';
import { iterate, loopOver } from './loop.ts';
import { isName } from './names.ts';
import type { Body, Parts, Program, Put, TextFunction } from './program.ts';

type Compile = (text: string) => Program;

/** Runs a template with JavaScript in it. It is its author's code; data only ever are values. */
export const runProgram = async (
  language: string,
  text: string,
  stage: Stage,
  compile: Compile,
): Promise<string> => {
  const { file, tplfile } = stage.request;
  const path = String(tplfile ?? stage.variables.get('tplfile') ?? file);
  const run = new ScriptRun(language, stage, compile);
  try {
    return await run.text({ file, path, text });
  } catch (error) {
    throw run.fault(error);
  }
};

/** A template: its name in errors, its path inside the roots, its text. */
type Source = { readonly file: string; readonly path: string; readonly text: string };

/** Functions of a template by name, `body` among them. */
type Space = Record<string, TextFunction>;

const space = (): Space => Object.create(null) as Space;

/** A template between those that inherit from it and the one that it inherits from. */
type Linked = { readonly self: Space; readonly local: Space; readonly parent: Space };

const deepest = 50;

/** One rendering: the variables its templates see, and where it is at. */
class ScriptRun {
  readonly #language: string;
  readonly #stage: Stage;
  readonly #compile: Compile;
  readonly #context: Record<string, unknown>;
  readonly #variables: readonly string[];
  #source: Source | undefined;
  #line: number | undefined;
  #depth = 0;

  constructor(language: string, stage: Stage, compile: Compile) {
    this.#language = language;
    this.#stage = stage;
    this.#compile = compile;
    this.#context = contextOf(stage);
    this.#variables = Object.keys(this.#context).filter(
      name => isName(name) && !offered.includes(name),
    );
  }

  /** What a template prints: the outermost of those that it inherits from. */
  async text(source: Source): Promise<string> {
    return this.#deeper(async () => {
      const { outermost } = await this.#load(source, undefined);
      return outermost();
    });
  }

  fault(error: unknown): Error {
    if (error instanceof Error && error.name === 'TsaltError') return error;
    const { file = '', text = '' } = this.#source ?? {};
    const ownLine = error instanceof SyntaxError ? error.cause : this.#line;
    const line = typeof ownLine === 'number' ? ownLine : undefined;
    return renderFault(
      `${this.#language.toLowerCase()}-failed`,
      `${this.#language} error: ${messageOf(error)}`,
      { file, text, line },
      { cause: error },
    );
  }

  async #load(
    source: Source,
    below: Linked | undefined,
  ): Promise<{ local: Space; parent: Space; outermost: TextFunction }> {
    this.#goTo(source, undefined);
    const local = space();
    const parent = space();
    const self = below?.self ?? space();
    const next = below?.local ?? space();
    const {
      functions,
      body,
      parent: above,
    } = await this.#parts(source, [self, parent, next, local]);
    const whole: TextFunction = () => this.#capture(source, body, []);
    Object.assign(local, functions, { body: whole });
    for (const [name, own] of Object.entries(local)) self[name] ??= own;
    let outermost = whole;
    if (above !== undefined) {
      const found = await this.#deeper(() =>
        this.#load(this.#find(above, source), { self, local, parent }),
      );
      Object.assign(parent, found.parent, found.local);
      outermost = found.outermost;
    }
    return { local, parent, outermost };
  }

  async #deeper<T>(work: () => Promise<T>): Promise<T> {
    if (this.#depth >= deepest)
      throw new Error(`templates include each other more than ${deepest} levels deep`);
    this.#depth += 1;
    const result = await work();
    this.#depth -= 1;
    return result;
  }

  #parts(source: Source, spaces: readonly Space[]): Promise<Parts> {
    const make = this.#factory(source.text);
    const given = [
      (line: number) => this.#goTo(source, line),
      (body: Body, filters: readonly Filter[]) => this.#capture(source, body, filters),
      async (file: unknown) => this.text(this.#find(file, source)),
      (file: unknown, names: readonly string[]) => this.#namespace(file, names, source),
      iterate,
      loopOver,
      ...spaces,
      (fun: TextFunction, ...args: unknown[]) => fun(...args),
      ...this.#variables.map(name => this.#context[name]),
    ];
    return bounded(() => make(...given));
  }

  #factory(text: string): Factory {
    const key = `${this.#language}\0${this.#variables.join()}\0${text}`;
    const known = factories.get(key);
    if (known) return known;
    if (factories.size > 1000) factories.clear();
    const code = `{\n${this.#compile(text)}\n}`;
    const made = new AsyncFunction(...offered, ...this.#variables, code);
    factories.set(key, made);
    return made;
  }

  async #capture(source: Source, body: Body, filters: readonly Filter[]): Promise<string> {
    const parts: string[] = [];
    const put: Put = async (value, expression, asked, line) => {
      this.#goTo(source, line);
      if (value === undefined) throw new TypeError(`${expression} is undefined`);
      const shown = await shownAs(value, asked);
      parts.push(this.#stage.guarded ? guard(shown) : shown);
    };
    await bounded(() => body(text => parts.push(text), put));
    return filters.length === 0 ? parts.join('') : shownAs(parts.join(''), filters);
  }

  async #namespace(file: unknown, names: readonly string[], from: Source): Promise<Space> {
    const { local, parent } = await this.#deeper(() =>
      this.#load(this.#find(file, from), undefined),
    );
    const all = Object.assign(space(), parent, local);
    for (const name of names)
      if (!(name in all)) throw new TypeError(`'${String(file)}' defines no '${name}'`);
    return all;
  }

  /** A file of the roots: beside the template, else from the top of the roots. */
  #find(file: unknown, from: Source): Source {
    const { files } = this.#stage.request.context;
    const { saltenv } = this.#stage.request;
    const path = String(file);
    const isWhole = path.startsWith('/') || path.startsWith('salt://');
    const beside = posix.join(posix.dirname(from.path), path);
    const wanted =
      !isWhole && files.find(beside, saltenv) ? beside : path.replace(/^(?:salt:\/\/)?\/*/, '');
    return { file: path, path: wanted, text: files.read(wanted, saltenv) };
  }

  #goTo(source: Source, line: number | undefined): void {
    this.#source = source;
    this.#line = line;
  }
}

type Factory = (...values: unknown[]) => Promise<Parts>;

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...parts: string[]
) => Factory;

const factories = new Map<string, Factory>();

/** What programs are made of, and what Mako offers to expressions. */
const offered = [
  ...['$at', '$text', '$include', '$namespace', '$iter', '$loop'],
  ...['self', 'parent', 'next', 'local', 'capture'],
];
