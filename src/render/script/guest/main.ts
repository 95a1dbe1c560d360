import { thrownText } from '../../confined/thrown.ts';
import { escapePrinted } from '../../escape-printed.ts';
import { type Filter, shownAs } from '../filters.ts';
import { iterate, loopOver } from '../loop.ts';
import type { Body, Put, TextFunction } from '../program.ts';
import { type Guest, type GuestError, type GuestSource, type Send, whereBase } from './protocol.ts';
import { fromPacked, guestSaltTable } from './values.ts';

/** Functions of a template by name, including `body`. */
type Space = Record<string, TextFunction>;

const space = (): Space => Object.create(null) as Space;

/** A template with those that inherit from it and the one that it inherits from. */
type Linked = { readonly self: Space; readonly local: Space; readonly parent: Space };

const deepest = 50;

/** Variables that have a second name. */
const dunder: ReadonlyMap<string, string> = new Map([
  ['__salt__', 'salt'],
  ['__grains__', 'grains'],
  ['__pillar__', 'pillar'],
  ['__opts__', 'opts'],
]);

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Runs templates inside QuickJS. `send` is its only access to the outside. */
class GuestRun {
  readonly #send: Send;
  readonly #packed = new Map<string, string>();
  readonly #values = new Map<string, unknown>();
  readonly #pending = new Map<number, Pending>();
  /** Errors of calls, to distinguish them from the template's own. */
  readonly #calls = new WeakMap<object, number>();
  #guarded = false;
  /** The last result, and the offsets of the template's own text in it. */
  #printed: { readonly text: string; readonly literals: readonly number[] } = {
    text: '',
    literals: [],
  };
  #index = 0;
  #line = 0;
  #depth = 0;

  constructor(send: Send) {
    this.#send = send;
    const salt = guestSaltTable((fun, args, kwargs) => this.#ask('call', fun, args, kwargs));
    this.#values.set('salt', salt);
  }

  guest(): Guest {
    return {
      give: (name, packed) => {
        this.#packed.set(name, packed);
      },
      begin: (source, guarded) => {
        this.#guarded = guarded;
        void this.#begin(source);
      },
      answer: (call, value, isError) => this.#answer(call, value, isError),
      where: () => this.#index * whereBase + this.#line,
    };
  }

  async #begin(source: GuestSource): Promise<void> {
    try {
      const text = await this.#text(source);
      const literals = this.#printed.text === text ? this.#printed.literals : [];
      this.#send('done', text, literals.join());
    } catch (error) {
      const call = typeof error === 'object' && error !== null ? this.#calls.get(error) : undefined;
      const [name, stack] = error instanceof Error ? [error.name, error.stack] : ['', ''];
      this.#send('failed', thrownText(error), String(name), String(stack), String(call ?? ''));
    }
  }

  #ask(kind: 'call' | 'find', ...words: string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.set(this.#send(kind, ...words), { resolve, reject });
    });
  }

  #answer(call: number, value: unknown, isError: boolean): void {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    if (!isError) {
      pending?.resolve(typeof value === 'string' ? fromPacked(JSON.parse(value)) : value);
      return;
    }
    const { name, message, index, line } = value as GuestError;
    const error = new Error(message);
    error.name = name;
    if (index === undefined) this.#calls.set(error, call);
    else {
      this.#index = index;
      this.#line = line ?? 0;
    }
    pending?.reject(error);
  }

  #variable(asked: string): unknown {
    const name = dunder.get(asked) ?? asked;
    if (!this.#values.has(name))
      this.#values.set(name, fromPacked(JSON.parse(this.#packed.get(name) ?? 'null')));
    return this.#values.get(name);
  }

  /** Renders a template through the outermost template that it inherits from. */
  #text(source: GuestSource): Promise<string> {
    return this.#deeper(async () => {
      const { outermost } = await this.#load(source, undefined);
      return outermost();
    });
  }

  async #load(
    source: GuestSource,
    below: Linked | undefined,
  ): Promise<{ local: Space; parent: Space; outermost: TextFunction }> {
    this.#goTo(source, 0);
    const local = space();
    const parent = space();
    const self = below?.self ?? space();
    const next = below?.local ?? space();
    const spaces = [self, parent, next, local];
    const { functions, body, parent: above } = await this.#parts(source, spaces);
    const whole: TextFunction = () => this.#capture(source, body, []);
    Object.assign(local, functions, { body: whole });
    for (const [name, own] of Object.entries(local)) self[name] ??= own;
    let outermost = whole;
    if (above !== undefined) {
      const found = await this.#deeper(async () =>
        this.#load(await this.#find(above, source), { self, local, parent }),
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

  #parts(source: GuestSource, spaces: readonly Space[]): ReturnType<GuestSource['make']> {
    return source.make(
      (line: number) => this.#goTo(source, line),
      (body: Body, filters: readonly Filter[]) => this.#capture(source, body, filters),
      async (file: unknown) => this.#text(await this.#find(file, source)),
      (file: unknown, names: readonly string[]) => this.#namespace(file, names, source),
      iterate,
      loopOver,
      ...spaces,
      (fun: TextFunction, ...args: unknown[]) => fun(...args),
      ...source.variables.map(name => this.#variable(name)),
    );
  }

  async #capture(source: GuestSource, body: Body, filters: readonly Filter[]): Promise<string> {
    const parts: string[] = [];
    const literals: number[] = [];
    let length = 0;
    const add = (text: string, isLiteral = false): void => {
      parts.push(text);
      if (isLiteral) {
        // Adjacent texts are one part.
        const begin = literals.at(-1) === length ? literals.splice(-2)[0] : length;
        literals.push(begin ?? length, length + text.length);
      }
      length += text.length;
    };
    const put: Put = async (value, expression, asked, line) => {
      this.#goTo(source, line);
      if (value === undefined) throw new TypeError(`${expression} is undefined`);
      const shown = await shownAs(value, asked);
      add(this.#guarded ? escapePrinted(shown) : shown);
    };
    await body(add, put);
    const text = parts.join('');
    if (filters.length > 0) return shownAs(text, filters);
    this.#printed = { text, literals };
    return text;
  }

  async #namespace(file: unknown, names: readonly string[], from: GuestSource): Promise<Space> {
    const { local, parent } = await this.#deeper(async () =>
      this.#load(await this.#find(file, from), undefined),
    );
    const all = Object.assign(space(), parent, local);
    for (const name of names)
      if (!(name in all)) throw new TypeError(`'${String(file)}' defines no '${name}'`);
    return all;
  }

  async #find(file: unknown, from: GuestSource): Promise<GuestSource> {
    return (await this.#ask('find', String(file), from.path)) as GuestSource;
  }

  #goTo(source: GuestSource, line: number): void {
    this.#index = source.index;
    this.#line = line;
  }
}

export const guestFor = (send: Send): Guest => new GuestRun(send).guest();
