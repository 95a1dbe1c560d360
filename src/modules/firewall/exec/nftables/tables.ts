import type { PlainDict } from '../../../api.ts';
import { listNft, nftFamily, nftName } from '../../nft.ts';
import { changeNft, type NftResult, tableResult } from '../../nft-result.ts';

/**
 * Returns the tables of a family.
 *
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.list_tables family=inet
 */
export const list_tables = async (family = 'ipv4'): Promise<PlainDict[]> =>
  (await listNft('tables', nftFamily(family))).flatMap(({ table }) =>
    table ? [table as PlainDict] : [],
  );

/**
 * Whether a table is there.
 *
 * @param table the table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.check_table nat
 */
export const check_table = async (table: string, family = 'ipv4'): Promise<NftResult> =>
  tableResult(table, family);

/**
 * Makes a table.
 *
 * @param table the table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.new_table filter
 */
export const new_table = async (table: string, family = 'ipv4'): Promise<NftResult> => {
  const before = await tableResult(table, family);
  if (before.result || !table) return before;
  return changeNft(
    ['add', 'table', nftFamily(family), nftName(table, 'table')],
    `Table ${table} in family ${family} created`,
    `Table ${table} in family ${family} could not be created`,
  );
};

/**
 * Removes a table with its contents.
 *
 * @param table the table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.delete_table filter
 */
export const delete_table = async (table: string, family = 'ipv4'): Promise<NftResult> => {
  const before = await tableResult(table, family);
  if (!before.result) return before;
  return changeNft(
    ['delete', 'table', nftFamily(family), table],
    `Table ${table} in family ${family} deleted`,
    `Table ${table} in family ${family} could not be deleted`,
  );
};
