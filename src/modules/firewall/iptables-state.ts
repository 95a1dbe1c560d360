import { isPlainDict } from '../../protocol/plain.ts';
import { salt } from '../_shared/states/call.ts';
import { failed, inPlan, newReturn } from '../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';

export type RuleOptions = {
  /** its table */
  table?: string;
  /** its chain */
  chain?: string;
  /** `ipv4` or `ipv6` */
  family?: string;
  /** true or a file: save the rules for the next boot */
  save?: boolean | string;
  /**
   * applies only to a new rule of `insert`, and to `delete`: public formulas write `last` for
   * `append`
   */
  position?: number | string;
  /** several rules instead, each with a `name` and all its arguments */
  rules?: Plain;
  [argument: string]: unknown;
};

/** Returns a rule, and the whole command that Salt shows for it. */
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

/** Runs a state for each rule of a list. The rules are saved once, at the end. */
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

/** Combines results: false wins over null, and null over true. */
const joined = (results: readonly (boolean | null)[]): boolean | null =>
  results.includes(false) ? false : results.includes(null) ? null : true;

/** Returns the file that `save: true` (the distribution's default) or `save: path` selects. */
const savedFileOf = (save: Plain): string | null => (typeof save === 'string' ? save : null);

const isSaved = (save: Plain, family: string): Promise<boolean> =>
  salt('iptables.is_saved')(savedFileOf(save), family);

/** Writes the rules down and says so. */
export const savedAfter = (save: Plain, family: string): Promise<string> =>
  salt('iptables.save')(savedFileOf(save), family);

/** Saves an existing rule if the file does not contain it yet. */
export const savedLikewise = async (
  state: StateReturn,
  save: boolean | string,
  family: string,
): Promise<StateReturn> => {
  if (!save || (await isSaved(save, family))) return state;
  if (__opts__.test)
    return {
      ...state,
      result: null,
      changes: { ...state.changes, ...inPlan({ saved: savedFileOf(save) ?? true }) },
      comment: `${state.comment}\niptables rules need to be saved`,
    };
  const changes: PlainDict = { ...state.changes, saved: await savedAfter(save, family) };
  return { ...state, changes, comment: `${state.comment}\nSaved iptables rules for ${family}` };
};
