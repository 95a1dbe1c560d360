import { salt } from '../_shared/states/call.ts';
import { __opts__, CommandExecutionError, type StateReturn } from '../api.ts';
import type { NftResult } from './nft-result.ts';

export type NftRuleOptions = {
  /** its table */
  table?: string;
  /** its chain */
  chain?: string;
  /** `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev` */
  family?: string;
  position?: number;
  /** true or a file: write all rules down */
  save?: boolean | string;
  [argument: string]: unknown;
};

/** Returns a rule, and the whole command that Salt shows for it. */
export const nftRule = async (
  { table = 'filter', chain, family = 'ipv4', position, save, ...rule }: NftRuleOptions,
  command: string,
): Promise<{ rule: string; shown: string }> => {
  const built = await salt('nftables.build_rule')(table, chain, {
    ...rule,
    command,
    family,
    full: true,
    ...(position === undefined ? {} : { position }),
  });
  if (!built.result) throw new CommandExecutionError(built.comment);
  const { rule: text } = await salt('nftables.build_rule')(table, chain, { ...rule, family });
  return { rule: text, shown: String(built.rule).trim() };
};

/** Whether a rule is there; it is not where its table or chain is not. */
export const isNftRuleSet = async (
  table: string,
  chain: string,
  rule: string,
  family: string,
): Promise<boolean> => (await salt('nftables.check')(table, chain, rule, family)).result;

/** Checks that a rule's chain exists; in test mode an earlier state may be about to create it. */
export const needNftChain = async (table: string, chain: string, family: string): Promise<void> => {
  if (__opts__.test) return;
  const inTable: NftResult = await salt('nftables.check_table')(table, family);
  const { result, comment }: NftResult = inTable.result
    ? await salt('nftables.check_chain')(table, chain, family)
    : inTable;
  if (!result) throw new CommandExecutionError(comment);
};

/** Writes the rules down where that is asked for; `comment` says so then. */
export const nftSaved = async (
  state: StateReturn,
  { save = false, family = 'ipv4' }: NftRuleOptions,
  comment: string,
): Promise<StateReturn> => {
  if (!save) return state;
  await salt('nftables.save')(typeof save === 'string' ? save : null, family);
  return { ...state, comment };
};
