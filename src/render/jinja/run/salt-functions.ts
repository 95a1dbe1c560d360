import type { Data, Dict } from '../../../data/value.ts';
import { after, type Eventual } from '../after.ts';
import { JinjaFault, raise } from '../fault.ts';
import { isTrue } from '../values/compare.ts';
import { toData, toDataDict } from '../values/to-data.ts';
import { type Args, Callable, Thing, type Value } from '../values/value.ts';
import { ownCopy } from './own-copy.ts';
import type { Run } from './run.ts';

type Call = (fun: string, args: Data[], kwargs: Dict) => Promise<Data>;

/** `salt`: execution functions as `salt['mod.fun']` and `salt.mod.fun`. */
export class SaltFunctions extends Thing {
  override readonly typeName = 'LazyLoader';
  readonly #call: Call;

  constructor(call: Call) {
    super();
    this.#call = call;
  }
  override attribute(name: string): Value | undefined {
    if (name === 'get')
      return new Callable('get', ({ list: [fun] }) =>
        typeof fun === 'string' ? saltFunction(fun, this.#call) : raise('a function has a name'),
      );
    return name.startsWith('_') ? undefined : new SaltModule(name, this.#call);
  }
  override item(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    return key.includes('.') ? saltFunction(key, this.#call) : new SaltModule(key, this.#call);
  }
  /** `'mod.fun' in salt` */
  has(fun: string, run: Run): Eventual<boolean> {
    const list = saltFunction('sys.list_functions', this.#call);
    return after(list.call({ list: [fun], named: new Map() }, run), isTrue);
  }
}

class SaltModule extends Thing {
  override readonly typeName = 'LoadedMod';
  readonly #name: string;
  readonly #call: Call;

  constructor(name: string, call: Call) {
    super();
    this.#name = name;
    this.#call = call;
  }
  override attribute(name: string): Value | undefined {
    return name.startsWith('_') ? undefined : saltFunction(`${this.#name}.${name}`, this.#call);
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'string' ? this.attribute(key) : undefined;
  }
}

const saltFunction = (fun: string, call: Call): Callable =>
  new Callable(fun, (args, run) => run.waitFor(callHost(fun, args, call)), 'LoadedFunc');

const callHost = async (fun: string, { list, named }: Args, call: Call): Promise<Value> => {
  const args = list.map(toData);
  const kwargs = toDataDict(named);
  try {
    const result = await call(fun, args, kwargs);
    // `defaults.merge` gives back what it was given: a change of the one is seen in the other.
    return args.includes(result) ? (result as Value) : ownCopy(result);
  } catch (error) {
    throw new JinjaFault('call', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
};
