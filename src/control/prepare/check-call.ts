import { closestMatch } from '../../data/closest-match.ts';
import { bindArguments } from '../../data/signatures/bind.ts';
import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { whyUnsupported } from '../../data/unsupported.ts';
import { type Data, type Dict, toPlain } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { setOwn } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import {
  isUnsupportedKeyword,
  meantKeyword,
  refuseUnknownKeywords,
  stateKeywords,
} from '../../wrapper/call-keywords.ts';
import { bindWrapper } from '../../wrapper/define.ts';
import { findWrapper, wrapperModules } from '../../wrapper/table.ts';

/**
 * Refuses a call that cannot work, before any connection is made: a function that no module has,
 * unknown or missing arguments. Checks that need the host (which module provides `pkg`) are left to
 * it.
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
    if (fun === 'state.single') checkSingle(args, kwargs, modules);
    return;
  }
  // Which of them has the name is known on the host only, where `__virtual__` decides.
  const possible = modules.filter(
    module =>
      module.kind === 'exec' &&
      (candidates.includes(module) || (!module.builtin && mayBeCalled(module, moduleName))),
  );
  const [broken] = candidates.filter(module => module.broken !== undefined);
  if (broken && candidates.length === 1)
    throw new TsaltError('module-broken', `'${fun}' is not available: ${broken.broken}`);
  const found = possible.flatMap(module => module.functions.filter(item => item.name === name));
  const isUnread = possible.some(
    ({ dynamic, functions }) => dynamic === true && !functions.some(item => item.name === name),
  );
  if (isUnread) return;
  if (found.length === 0) throw unknown(fun, modules);
  const given: Record<string, unknown> = {};
  for (const [key, value] of kwargs) setOwn(given, String(key), toPlain(value));
  const bound = found.map(({ signature }) =>
    bindArguments(fun, signature, args.map(toPlain), given),
  );
  const messages = bound.flatMap(result => (result.ok ? [] : [result.message]));
  if (messages.length < bound.length) return;
  // Providers of `pkg` take different arguments: one of them may have a suggestion.
  const best = messages.find(message => message.includes('did you mean')) ?? messages[0];
  const missing = bound.flatMap(result => (result.ok ? [] : result.problems.missing));
  throw new TsaltError('arguments', `${best}.`, { hint: takenForKeyword(missing, kwargs) });
};

/** `cmd.run 'FOO=bar env'`: Salt reads this as a keyword argument, so the command is missing. */
const takenForKeyword = (missing: readonly string[], kwargs: Dict): string | undefined => {
  const [name] = missing;
  const key = [...kwargs].find(([, given]) => isScalar(given))?.[0];
  if (name === undefined || key === undefined) return undefined;
  return `'${String(key)}=…' was read as a keyword argument. To pass it as text, write ${name}='${String(key)}=…'.`;
};

const isScalar = (value: Data): boolean => typeof value === 'string' || typeof value === 'number';

/**
 * Refuses a misspelt keyword of `state.single` that the state would ignore, such as `tets=True`.
 * Other unknown arguments are found when the state is bound.
 */
const checkSingle = (args: readonly Data[], kwargs: Dict, modules: readonly ModuleMeta[]): void => {
  const state = String(kwargs.get('fun') ?? args[0] ?? '');
  const [moduleName, name] = splitFunctionName(state);
  const taken = modules
    .filter(module => module.kind === 'state' && mayBeCalled(module, moduleName))
    .flatMap(({ functions }) => functions.filter(fun => fun.name === name))
    .map(({ signature }) => signature);
  const params = taken.flatMap(({ positional, keywords }) => [...positional, ...(keywords ?? [])]);
  const known = [...new Set([...params.map(param => param.name), 'fun', 'name', ...stateKeywords])];
  const ignored = [...kwargs].filter(
    ([key]) => isUnsupportedKeyword(String(key)) && !known.includes(String(key)),
  );
  refuseUnknownKeywords(`state.single ${state}`, known, new Map(ignored));
  if (taken.length === 0 || taken.some(({ anyKeyword }) => anyKeyword === true)) return;
  const slips = [...kwargs].filter(
    ([key]) => !internalKeywords.has(String(key)) && meantKeyword(String(key), known) !== undefined,
  );
  refuseUnknownKeywords(`state.single ${state}`, known, new Map(slips));
};

/**
 * Refuses `--dry-run` for a function without a test mode, which would change the host.
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
  const why = whyUnsupported('exec', fun);
  if (why) return new TsaltError('no-function', `'${fun}' is not available: ${why}.`);
  const names = [...modules.filter(({ kind }) => kind === 'exec'), ...wrapperModules()].flatMap(
    module => module.functions.map(({ name }) => `${module.virtualname ?? module.file}.${name}`),
  );
  const meant = closestMatch(fun, names);
  return new TsaltError('no-function', `'${fun}' is not available.`, {
    hint:
      meant === undefined
        ? "`tsalt-ssh '*' sys.list_functions` lists the functions."
        : `Did you mean '${meant}'?`,
  });
};
