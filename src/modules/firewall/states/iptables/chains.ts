import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

/**
 * Makes sure that a chain exists.
 *
 * @param name the chain
 * @param table its table
 * @param family `ipv4` or `ipv6`
 * @example
 * LOGDROP:
 *   iptables.chain_present:
 *     - table: filter
 */
export const chain_present = async (
  name: string,
  { table = 'filter', family = 'ipv4' }: { table?: string; family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (await salt('iptables.check_chain')(table, name, family))
      return unchanged(
        name,
        `iptables ${name} chain is already exist in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables ${name} chain in ${table} table needs to be set for ${family}`,
        inPlan({ locale: name }),
      );
    await salt('iptables.new_chain')(table, name, family);
    return changed(name, `iptables ${name} chain in ${table} table create success for ${family}`, {
      locale: name,
    });
  });

/**
 * Makes sure that a chain does not exist.
 *
 * @param name the chain
 * @param table its table
 * @param family `ipv4` or `ipv6`
 * @example
 * LOGDROP:
 *   iptables.chain_absent
 */
export const chain_absent = async (
  name: string,
  { table = 'filter', family = 'ipv4' }: { table?: string; family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('iptables.check_chain')(table, name, family)))
      return unchanged(
        name,
        `iptables ${name} chain is already absent in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables ${name} chain in ${table} table needs to be removed ${family}`,
        inPlan({ locale: name }),
      );
    await salt('iptables.flush')(table, name, family);
    await salt('iptables.delete_chain')(table, name, family);
    return changed(name, `iptables ${name} chain in ${table} table delete success for ${family}`, {
      locale: name,
    });
  });

/**
 * Removes all rules from a chain, or from all chains of a table, each time the state runs.
 *
 * @param name any name
 * @param table the table
 * @param chain the chain; by default, all chains
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * empty:
 *   iptables.flush:
 *     - table: nat
 */
export const flush = async (
  name: string,
  {
    table = 'filter',
    chain = '',
    family = 'ipv4',
  }: { table?: string; chain?: string; family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (__opts__.test)
      return would(
        name,
        `iptables rules in ${name} table ${table} chain ${family} family needs to be flushed`,
        inPlan({ locale: name }),
      );
    await salt('iptables.flush')(table, chain, family);
    return changed(name, `Flush iptables rules in ${table} table ${chain} chain ${family} family`, {
      locale: name,
    });
  });
