import { bind } from '../data/bind.ts';
import { mayBeCalled } from '../data/module-names.ts';
import { nearest } from '../data/nearest.ts';
import { whyNotHere } from '../data/not-here.ts';
import { type Data, type Dict, toPlain } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import { setOwn } from '../protocol/plain.ts';
import { bindWrapper } from '../wrapper/define.ts';
import { findWrapper, wrapperModules } from '../wrapper/table.ts';

/**
 * Refuses a call that cannot work, before any connection is made: a function that no module
 * has, unknown or missing arguments. What only a host can tell (which provider stands behind
 * `pkg`) is left to the host.
 */
export const checkCall = (
  fun: string,
  args: readonly Data[],
  kwargs: Dict,
  modules: readonly ModuleMeta[],
): void => {
  const dot = fun.lastIndexOf('.');
  if (dot < 1) throw unknown(fun, modules);
  const [moduleName, name] = [fun.slice(0, dot), fun.slice(dot + 1)];
  const candidates = modules.filter(
    module => module.kind === 'exec' && (module.virtualname ?? module.file) === moduleName,
  );
  const replaced = candidates.some(({ builtin }) => !builtin);
  const wrapper = replaced ? undefined : findWrapper(fun);
  if (wrapper) {
    bindWrapper(fun, wrapper, args, kwargs);
    return;
  }
  if (candidates.length === 0) {
    // What `__virtual__` says is known on the host only.
    if (
      modules.some(
        module =>
          !module.builtin &&
          module.kind === 'exec' &&
          mayBeCalled(module, moduleName) &&
          (module.dynamic === true || module.functions.some(item => item.name === name)),
      )
    )
      return;
    throw unknown(fun, modules);
  }
  const broken = candidates.find(module => module.broken !== undefined);
  if (broken && candidates.length === 1)
    throw new TsaltError('module-broken', `'${fun}' is not available: ${broken.broken}`);
  const found = candidates.flatMap(module => module.functions.filter(item => item.name === name));
  if (found.length === 0 && candidates.some(({ dynamic }) => dynamic === true)) return;
  if (found.length === 0) throw unknown(fun, modules);
  if (found.length > 1) return;
  const given: Record<string, unknown> = {};
  for (const [key, value] of kwargs) setOwn(given, String(key), toPlain(value));
  const signature = found[0]?.signature;
  const bound = signature && bind(fun, signature, args.map(toPlain), given);
  if (bound && !bound.ok) throw new TsaltError('arguments', `${bound.message}.`);
};

/**
 * Refuses `--dry-run` for a function that has no test mode: it would run in earnest.
 *
 * @throws TsaltError `no-test-mode`
 */
export const checkTestMode = (fun: string, modules: readonly ModuleMeta[]): void => {
  if (fun.startsWith('state.')) return;
  const dot = fun.lastIndexOf('.');
  const [moduleName, name] = [fun.slice(0, dot), fun.slice(dot + 1)];
  const signatures = modules
    .filter(({ kind }) => kind === 'exec')
    .filter(({ virtualname, file }) => (virtualname ?? file) === moduleName)
    .flatMap(({ functions }) => functions.filter(item => item.name === name))
    .map(({ signature }) => [...signature.positional, ...(signature.keywords ?? [])]);
  if (signatures.length > 0 && signatures.every(params => params.some(isTest))) return;
  throw new TsaltError(
    'no-test-mode',
    `'${fun}' has no test mode for --dry-run; nothing was run.`,
    { hint: 'The functions of state (state.apply, state.single …) have one.' },
  );
};

const isTest = (param: { readonly name: string }): boolean => param.name === 'test';

const unknown = (fun: string, modules: readonly ModuleMeta[]): TsaltError => {
  const why = whyNotHere('exec', fun);
  if (why) return new TsaltError('no-function', `'${fun}' is not available: ${why}.`);
  const names = [...modules.filter(({ kind }) => kind === 'exec'), ...wrapperModules()].flatMap(
    module => module.functions.map(({ name }) => `${module.virtualname ?? module.file}.${name}`),
  );
  const meant = nearest(fun, names);
  return new TsaltError('no-function', `'${fun}' is not available.`, {
    hint:
      meant === undefined
        ? "`tsalt-ssh '*' sys.list_functions` lists what there is."
        : `Did you mean '${meant}'?`,
  });
};
