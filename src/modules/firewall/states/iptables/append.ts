/**
 * Manages rules, chains and policies of iptables.
 *
 * Other arguments of a rule are the long options of iptables: `protocol`, `dport`, `source`,
 * `match`, `jump` … The option `--state` is called `connstate`, and `--name` of an extension
 * `name_`. `!` or `not` before a value negates it. An option without a value gets an empty string.
 */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import {
  eachRule,
  type RuleOptions,
  savedAfter,
  savedLikewise,
  shownRule,
} from '../../iptables-state.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('iptables.check') || [false, 'iptables is not there.'];

/**
 * Makes sure that a rule exists. A new rule is appended to its chain. With `aggregate: true` (or
 * `state_aggregate`) one state appends all rules.
 *
 * @param name any name
 * @example
 * ssh:
 *   iptables.append:
 *     - chain: INPUT
 *     - protocol: tcp
 *     - dport: 22
 *     - match: state
 *     - connstate: NEW
 *     - jump: ACCEPT
 *     - save: true
 */
export const append = async (name: string, options: RuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (options.rules) return eachRule(name, options, append);
    const { table = 'filter', chain, family = 'ipv4', save = false } = options;
    if (!chain) return failed(name, 'iptables.append needs the argument "chain".');
    const { rule, command } = await shownRule(options, 'A');
    if (await salt('iptables.check')(table, chain, rule, family))
      return savedLikewise(
        unchanged(name, `iptables rule for ${name} already set (${command}) for ${family}`),
        save,
        family,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables rule for ${name} needs to be set (${command}) for ${family}`,
        inPlan({ locale: name }),
      );
    await salt('iptables.append')(table, chain, rule, family);
    const changes: PlainDict = { locale: name };
    return save
      ? changed(
          name,
          `Set and saved iptables rule ${name} for ${family}\n${command}\n${await savedAfter(save, family)}`,
          changes,
        )
      : changed(name, `Set iptables rule for ${name} to: ${command} for ${family}`, changes);
  });
