import { findDescriptionFault } from '../modules/_shared/states/describe.ts';
import { CommandExecutionError } from '../modules/api.ts';
import type { FunctionSignature, Param } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';

/**
 * Returns the errors in the parameters of a function that `auto_state` calls: it receives a name
 * (not `list`) and the arguments of the state as options, any of which may be missing.
 */
export const optionErrors = (fun: string, signature: FunctionSignature): string[] => {
  const [first, ...others] = signature.positional;
  const more = fun === 'list' && first !== undefined ? [first, ...others] : others;
  const misplaced =
    fun !== 'list' && first !== undefined && first.name !== 'name'
      ? [`'${fun}' must take 'name' first, not '${first.name}'`]
      : [];
  const beside = more.length > 0 ? [`'${fun}' must take ${shown(more)} in an options object`] : [];
  const required = (signature.keywords ?? []).filter(param => !isOptional(param));
  return [
    ...misplaced,
    ...beside,
    ...(required.length > 0 ? [`'${fun}' must have a default for ${shown(required)}`] : []),
  ];
};

const isOptional = ({ optional, default: value }: Param): boolean =>
  optional === true || value !== undefined;

const shown = (params: readonly Param[]): string =>
  params.map(({ name }) => `'${name}'`).join(', ');

type Rule = readonly [what: string, holds: (value: unknown) => boolean];

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isText = (value: unknown): boolean => typeof value === 'string';

const comment: Rule = [
  'a text or a list of texts',
  value => value === null || isText(value) || (Array.isArray(value) && value.every(isText)),
];

const execRules: Readonly<Record<string, Rule>> = {
  result: ['true or false', isBoolean],
  comment,
  ret: ['any value', () => true],
};

const stateRules: Readonly<Record<string, Rule>> = {
  result: ['true, false or null', value => value === null || isBoolean(value)],
  comment,
  name: ['a text', isText],
  changes: ['a dictionary', isPlainDict],
};

/**
 * Checks the return of a function under the contract `returns` (spec/idem-contracts).
 * @throws CommandExecutionError that names what is missing or has a wrong type
 */
export const checkContractReturn = (fun: string, kind: string, ret: unknown): void => {
  const rules = kind === 'state' ? stateRules : execRules;
  const keys = Object.keys(rules);
  const lacking = isPlainDict(ret) ? keys.filter(key => !Object.hasOwn(ret, key)) : keys;
  if (lacking.length > 0)
    throw new CommandExecutionError(
      `'${fun}' does not hold the contract 'returns': its return must be a dictionary with ${keys.join(', ')}; it lacks ${lacking.join(', ')}`,
    );
  const given = ret as { readonly [key: string]: unknown };
  const wrong = Object.entries(rules)
    .filter(([key, [, holds]]) => !holds(given[key]))
    .map(([key, [what]]) => `'${key}' must be ${what}, not ${brief(given[key])}`);
  if (wrong.length > 0)
    throw new CommandExecutionError(
      `'${fun}' does not hold the contract 'returns': ${wrong.join('; ')}`,
    );
};

const brief = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a dictionary';
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : String(value);
};

/**
 * Checks the return of `describe` in a module under contract.
 * @throws CommandExecutionError that names the position
 */
export const checkDescription = (fun: string, ret: unknown): void => {
  const fault = findDescriptionFault(ret);
  if (fault !== undefined)
    throw new CommandExecutionError(`'${fun}' does not hold the contract 'describe': ${fault}`);
};
