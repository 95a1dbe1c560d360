import { __opts__, CommandExecutionError, type PlainDict } from '../../../api.ts';
import { apt, selectionsByName } from '../../apt-run.ts';
import { type HoldOptions, type HoldResults, heldNames } from '../../holds.ts';
import { forgetPackages } from '../../packages.ts';

/**
 * Keeps packages at their version.
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changeHold(name, options, true);

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changeHold(name, options, false);

const changeHold = async (
  name: string | null,
  options: HoldOptions,
  holding: boolean,
): Promise<HoldResults> => {
  const names = heldNames(name, options);
  const known = await selectionsByName();
  const due = names.filter(one => known.has(one) && (known.get(one) === 'hold') !== holding);
  if (due.length > 0 && !__opts__.test) {
    const lines = due.map(one => `${one} ${holding ? 'hold' : 'install'}\n`).join('');
    const { code, stderr } = await apt(['--set-selections'], { program: 'dpkg', stdin: lines });
    if (code !== 0) throw new CommandExecutionError(`dpkg --set-selections failed: ${stderr}`);
    forgetPackages();
  }
  return Object.fromEntries(
    names.map(one => [one, holdResult(one, known.get(one), holding, due.includes(one))]),
  );
};

const holdResult = (
  name: string,
  state: string | undefined,
  holding: boolean,
  isDue: boolean,
): HoldResults[string] => {
  const answer = (result: boolean | null, comment: string, changes: PlainDict = {}) => ({
    name,
    changes,
    result,
    comment: `Package ${name} ${comment}`,
  });
  if (state === undefined)
    return answer(false, holding ? 'not currently held.' : 'does not have a state.');
  if (!isDue) return answer(true, `is already set ${holding ? '' : 'not '}to be held.`);
  if (__opts__.test) return answer(null, `is set ${holding ? '' : 'not '}to be held.`);
  return answer(true, holding ? 'is now being held.' : 'is no longer being held.', {
    old: state,
    new: holding ? 'hold' : 'install',
  });
};
