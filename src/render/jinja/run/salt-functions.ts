import type { Data } from '../../../data/values/value.ts';
import { messageOf, TsaltError } from '../../../protocol/error.ts';
import type { RenderContext } from '../../types.ts';
import { after, type Eventual } from '../after.ts';
import { JinjaError, raise } from '../jinja-error.ts';
import { isTruthy } from '../values/compare.ts';
import { toDataDict, valueToData } from '../values/to-data.ts';
import { type Args, Callable, Thing, type Value } from '../values/value.ts';
import { copyOnRead } from './copy-on-read.ts';
import type { Run } from './run.ts';

/** `salt`: calls execution functions as `salt['mod.fun']` and `salt.mod.fun`. */
export class SaltObject extends Thing {
  override readonly typeName = 'LazyLoader';

  override attribute(name: string): Value | undefined {
    if (name === 'get')
      return new Callable(
        'get',
        ({ list: [fun = null] }, run) =>
          functionByTaintedName(this, fun, run) ?? this.item(fun) ?? null,
      );
    return name.startsWith('_') ? undefined : new SaltModule(name);
  }
  override item(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    return key.includes('.') ? saltFunction(key) : new SaltModule(key);
  }
  /** `'mod.fun' in salt` */
  has(fun: string, run: Run): Eventual<boolean> {
    return after(run.call('sys.list_functions', { list: [fun], named: new Map() }), isTruthy);
  }
}

class SaltModule extends Thing {
  override readonly typeName = 'LoadedMod';
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
  }
  override attribute(name: string): Value | undefined {
    return name.startsWith('_') ? undefined : saltFunction(`${this.#name}.${name}`);
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'string' ? this.attribute(key) : undefined;
  }
}

/**
 * `salt[name]` with a host-supplied name: only functions of the host can be called, not those of
 * the control node. Returns `undefined` for everything else.
 */
export const functionByTaintedName = (
  value: Value,
  key: Value,
  { tracking }: Run,
): Value | undefined => {
  if (!(value instanceof SaltObject || value instanceof SaltModule)) return undefined;
  if (typeof key !== 'string' || !tracking?.look(key)) return undefined;
  const found = value.item(key);
  if (!(found instanceof Callable)) return found;
  return new Callable(found.name, (args, run) =>
    after(run.livesHere(found.name), isHere =>
      isHere
        ? raise(
            `${tracking.table.owner} chose the function '${found.name}', which runs on the control node`,
          )
        : found.call(args, run),
    ),
  );
};

const saltFunction = (fun: string): Callable =>
  new Callable(fun, (args, run) => run.call(fun, args), 'LoadedFunc');

/** Calls functions for templates of one host. Templates may change the results. */
export const hostCaller =
  (call: RenderContext['call']) =>
  async (fun: string, { list, named }: Args): Promise<Value> => {
    const args = list.map(valueToData);
    const kwargs = toDataDict(named);
    let result: Data;
    try {
      result = await call(fun, args, kwargs);
    } catch (error) {
      const reason = messageOf(error);
      const isUnknown = error instanceof TsaltError && error.code === 'no-function';
      throw new JinjaError('call', reason, {
        cause: error,
        saltSentence: isUnknown
          ? `Jinja variable 'salt.utils.templates.AliasedLoader object' has no attribute '${fun}'`
          : undefined,
      });
    }
    // `defaults.merge` returns its argument: a change of one must be visible in the other.
    return args.includes(result) ? (result as Value) : copyOnRead(result);
  };
