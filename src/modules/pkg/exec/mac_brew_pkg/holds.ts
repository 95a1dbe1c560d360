import { __opts__, type PlainDict } from '../../../api.ts';
import { brew, listBrew } from '../../brew.ts';
import { type HoldOptions, type HoldResults, heldNames } from '../../holds.ts';

/**
 * Keeps packages at their version (`brew pin`).
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.hold jq
 */
export const hold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changePins(name, options, true);

/** The other name of `pkg.hold`. */
export const pin = hold;

/**
 * Lets packages be upgraded again (`brew unpin`).
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.unhold jq
 */
export const unhold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changePins(name, options, false);

/** The other name of `pkg.unhold`. */
export const unpin = unhold;

/**
 * The packages that are kept at their version.
 *
 * @example tsalt-ssh '*' pkg.list_holds
 */
export const list_holds = async (_options: { full?: boolean } = {}): Promise<string[]> =>
  (await brew(['list', '--pinned'])).stdout.split('\n').filter(line => line !== '');

const changePins = async (
  name: string | null,
  options: HoldOptions,
  holding: boolean,
): Promise<HoldResults> => {
  const names = heldNames(name, options);
  const [pinned, have] = [await list_holds(), await listBrew()];
  const results: HoldResults = {};
  for (const one of names)
    results[one] = have[one]
      ? await changePin(one, pinned.includes(one) === holding, holding)
      : answer(one, false, 'does not have a state.');
  return results;
};

const answer = (
  name: string,
  result: boolean | null,
  words: string,
  changes: PlainDict = {},
): HoldResults[string] => ({ name, changes, result, comment: `Package ${name} ${words}` });

const changePin = async (
  name: string,
  isDone: boolean,
  holding: boolean,
): Promise<HoldResults[string]> => {
  if (isDone) return answer(name, true, `is already set ${holding ? '' : 'not '}to be held.`);
  if (__opts__.test) return answer(name, null, `is set to be ${holding ? 'held' : 'unheld'}.`);
  const { code } = await brew([holding ? 'pin' : 'unpin', name]);
  if (code !== 0)
    return {
      ...answer(name, false, ''),
      comment: `Unable to ${holding ? 'hold' : 'unhold'} package ${name}.`,
    };
  const [old, fresh] = holding ? ['install', 'hold'] : ['hold', 'install'];
  return answer(name, true, `is ${holding ? 'now' : 'no longer'} being held.`, { old, new: fresh });
};
