import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import { eachRule, type RuleOptions, savedAfter, shownRule } from '../../iptables-state.ts';

export const __func_alias__ = { delete_: 'delete' };

/**
 * Makes sure that a rule does not exist.
 *
 * @param name any name
 * @param position remove the rule with this number
 * @example
 * telnet:
 *   iptables.delete:
 *     - chain: INPUT
 *     - protocol: tcp
 *     - dport: 23
 *     - jump: ACCEPT
 */
export const delete_ = async (name: string, options: RuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (options.rules) return eachRule(name, options, delete_);
    const { table = 'filter', chain, position, family = 'ipv4', save = false } = options;
    if (!chain) return failed(name, 'iptables.delete needs the argument "chain".');
    const { rule, command } = await shownRule(options, 'D');
    const isThere = rule !== '' && (await salt('iptables.check')(table, chain, rule, family));
    if (!isThere && position === undefined)
      return unchanged(name, `iptables rule for ${name} already absent for ${family} (${command})`);
    if (__opts__.test)
      return would(
        name,
        `iptables rule for ${name} needs to be deleted for ${family} (${command})`,
        inPlan({ locale: name }),
      );
    await salt('iptables.delete')(
      table,
      chain,
      position === undefined ? null : Number(position),
      position === undefined ? rule : '',
      family,
    );
    return changed(
      name,
      save
        ? `Deleted and saved iptables rule ${name} for ${family}\n${command}\n${await savedAfter(save, family)}`
        : `Delete iptables rule for ${name} ${command}`,
      { locale: name },
    );
  });
