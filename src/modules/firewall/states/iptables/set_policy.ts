import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import { savedAfter, savedLikewise } from '../../iptables-state.ts';

/**
 * Makes sure that a chain has this policy, for packets that match none of its rules.
 *
 * @param name any name
 * @param table its table
 * @param chain the chain
 * @param policy `ACCEPT` or `DROP`
 * @param family `ipv4` or `ipv6`
 * @param save true or a file: save the rules for the next boot
 * @unknown ignored
 * @example
 * default:
 *   iptables.set_policy:
 *     - chain: INPUT
 *     - policy: DROP
 */
export const set_policy = async (
  name: string,
  {
    table = 'filter',
    chain,
    policy,
    family = 'ipv4',
    save = false,
  }: {
    table?: string;
    chain: string;
    policy: string;
    family?: string;
    save?: boolean | string;
  },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if ((await salt('iptables.get_policy')(table, chain, family)) === policy)
      return savedLikewise(
        unchanged(
          name,
          `iptables default policy for chain ${chain} on table ${table} for ${family} already set to ${policy}`,
        ),
        save,
        family,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables default policy for chain ${chain} on table ${table} for ${family} needs to be set to ${policy}`,
        inPlan({ locale: name }),
      );
    await salt('iptables.set_policy')(table, chain, policy, family);
    if (save) await savedAfter(save, family);
    return changed(
      name,
      `${save ? 'Set and saved' : 'Set'} default policy for ${chain} to ${policy} family ${family}`,
      { locale: name },
    );
  });
