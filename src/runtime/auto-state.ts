import { CommandExecutionError, getContext, withContext } from '../modules/api.ts';
import { deepDiff } from '../modules/deep-diff.ts';
import type { FunctionSignature } from '../protocol/meta.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import type { StateReturn } from '../protocol/result.ts';
import { toJson } from './engine/check-return.ts';

type Exports = Readonly<Record<string, unknown>>;
type Answer = { result: boolean; comment: string | string[]; ret: Plain };
type Ask = (fun: string, args: readonly unknown[], kwargs: PlainDict) => Promise<Answer>;

/**
 * Makes the state functions of `auto_state` from get, list, create, update and delete: `present`
 * and `absent` with test mode and computed changes, and `describe` (spec/idem-contracts: "Auto
 * State").
 * @param resource the module's name, `my_cloud.my_resource`
 */
export const autoState = (
  resource: string,
  exports: Exports,
  signatures: Readonly<Record<string, FunctionSignature>>,
): Exports => {
  const ask = asker(exports, signatures);
  return {
    present: (name: string, kwargs: PlainDict = {}) => present(ask, name, kwargs),
    absent: (name: string, kwargs: PlainDict = {}) => absent(ask, name, kwargs),
    describe: () => describe(ask, resource, signatureOf(exports, signatures, 'create')),
    ...(exports.__virtual__ === undefined ? {} : { __virtual__: exports.__virtual__ }),
    ...(exports.__virtualname__ === undefined ? {} : { __virtualname__: exports.__virtualname__ }),
  };
};

const exportOf = (exports: Exports, name: string): string => {
  const aliases = isPlainDict(exports.__func_alias__) ? exports.__func_alias__ : {};
  return Object.keys(aliases).find(key => aliases[key] === name) ?? name;
};

const signatureOf = (
  exports: Exports,
  signatures: Readonly<Record<string, FunctionSignature>>,
  name: string,
): FunctionSignature | undefined => {
  const exportName = exportOf(exports, name);
  return Object.hasOwn(signatures, exportName) ? signatures[exportName] : undefined;
};

/** Calls a function of the resource with the keywords that it declares. */
const asker =
  (exports: Exports, signatures: Readonly<Record<string, FunctionSignature>>): Ask =>
  async (name, args, kwargs) => {
    const fun = exports[exportOf(exports, name)] as (...args: unknown[]) => Promise<Answer>;
    return fun(...args, known(signatureOf(exports, signatures, name), kwargs));
  };

const known = (signature: FunctionSignature | undefined, kwargs: PlainDict): PlainDict => {
  if (!signature || signature.anyKeyword) return kwargs;
  const names = new Set(signature.keywords?.map(({ name }) => name));
  return Object.fromEntries(Object.entries(kwargs).filter(([key]) => names.has(key)));
};

const present = async (ask: Ask, name: string, kwargs: PlainDict): Promise<StateReturn> => {
  const ret: StateReturn = { name, result: true, comment: '', changes: {} };
  const desired = given(kwargs);
  const found = await ask('get', [name], desired);
  if (!found.result) return { ...ret, result: false, comment: found.comment };
  const before = snapshot(name, found.ret);
  const exists = Object.keys(before).length > 0;
  const planned = deepDiff(pick(before, desired), desired);
  if (exists && Object.keys(planned).length === 0)
    return { ...ret, comment: `${name} is already in the correct state` };
  const { opts } = getContext();
  if (opts.test) {
    const comment = exists ? `${name} would be updated` : `${name} would be created`;
    return { ...ret, result: null, comment, changes: exists ? planned : { new: desired } };
  }
  const context = { ...getContext(), ctx: { test: false, before } };
  const done = await withContext(context, () => ask(exists ? 'update' : 'create', [name], desired));
  if (!done.result) return { ...ret, result: false, comment: done.comment };
  const after = await ask('get', [name], desired);
  const comment = isEmpty(done.comment)
    ? `${exists ? 'Updated' : 'Created'} '${name}'`
    : done.comment;
  if (!after.result) return { ...ret, result: false, comment: after.comment };
  return { ...ret, comment, changes: deepDiff(before, snapshot(name, after.ret)) };
};

const absent = async (ask: Ask, name: string, kwargs: PlainDict): Promise<StateReturn> => {
  const ret: StateReturn = { name, result: true, comment: '', changes: {} };
  const found = await ask('get', [name], kwargs);
  if (!found.result) return { ...ret, result: false, comment: found.comment };
  const before = snapshot(name, found.ret);
  if (Object.keys(before).length === 0) return { ...ret, comment: `${name} is already absent` };
  const { opts } = getContext();
  if (opts.test)
    return { ...ret, result: null, comment: `${name} would be deleted`, changes: { old: before } };
  const context = { ...getContext(), ctx: { test: false, before } };
  const done = await withContext(context, () => ask('delete', [name], kwargs));
  if (!done.result) return { ...ret, result: false, comment: done.comment };
  const after = await ask('get', [name], kwargs);
  if (isPlainDict(after.ret) && Object.keys(after.ret).length > 0)
    return { ...ret, result: false, comment: `${name} is still there after it was deleted` };
  const comment = isEmpty(done.comment) ? `Deleted '${name}'` : done.comment;
  return { ...ret, comment, changes: { old: before } };
};

/** `{ name: { 'my_cloud.my_resource.present': [{ name }, { key: value } …] } }`. */
const describe = async (
  ask: Ask,
  resource: string,
  create: FunctionSignature | undefined,
): Promise<PlainDict> => {
  const listed = await ask('list', [], {});
  if (!listed.result) throw new Error(`${resource} cannot be listed: ${String(listed.comment)}`);
  const all = listed.ret;
  if (!isPlainDict(all) || !Object.values(all).every(isPlainDict))
    throw new CommandExecutionError(
      `'${resource}.list' violates the contract 'auto_state': its ret must be a dictionary of resources by name, each a dictionary`,
    );
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => {
      const values = known(create, value as PlainDict);
      const args = Object.entries(values).filter(([key]) => key !== 'name');
      const states = [{ name }, ...args.map(([key, item]) => ({ [key]: item }))];
      return [name, { [`${resource}.present`]: states as Plain[] }];
    }),
  );
};

/** Copies the value: a resource may return the same object that its `update` changes. */
const snapshot = (name: string, value: Plain): PlainDict => {
  if (value === null || value === undefined) return {};
  if (isPlainDict(value)) return toJson(value) as PlainDict;
  throw new CommandExecutionError(
    `'get' of '${name}' violates the contract 'auto_state': its ret must be a dictionary, empty where there is no such resource`,
  );
};

/** Returns the arguments from the SLS without those that are null or missing. */
const given = (kwargs: PlainDict): PlainDict =>
  Object.fromEntries(
    Object.entries(kwargs).filter(([, value]) => value !== undefined && value !== null),
  );

const pick = (from: PlainDict, keys: PlainDict): PlainDict =>
  Object.fromEntries(Object.entries(from).filter(([key]) => Object.hasOwn(keys, key)));

const isEmpty = (comment: string | string[] | undefined): boolean =>
  comment === undefined || comment.length === 0;
