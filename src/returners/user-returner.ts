import type { ControlModule } from '../bundle/control-modules.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { Returner } from './returner.ts';

type AnyFunction = (...args: unknown[]) => unknown;

/** Milliseconds that a function may take for one return. */
const longest = 5000;

/**
 * A returner of the user's: `_returners/NAME.ts` exports `returner(ret)`, which is called for each
 * host, and may export `save_load(jid, load)`, which is called before.
 *
 * @param bounded ends a function that computes without an end
 * @throws TsaltError `returner` where the module cannot be used
 */
export const userReturner = (module: ControlModule, bounded: <T>(work: () => T) => T): Returner => {
  const { name } = module;
  const exported = loaded(module, bounded);
  const { returner, save_load } = exported;
  if (typeof returner !== 'function') throw unusable(module, "it exports no function 'returner'");
  const call = async (fun: AnyFunction, ...args: unknown[]): Promise<void> => {
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(new Error(`no end within ${longest / 1000} s`)), longest);
    });
    try {
      await Promise.race([bounded(() => fun(...args)), tooLate]);
    } finally {
      clearTimeout(late);
    }
  };
  return {
    name,
    ...(typeof save_load === 'function'
      ? { begin: load => call(save_load as AnyFunction, load.jid, load) }
      : {}),
    write: async returns => {
      for (const ret of returns) await call(returner as AnyFunction, ret);
    },
  };
};

const loaded = (
  module: ControlModule,
  bounded: <T>(work: () => T) => T,
): Readonly<Record<string, unknown>> => {
  if (module.broken !== undefined) throw unusable(module, module.broken);
  try {
    return bounded(() => module.load());
  } catch (error) {
    throw unusable(module, messageOf(error), error);
  }
};

const unusable = ({ name, path }: ControlModule, why: string, cause?: unknown): TsaltError =>
  new TsaltError('returner', `The returner '${name}' cannot be used: ${why}.`, {
    at: { file: path },
    cause,
  });
