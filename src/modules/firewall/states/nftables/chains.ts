import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import { nftSaved } from '../../nft-state.ts';

/**
 * Makes sure that a chain exists. With type, hook and priority a new chain is created as a base
 * chain, which packets pass without a jump.
 *
 * @param name the chain
 * @param table its table, which must be there
 * @param table_type `filter`, `nat` or `route`
 * @param hook `input`, `forward`, `output`, `prerouting`, `postrouting` or `ingress`
 * @param priority its place among the chains of the hook, a number or a name
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example
 * input:
 *   nftables.chain_present:
 *     - table: filter
 *     - table_type: filter
 *     - hook: input
 *     - priority: 0
 */
export const chain_present = async (
  name: string,
  {
    table = 'filter',
    table_type = null,
    hook = null,
    priority = null,
    family = 'ipv4',
  }: {
    table?: string;
    table_type?: string | null;
    hook?: string | null;
    priority?: number | string | null;
    family?: string;
  } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if ((await salt('nftables.check_chain')(table, name, family)).result)
      return unchanged(
        name,
        `nftables ${name} chain is already exist in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(
        name,
        `nftables chain ${name} would be created in table ${table} for family ${family}`,
        inPlan({ locale: name }),
      );
    const { result, comment } = await salt('nftables.new_chain')(table, name, {
      table_type,
      hook,
      priority,
      family,
    });
    return result
      ? changed(name, `nftables ${name} chain in ${table} table create success for ${family}`, {
          locale: name,
        })
      : failed(
          name,
          `Failed to create ${name} chain in ${table} table: ${comment.trim()} for ${family}`,
        );
  });

/**
 * Makes sure that a chain does not exist.
 *
 * @param name the chain
 * @param table its table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example
 * input:
 *   nftables.chain_absent:
 *     - table: filter
 */
export const chain_absent = async (
  name: string,
  { table = 'filter', family = 'ipv4' }: { table?: string; family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('nftables.check_chain')(table, name, family)).result)
      return unchanged(
        name,
        `nftables ${name} chain is already absent in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(
        name,
        `nftables chain ${name} would be deleted in table ${table} for family ${family}`,
        inPlan({ locale: name }),
      );
    const flushed = await salt('nftables.flush')(table, name, family);
    if (!flushed.result)
      return failed(
        name,
        `Failed to flush ${name} chain in ${table} table: ${flushed.comment.trim()} for ${family}`,
      );
    const { result, comment } = await salt('nftables.delete_chain')(table, name, family);
    return result
      ? changed(name, `nftables ${name} chain in ${table} table delete success for ${family}`, {
          locale: name,
        })
      : failed(
          name,
          `Failed to delete ${name} chain in ${table} table: ${comment.trim()} for ${family}`,
        );
  });

/**
 * Removes all rules from a chain, or from all chains of a table, each time the state runs.
 *
 * @param name any name
 * @param table the table
 * @param chain the chain; by default, all chains
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @param ignore_absence true: a missing table or chain is not an error
 * @unknown ignored
 * @example
 * empty:
 *   nftables.flush:
 *     - table: nat
 */
export const flush = async (
  name: string,
  {
    table = 'filter',
    chain = '',
    family = 'ipv4',
    ignore_absence = false,
  }: { table?: string; chain?: string; family?: string; ignore_absence?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (__opts__.test)
      return would(name, 'nftables flush not performed in test mode.', inPlan({ locale: name }));
    const hasTable = (await salt('nftables.check_table')(table, family)).result;
    const hasChain =
      hasTable && (!chain || (await salt('nftables.check_chain')(table, chain, family)).result);
    if (!hasChain && ignore_absence)
      return unchanged(name, `Nothing to flush in ${table} table ${chain} chain ${family} family`);
    if (!hasTable)
      return failed(
        name,
        `Failed to flush table ${table} in family ${family}, table does not exist.`,
      );
    if (!hasChain)
      return failed(
        name,
        `Failed to flush chain ${chain} in table ${table} in family ${family}, chain does not exist.`,
      );
    const { result, comment } = await salt('nftables.flush')(table, chain, family);
    return result
      ? changed(name, `Flush nftables rules in ${table} table ${chain} chain ${family} family`, {
          locale: name,
        })
      : failed(name, `Failed to flush nftables rules: ${comment}`);
  });

/**
 * Makes sure that a base chain has this policy, for packets that match none of its rules.
 *
 * @param name any name
 * @param table its table
 * @param chain the chain
 * @param policy `accept` or `drop`
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @param save true: write all rules down
 * @param save_filename the file for that
 * @unknown ignored
 * @example
 * default:
 *   nftables.set_policy:
 *     - table: filter
 *     - chain: input
 *     - policy: drop
 */
export const set_policy = async (
  name: string,
  {
    table = 'filter',
    chain,
    policy,
    family = 'ipv4',
    save = false,
    save_filename = null,
  }: {
    table?: string;
    chain: string;
    policy: string;
    family?: string;
    save?: boolean | string;
    save_filename?: string | null;
  },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const what = `nftables default policy for chain ${chain} on table ${table} for ${family}`;
    const before: string | null = await salt('nftables.get_policy')(table, chain, family);
    if ((before ?? '').toLowerCase() === policy.toLowerCase())
      return unchanged(name, `${what} already set to ${policy}`);
    if (__opts__.test)
      return would(name, `${what} needs to be set to ${policy}`, inPlan({ locale: name }));
    if (!(await salt('nftables.set_policy')(table, chain, policy.toLowerCase(), family)))
      return failed(name, 'Failed to set nftables default policy');
    return nftSaved(
      changed(name, `Set default policy for ${chain} to ${policy} family ${family}`, {
        locale: name,
      }),
      { save: save && (save_filename ?? save), family },
      `Set and saved default policy for ${chain} to ${policy} family ${family}`,
    );
  });
