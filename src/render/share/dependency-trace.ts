import { cloneData } from '../../data/values/clone.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/values/value.ts';
import type { TaintSource } from '../taint/taint-table.ts';
import type { RenderContext } from '../types.ts';
import {
  deepFingerprint,
  joinFingerprints,
  scalarFingerprint,
  shapeOf,
  taintedFingerprint,
} from './fingerprint.ts';

/**
 * One recorded read of data that may differ between hosts. Collections are numbered in the order of
 * their first use; grains, pillar and opts are the first three.
 */
export type RecordedRead =
  | { readonly kind: 'item'; readonly of: number; readonly key: DataKey }
  /** The keys of a dictionary, the length of a list. */
  | { readonly kind: 'keys'; readonly of: number }
  /** Everything in it. */
  | { readonly kind: 'whole'; readonly of: number }
  | { readonly kind: 'file'; readonly path: string; readonly saltenv: string }
  | { readonly kind: 'call'; readonly call: RecordedCall };

export type RecordedCall = {
  readonly fun: string;
  readonly args: Data[];
  readonly kwargs: Dict;
};

/** The value of a read, as a fingerprint; `undefined` differs from all earlier ones. */
export type ReadFingerprint = string | undefined;

/** Repeats recorded reads in the context of one host. */
export class DependencyTrace {
  readonly #context: RenderContext;
  readonly #collections: (Data[] | Dict)[];
  readonly #numbers = new Map<object, number>();

  constructor(context: RenderContext) {
    this.#context = context;
    this.#collections = [context.grains, context.pillar, context.opts];
    for (const [number, root] of this.#collections.entries())
      if (!this.#numbers.has(root)) this.#numbers.set(root, number);
  }

  /** The state before the first read. */
  get start(): string {
    return [0, 1, 2].map(number => this.#shown(this.#collections[number] ?? [])).join();
  }

  /** Returns the number of a known collection. */
  numberOf(collection: object): number | undefined {
    return this.#numbers.get(collection);
  }

  /** Repeats a read. Only calls are asynchronous. */
  see(look: RecordedRead): ReadFingerprint | Promise<ReadFingerprint> {
    switch (look.kind) {
      case 'item':
        return this.#item(look.of, look.key);
      case 'keys':
        return this.#keys(look.of);
      case 'whole':
        return deepFingerprint(this.#collections[look.of], this.#context.taint);
      case 'file':
        return this.#file(look.path, look.saltenv);
      case 'call':
        return this.#call(look.call);
    }
  }

  #item(of: number, key: DataKey): string {
    const from = this.#collections[of];
    const value = Array.isArray(from) ? from[Number(key)] : from?.get(key);
    return typeof value !== 'object' || value === null || value instanceof Float
      ? taintedFingerprint(value, this.#context.taint)
      : this.#shown(value);
  }

  #shown(collection: Data[] | Dict): string {
    let number = this.#numbers.get(collection);
    if (number === undefined) {
      number = this.#collections.push(collection) - 1;
      this.#numbers.set(collection, number);
    }
    return `${shapeOf(collection)}${number}`;
  }

  #keys(of: number): string {
    const from = this.#collections[of];
    return isDict(from)
      ? joinFingerprints(
          Array.from(from.keys(), key => taintedFingerprint(key, this.#context.taint)),
        )
      : String(from?.length);
  }

  /** A file's fingerprint is its text: after the first read, the very same string. */
  #file(path: string, saltenv: string): ReadFingerprint {
    const { files } = this.#context;
    return files.find(path, saltenv) ? files.read(path, saltenv) : undefined;
  }

  async #call(asked: RecordedCall): Promise<ReadFingerprint> {
    const { fun, args, kwargs } = copyOfCall(asked);
    if (!(await this.#context.onlyLooks?.(fun))) return undefined;
    const result = await this.#context.call(fun, args, kwargs);
    return callFingerprint({ fun, args, kwargs }, result, this.#context.taint);
  }
}

/** Returns a name that is equal for reads of the same thing. */
export const nameOfRead = (look: RecordedRead): string => {
  switch (look.kind) {
    case 'item':
      return `item ${look.of} ${scalarFingerprint(look.key)}`;
    case 'file':
      return `file ${look.saltenv} ${look.path}`;
    case 'call':
      return `call ${look.call.fun} ${deepFingerprint([look.call.args, look.call.kwargs])}`;
    default:
      return `${look.kind} ${look.of}`;
  }
};

export const copyOfCall = ({ fun, args, kwargs }: RecordedCall): RecordedCall => {
  const [ownArgs, ownKwargs] = cloneData([args, kwargs]) as [Data[], Dict];
  return { fun, args: ownArgs, kwargs: ownKwargs };
};

/** Records the result of a call and its changes of the arguments. */
export const callFingerprint = (
  { args, kwargs }: RecordedCall,
  result: Data,
  taint: TaintSource | undefined,
): string => deepFingerprint([result, args, kwargs], taint);
