import { isPlainDict } from '../../protocol/plain.ts';
import { salt } from '../_shared/states/call.ts';
import { failed, newReturn } from '../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';

export type RuleOptions = {
  table?: string;
  chain?: string;
  family?: string;
  save?: boolean | string;
  /** only a new rule of `insert` and `delete` has a place: public formulas write `last` for `append` */
  position?: number | string;
  rules?: Plain;
  [argument: string]: unknown;
};

/** A rule, and the whole command that Salt shows for it. */
export const shownRule = async (
  options: RuleOptions,
  command: string,
): Promise<{ rule: string; command: string }> => {
  const { table = 'filter', chain, family = 'ipv4', position, save, rules, ...rule } = options;
  const shown: string = await salt('iptables.build_rule')(table, chain, {
    ...rule,
    command,
    family,
    full: true,
    ...(position === undefined ? {} : { position }),
  });
  return { rule: await salt('iptables.build_rule')(table, chain, rule), command: shown.trim() };
};

/** The state for each rule of a list; what is to be saved is saved once, at the end. */
export const eachRule = async (
  name: string,
  { rules, family = 'ipv4' }: RuleOptions,
  state: (name: string, options: RuleOptions) => Promise<StateReturn>,
): Promise<StateReturn> => {
  if (!Array.isArray(rules))
    return failed(name, 'The argument "rules" must be a list of rules, each a mapping.');
  const results: StateReturn[] = [];
  let file: Plain = false;
  for (const item of rules) {
    if (!isPlainDict(item) || typeof item.name !== 'string')
      return failed(name, 'Every entry of "rules" must be a mapping with a "name".');
    const { name: one, rules: _, save, ...options } = item;
    if (save) file = save;
    results.push(await state(one, options as RuleOptions));
  }
  const set = results.flatMap(({ changes }) => ('locale' in changes ? [changes.locale] : []));
  if (file && !__opts__.test && !(await isSaved(file, family))) await savedAfter(file, family);
  return {
    ...newReturn(name),
    changes: set.length > 0 ? { locale: set as Plain } : {},
    result: joined(results.map(({ result }) => result)),
    comment: results.map(({ comment }) => comment).join('\n'),
  };
};

/** The worst of several results: failed, then would change, then fine. */
const joined = (results: readonly (boolean | null)[]): boolean | null =>
  results.includes(false) ? false : results.includes(null) ? null : true;

/** The file that `save: true` (the distribution's own) or `save: path` means. */
const savedFileOf = (save: Plain): string | null => (typeof save === 'string' ? save : null);

const isSaved = (save: Plain, family: string): Promise<boolean> =>
  salt('iptables.is_saved')(savedFileOf(save), family);

/** Writes the rules down and says so. */
export const savedAfter = (save: Plain, family: string): Promise<string> =>
  salt('iptables.save')(savedFileOf(save), family);

/** A rule that is set already is written down too, where the file lacks it. */
export const savedLikewise = async (
  state: StateReturn,
  save: boolean | string,
  family: string,
): Promise<StateReturn> => {
  if (!save || (await isSaved(save, family))) return state;
  if (__opts__.test)
    return { ...state, result: null, comment: `${state.comment}\niptables rules need to be saved` };
  const changes: PlainDict = { ...state.changes, saved: await savedAfter(save, family) };
  return { ...state, changes, comment: `${state.comment}\nSaved iptables rules for ${family}` };
};
