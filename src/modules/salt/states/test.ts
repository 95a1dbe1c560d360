/**
 * States that do nothing but answer: for trying out requisites, and for stopping a run that
 * should not go on.
 */
import { getOwn, isPlainDict } from '../../../protocol/plain.ts';
import {
  __low__,
  __opts__,
  __running__,
  __salt__,
  type Plain,
  type PlainDict,
  SaltInvocationError,
  type StateReturn,
} from '../../api.ts';
import { asItems } from '../items.ts';

const pretended = (): PlainDict => ({
  testing: { old: 'Unchanged', new: 'Something pretended to change' },
});

type Options = { comment?: Plain; [key: string]: Plain | undefined };
type Comment = StateReturn['comment'];

/**
 * Does nothing and succeeds.
 * @param name any unique string
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const nop = (name: string, {}: { [key: string]: Plain } = {}): StateReturn =>
  succeed_without_changes(name);

/**
 * Succeeds without changes.
 * @param name any unique string
 */
export const succeed_without_changes = (
  name: string,
  { comment = 'Success!' }: Options = {},
): StateReturn => ({ name, changes: {}, result: true, comment: comment as Comment });

/**
 * Fails without changes.
 * @param name any unique string
 */
export const fail_without_changes = (
  name: string,
  { comment = 'Failure!' }: Options = {},
): StateReturn => ({
  name,
  changes: {},
  result: false,
  comment: __opts__.test ? "If we weren't testing, this would be a failure!" : (comment as Comment),
});

/**
 * Succeeds and reports changes.
 * @param name any unique string
 */
export const succeed_with_changes = (
  name: string,
  { comment = 'Success!' }: Options = {},
): StateReturn => ({
  name,
  changes: pretended(),
  result: __opts__.test ? null : true,
  comment: __opts__.test
    ? "If we weren't testing, this would be successful with changes"
    : (comment as Comment),
});

/**
 * Fails and reports changes.
 * @param name any unique string
 */
export const fail_with_changes = (
  name: string,
  { comment = 'Failure!' }: Options = {},
): StateReturn => ({
  name,
  changes: pretended(),
  result: __opts__.test ? null : false,
  comment: __opts__.test
    ? "If we weren't testing, this would be failed with changes"
    : (comment as Comment),
});

/**
 * Returns the given result, changes and comment.
 * @param name any unique string
 * @param changes whether to report changes: true, false or "Random"
 * @param result the result: true, false or "Random"
 * @param comment the comment
 * @param warnings a text or a list of texts
 * @throws SaltInvocationError on any other value
 */
export const configurable_test_state = (
  name: string,
  {
    changes = true,
    result = true,
    comment = '',
    warnings = null,
  }: { changes?: Plain; result?: Plain; comment?: Plain; warnings?: Plain } = {},
): StateReturn => {
  const ret: StateReturn = {
    name,
    changes: choose('changes', changes) ? pretended() : {},
    result: choose('result', result),
    comment: comment as Comment,
  };
  if (typeof warnings === 'string') ret.warnings = [warnings];
  else if (Array.isArray(warnings)) ret.warnings = warnings.map(String);
  else if (warnings !== null)
    throw new SaltInvocationError(
      "You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings",
    );
  if (!__opts__.test) return ret;
  return {
    ...ret,
    result: changes === false ? true : null,
    comment: (comment as Comment) || 'This is a test',
  };
};

const choose = (option: string, value: Plain): boolean => {
  if (typeof value === 'boolean') return value;
  if (String(value).toLowerCase() === 'random') return Math.random() < 0.5;
  throw new SaltInvocationError(
    `You have specified the state option '${option}' with invalid arguments. It must be either True, False, or 'Random'`,
  );
};

/**
 * Shows a text in the results.
 * @param name any unique string
 * @param text the text to show
 */
export const show_notification = (
  name: string,
  { text = null }: { text?: Plain; [key: string]: Plain } = {},
): StateReturn => {
  if (text === null || text === '')
    throw new SaltInvocationError('Missing required argument text.');
  return { name, changes: {}, result: true, comment: text as string };
};

/**
 * The reaction of the states above when something they watch has changed.
 * @param name any unique string
 * @param sfun the function of the state that watches
 */
export const mod_watch = (
  name: string,
  {
    result = true,
    comment = 'Watch statement fired.',
    changes,
  }: {
    sfun?: string;
    result?: boolean | null;
    comment?: Plain;
    changes?: PlainDict;
    [key: string]: Plain | undefined;
  } = {},
): StateReturn => ({
  name,
  result,
  comment: comment as Comment,
  changes: changes ?? { 'Requisites with changes': changedRequisites() },
});

const changedRequisites = (): string[] => {
  const requisites: unknown = __low__.__reqs__;
  const watched = isPlainDict(requisites) ? requisites.watch : undefined;
  return asItems(watched)
    .filter(isPlainDict)
    .filter(({ state, __id__, name, fun }) => {
      const result = __running__[`${state}_|-${__id__}_|-${name}_|-${fun}`];
      return isPlainDict(result?.changes) && Object.keys(result.changes).length > 0;
    })
    .map(({ state, __id__ }) => `${state}: ${__id__}`);
};

const types: Readonly<Record<string, { show: string; fits: (value: Plain) => boolean }>> = {
  boolean: { show: "<class 'bool'>", fits: value => typeof value === 'boolean' },
  integer: {
    show: "<class 'int'>",
    fits: value => typeof value === 'boolean' || Number.isInteger(value),
  },
  string: { show: "(<class 'str'>,)", fits: value => typeof value === 'string' },
  listing: { show: "<class 'list'>", fits: value => Array.isArray(value) },
  dictionary: { show: "<class 'dict'>", fits: isPlainDict },
};

/**
 * Checks that keys are in the pillar, and of which type their values are.
 * @param name any unique string
 * @param present keys of any type
 * @param boolean keys of booleans
 * @param integer keys of integers
 * @param string keys of texts
 * @param listing keys of lists
 * @param dictionary keys of dictionaries
 * @param verbose also names the keys that are as wanted
 */
export const check_pillar = async (
  name: string,
  {
    present = null,
    boolean = null,
    integer = null,
    string = null,
    listing = null,
    dictionary = null,
    verbose = false,
  }: {
    present?: Plain;
    boolean?: Plain;
    integer?: Plain;
    string?: Plain;
    listing?: Plain;
    dictionary?: Plain;
    verbose?: boolean;
  } = {},
): Promise<StateReturn> => {
  const wanted = { present, boolean, integer, string, listing, dictionary };
  if (Object.values(wanted).every(keys => asItems(keys).length === 0))
    throw new SaltInvocationError('Missing required argument text.');
  let comment = '';
  const fine: string[] = [];
  for (const [kind, keys] of Object.entries(wanted))
    for (const key of asItems(keys)) {
      const value: Plain = (await __salt__['pillar.get']?.(key, null)) ?? null;
      const type = getOwn(types, kind);
      if (value === null) comment += `Pillar key "${key}" is missing.\n`;
      else if (type && !type.fits(value)) comment += `Pillar key "${key}" is not ${type.show}.\n`;
      else fine.push(`- ${key} (${type?.show ?? 'None'})\n`);
    }
  const result = comment === '';
  if (verbose && fine.length > 0) comment += `Those keys passed the check:\n${fine.join('')}`;
  return { name, changes: {}, result, comment };
};
