import { nftFamily, nftName } from '../../nft.ts';
import {
  chainInfo,
  chainResult,
  changeNft,
  type NftResult,
  needChain,
  tableResult,
} from '../../nft-result.ts';

/**
 * Whether a chain is there.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.check_chain filter input
 */
export const check_chain = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<NftResult> => chainResult(table, chain, family);

/**
 * Makes a chain; with type, hook and priority one that packets pass by themselves.
 *
 * @param table the table
 * @param chain the chain
 * @param table_type `filter`, `nat` or `route`
 * @param hook `input`, `forward`, `output`, `prerouting`, `postrouting` or `ingress`
 * @param priority its place among the chains of the hook, a number or a name
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.new_chain filter input table_type=filter hook=input priority=0
 */
export const new_chain = async (
  table: string,
  chain: string,
  {
    table_type = null,
    hook = null,
    priority = null,
    family = 'ipv4',
  }: {
    table_type?: string | null;
    hook?: string | null;
    priority?: number | string | null;
    family?: string;
  } = {},
): Promise<NftResult> => {
  const owner = await tableResult(table, family);
  if (!owner.result) return owner;
  if ((await chainResult(table, chain, family)).result)
    return {
      result: false,
      comment: `Chain ${chain} in table ${table} in family ${family} already exists`,
    };
  const isBase = [table_type, hook, priority].some(one => one !== null);
  if (isBase && (!table_type || !hook || priority === null))
    return { result: false, comment: 'Table_type, hook, and priority required.' };
  const base = isBase
    ? [
        `{ type ${nftName(String(table_type), 'type')} hook ${nftName(String(hook), 'hook')} priority ${priorityText(String(priority))}; }`,
      ]
    : [];
  return changeNft(
    ['add', 'chain', nftFamily(family), table, chain, ...base],
    `Chain ${chain} in table ${table} in family ${family} created`,
    `Chain ${chain} in table ${table} in family ${family} could not be created`,
  );
};

/** Checks a priority: a number, a name, or a name and a number, so that it cannot end the statement. */
const priorityText = (priority: string): string =>
  /^(?:-?\d+|[a-z]+(?:\s*[+-]\s*\d+)?)$/.test(priority) ? priority : nftName(priority, 'priority');

/**
 * Removes an empty chain.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.delete_chain filter input
 */
export const delete_chain = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<NftResult> => {
  const missing = await needChain(table, chain, family);
  if (missing) return missing;
  return changeNft(
    ['delete', 'chain', nftFamily(family), table, chain],
    `Chain ${chain} in table ${table} in family ${family} deleted`,
    `Chain ${chain} in table ${table} in family ${family} could not be deleted`,
  );
};

/**
 * Removes all rules from a chain, or from all chains of a table.
 *
 * @param table the table
 * @param chain the chain; all when empty
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.flush filter input
 */
export const flush = async (table = 'filter', chain = '', family = 'ipv4'): Promise<NftResult> => {
  const missing = chain
    ? await needChain(table, chain, family)
    : [await tableResult(table, family)].find(({ result }) => !result);
  if (missing) return missing;
  const where = `from ${chain ? `chain ${chain} in ` : ''}table ${table} in family ${family}.`;
  return changeNft(
    ['flush', chain ? 'chain' : 'table', nftFamily(family), table, ...(chain ? [chain] : [])],
    `Flushed rules ${where}`,
    `Failed to flush rules ${where}`,
  );
};

/**
 * Returns the policy of a base chain, for packets that match no rule: `accept` or `drop`.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.get_policy filter input
 */
export const get_policy = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<string | null> => (await chainInfo(table, chain, family))?.policy ?? null;

/**
 * Sets the policy of a base chain, for packets that match no rule. Returns false if there is no such
 * base chain.
 *
 * @param table the table
 * @param chain the chain
 * @param policy `accept` or `drop`
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.set_policy filter input accept
 */
export const set_policy = async (
  table: string,
  chain: string,
  policy: string,
  family = 'ipv4',
): Promise<boolean> => {
  const { type, hook, prio } = (await chainInfo(table, chain, family)) ?? {};
  if (type === undefined || hook === undefined || prio === undefined) return false;
  const { result } = await changeNft(
    [
      'add',
      'chain',
      nftFamily(family),
      table,
      chain,
      `{ type ${type} hook ${hook} priority ${prio}; policy ${nftName(policy, 'policy')}; }`,
    ],
    '',
    '',
  );
  return result;
};
