import { objectNote } from '../../../data/values/object-note.ts';
import type { DataKey, Float } from '../../../data/values/value.ts';
import type { Eventual } from '../after.ts';
import type { Run } from '../run/run.ts';

/**
 * Values of templates: Python's values. Data of the control node (`data/values/value.ts`) are used
 * unchanged; tuples, sets, functions and others exist only in templates.
 */
export type Value = null | boolean | number | bigint | string | Float | Value[] | ValueDict | Thing;
export type Key = DataKey | Tuple;
export type ValueDict = Map<Key, Value>;

/** An immutable list. */
export class Tuple extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

export const tuple = (items: Iterable<Value>): Tuple => {
  const made = new Tuple();
  for (const item of items) made.push(item);
  return made;
};

/** A tuple whose items also have names (`namedtuple`). */
export class NamedTuple extends Tuple {
  parts: readonly string[] = [];

  part(name: string): Value | undefined {
    const index = this.parts.indexOf(name);
    return index < 0 ? undefined : this[index];
  }
}

const pillars = objectNote<true>();

/** Marks a dictionary as the variable `pillar`, which has its own type in Salt. */
export const markPillar = (value: Value): Value => {
  if (value instanceof Map) pillars.put(value, true);
  return value;
};

export const isPillar = (value: Value): boolean =>
  value instanceof Map && pillars.of(value) === true;

/** `collections.OrderedDict`, which Salt prints under its own name in some places. */
export class OrderedDict extends Map<Key, Value> {}

/** Reports the position of each value in a format's result. */
export type OnPiece = (start: number, text: string, value: Value) => void;

/** The arguments of a call. */
export type Args = { readonly list: readonly Value[]; readonly named: ReadonlyMap<string, Value> };

export const noArgs: Args = { list: [], named: new Map() };

/**
 * A value that is not plain data. Templates can use only what it declares here: JavaScript
 * properties are never looked up by a name from a template.
 */
export abstract class Thing {
  /** Python's name of the type. */
  abstract readonly typeName: string;
  attribute(_name: string): Value | undefined {
    return undefined;
  }
  item(_key: Value): Value | undefined {
    return undefined;
  }
  get isCallable(): boolean {
    return false;
  }
  call(_args: Args, _run: Run): Eventual<Value> {
    throw new TypeError(`'${this.typeName}' object is not callable`);
  }
  /** Its items, where it can be iterated. */
  items(): Value[] | undefined {
    return undefined;
  }
  /** The data that it shows or returns, for tracking. */
  holds(): readonly Value[] {
    return [];
  }
  get size(): number | undefined {
    return undefined;
  }
  get truth(): boolean {
    return true;
  }
  equals(other: Value): boolean {
    return this === other;
  }
  text(): string {
    return `<${this.typeName} object>`;
  }
  repr(): string {
    return this.text();
  }
}

/** A function or method. */
export class Callable extends Thing {
  override readonly typeName: string;
  readonly name: string;
  readonly #run: (args: Args, run: Run) => Eventual<Value>;

  constructor(
    name: string,
    run: (args: Args, run: Run) => Eventual<Value>,
    typeName = 'builtin_function_or_method',
  ) {
    super();
    this.name = name;
    this.#run = run;
    this.typeName = typeName;
  }
  override get isCallable(): boolean {
    return true;
  }
  override call(args: Args, run: Run): Eventual<Value> {
    return this.#run(args, run);
  }
  override text(): string {
    return `<${this.typeName} ${this.name}>`;
  }
}

export const isMap = (value: Value): value is ValueDict => value instanceof Map;
export const isTuple = (value: Value): value is Tuple => value instanceof Tuple;
export const isList = (value: Value): value is Value[] =>
  Array.isArray(value) && !(value instanceof Tuple);
