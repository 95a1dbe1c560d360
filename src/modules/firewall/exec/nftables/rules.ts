/**
 * Manages tables, chains and rules of nftables.
 *
 * Functions that change something return `{result, comment}`.
 *
 * @platform linux
 * @depends nft
 */

import { which } from '../../../_shared/commands/which.ts';
import type { PlainDict } from '../../../api.ts';
import { listedForm, nftFamily, nftName, rulesOfChain, runNft } from '../../nft.ts';
import { changeNft, type NftResult, needChain } from '../../nft-result.ts';
import { nftRuleText } from '../../nft-rule.ts';

export const __virtual__ = (): true | [false, string] =>
  which('nft') !== undefined || [false, 'nftables is not installed.'];

export const __func_alias__ = { delete_: 'delete' };

/**
 * Returns the version of nftables.
 *
 * @example tsalt-ssh '*' nftables.version
 */
export const version = async (): Promise<string> =>
  (await runNft('--version')).stdout.split(/\s+/)[1] ?? '';

/**
 * Returns a rule in the syntax of nft.
 *
 * @param table the table
 * @param chain the chain
 * @param command `add`, `insert` or `delete`; needed for `full`
 * @param position where to insert it
 * @param full true: the whole command
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.build_rule filter input command=insert full=True proto=tcp dport=22 jump=accept
 */
export const build_rule = async (
  table = '',
  chain = '',
  {
    command = '',
    position = '',
    full = false,
    family = 'ipv4',
    ...rule
  }: {
    command?: string;
    position?: number | string;
    full?: boolean;
    family?: string;
    [argument: string]: unknown;
  } = {},
): Promise<{ comment: string; rule: string; result: boolean }> => {
  const text = nftRuleText(rule as PlainDict, nftFamily(family));
  if (!full) return { comment: text ? 'Successfully built rule' : '', rule: text, result: true };
  const missing = Object.entries({ Table: table, Chain: chain, Command: command }).find(
    ([, value]) => value === '',
  );
  if (missing) return { comment: `${missing[0]} needs to be specified`, rule: text, result: false };
  const where = command.toLowerCase() === 'insert' && position ? `position ${position} ` : '';
  return {
    comment: 'Successfully built rule',
    rule: `nft ${command.toLowerCase()} rule ${nftFamily(family)} ${table} ${chain} ${where}${text}`,
    result: true,
  };
};

/**
 * Whether a rule is there, however it is written.
 *
 * @param table the table
 * @param chain the chain
 * @param rule the rule in nft's language
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.check filter input rule='tcp dport 22 log accept'
 */
export const check = async (
  table: string,
  chain: string,
  rule: string,
  family = 'ipv4',
): Promise<NftResult> => {
  const found = await get_rule_handle(table, chain, rule, family);
  return found.result
    ? {
        result: true,
        comment: `Rule ${rule} in chain ${chain} in table ${table} in family ${family} exists`,
      }
    : { result: false, comment: found.comment ?? '' };
};

/**
 * Returns the handle that nft assigned to a rule.
 *
 * @param table the table
 * @param chain the chain
 * @param rule the rule in nft's language
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.get_rule_handle filter input rule='tcp dport 22 log accept'
 */
export const get_rule_handle = async (
  table: string,
  chain: string,
  rule: string,
  family = 'ipv4',
): Promise<{ result: boolean; handle?: string; comment?: string }> => {
  const missing = await needChain(table, chain, family);
  if (missing) return missing;
  if (rule === '') return { result: false, comment: 'Rule needs to be specified' };
  const kind = nftFamily(family);
  const wanted = await listedForm(kind, table, chain, rule);
  const found = (await rulesOfChain(kind, table, chain)).find(({ text }) => text === wanted);
  return found
    ? { result: true, handle: found.handle }
    : {
        result: false,
        comment: `Rule ${rule} in chain ${chain} in table ${table} in family ${family} does not exist`,
      };
};

/**
 * Adds a rule at the end of a chain.
 *
 * @param table the table
 * @param chain the chain
 * @param rule the rule in nft's language
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.append filter input rule='tcp dport 22 log accept'
 */
export const append = async (
  table: string,
  chain: string,
  rule: string,
  family = 'ipv4',
): Promise<NftResult> => addRule(table, chain, rule, family, ['add']);

/**
 * Inserts a rule at the start of a chain, or at number `position`.
 *
 * @param table the table
 * @param chain the chain
 * @param position its number, from 1
 * @param rule the rule in nft's language
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.insert filter input position=3 rule='tcp dport 22 log accept'
 */
export const insert = async (
  table: string,
  chain: string,
  position: number | null = null,
  rule = '',
  family = 'ipv4',
): Promise<NftResult> => {
  const at = position ?? 1;
  return addRule(table, chain, rule, family, at > 1 ? ['insert', String(at - 1)] : ['insert']);
};

const addRule = async (
  table: string,
  chain: string,
  rule: string,
  family: string,
  [verb = 'add', index]: string[],
): Promise<NftResult> => {
  const found = await get_rule_handle(table, chain, rule, family);
  const where = `chain ${chain} in table ${table} in family ${family}`;
  if (found.result) return { result: false, comment: `Rule ${rule} ${where} already exists` };
  if (found.comment && !found.comment.startsWith('Rule '))
    return { result: false, comment: found.comment };
  if (rule === '') return { result: false, comment: 'Rule needs to be specified' };
  return changeNft(
    [
      verb,
      'rule',
      nftFamily(family),
      nftName(table, 'table'),
      nftName(chain, 'chain'),
      ...(index === undefined ? [] : ['index', index]),
      rule,
    ],
    `Added rule "${rule}" ${where}.`,
    `Failed to add rule "${rule}" ${where}.`,
  );
};

/**
 * Removes a rule, given by its text or its number.
 *
 * @param table the table
 * @param chain the chain
 * @param position its number, from 1
 * @param rule the rule in nft's language
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.delete filter input rule='tcp dport 22 log accept'
 */
export const delete_ = async (
  table: string,
  chain: string,
  position: number | null = null,
  rule = '',
  family = 'ipv4',
): Promise<NftResult> => {
  if (position !== null && rule !== '')
    return { result: false, comment: 'Only specify a position or a rule, not both' };
  const missing = await needChain(table, chain, family);
  if (missing) return missing;
  const kind = nftFamily(family);
  const handle =
    position === null
      ? (await get_rule_handle(table, chain, rule, family)).handle
      : (await rulesOfChain(kind, table, chain))[position - 1]?.handle;
  const shown = position === null ? rule : `number ${position}`;
  if (handle === undefined)
    return {
      result: false,
      comment: `Rule ${shown} chain ${chain} in table ${table} in family ${family} does not exist`,
    };
  return changeNft(
    ['delete', 'rule', kind, table, chain, 'handle', handle],
    `Deleted rule "${shown}" in chain ${chain} in table ${table} in family ${family}.`,
    `Failed to delete rule "${shown}" in chain ${chain}  table ${table} in family ${family}`,
  );
};
