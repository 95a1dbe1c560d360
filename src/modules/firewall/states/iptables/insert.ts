import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import {
  eachRule,
  type RuleOptions,
  savedAfter,
  savedLikewise,
  shownRule,
} from '../../iptables-state.ts';

/**
 * Makes sure that a rule exists. A new rule is inserted at `position` in its chain.
 *
 * @param name any name
 * @param position position of a new rule, starting at 1; -1 makes it the last but one
 * @example
 * ssh:
 *   iptables.insert:
 *     - chain: INPUT
 *     - position: 1
 *     - protocol: tcp
 *     - dport: 22
 *     - jump: ACCEPT
 */
export const insert = async (name: string, options: RuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (options.rules) return eachRule(name, options, insert);
    const { table = 'filter', chain, position, family = 'ipv4', save = false } = options;
    if (!chain) return failed(name, 'iptables.insert needs the argument "chain".');
    if (position === undefined)
      return failed(name, 'iptables.insert needs the argument "position".');
    if (!Number.isInteger(Number(position)))
      return failed(name, `The argument "position" must be a whole number, not "${position}".`);
    const { rule, command } = await shownRule(options, 'I');
    if (await salt('iptables.check')(table, chain, rule, family))
      return savedLikewise(
        unchanged(name, `iptables rule for ${name} already set for ${family} (${command})`),
        save,
        family,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables rule for ${name} needs to be set for ${family} (${command})`,
        inPlan({ locale: name }),
      );
    await salt('iptables.insert')(table, chain, Number(position), rule, family);
    return changed(
      name,
      save
        ? `Set and saved iptables rule ${name} for ${family}\n${command}\n${await savedAfter(save, family)}`
        : `Set iptables rule for ${name} to: ${command} for ${family}`,
      { locale: name },
    );
  });
