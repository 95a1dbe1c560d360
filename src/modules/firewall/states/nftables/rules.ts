/**
 * Manages tables, chains and rules of nftables.
 *
 * Other arguments of a rule are `if`, `of` (interfaces), `proto`, `source` or `saddr`, `destination`
 * or `daddr`, `dport`, `sport`, `dports`, `sports`, `connstate`, `icmp-type`, `pkttype`, `counter`,
 * and the rule's action: `jump` (or `j`, `target`), `redirect-to` (or `to-port`, `to-ports`),
 * `to-source`, `to-destination`, `reject-with`. `match` is accepted as for iptables, but is not
 * needed. Rules are compared in the form in which nftables lists them.
 */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import {
  isNftRuleSet,
  type NftRuleOptions,
  needNftChain,
  nftRule,
  nftSaved,
} from '../../nft-state.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('nftables.version') || [false, 'nftables is not installed.'];

export const __func_alias__ = { delete_: 'delete' };

/**
 * Makes sure that a rule exists. A new rule is appended to its chain.
 *
 * @param name any name
 * @example
 * httpd:
 *   nftables.append:
 *     - table: filter
 *     - chain: input
 *     - connstate: new
 *     - proto: tcp
 *     - dport: 80
 *     - jump: accept
 *     - save: true
 */
export const append = async (name: string, options: NftRuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const { table = 'filter', chain, family = 'ipv4' } = options;
    if (!chain) return failed(name, 'nftables.append needs the argument "chain".');
    const { rule, shown } = await nftRule(options, 'add');
    await needNftChain(table, chain, family);
    if (await isNftRuleSet(table, chain, rule, family))
      return unchanged(name, `nftables rule for ${name} already set (${shown}) for ${family}`);
    if (__opts__.test)
      return would(
        name,
        `nftables rule for ${name} needs to be set (${shown}) for ${family}`,
        inPlan({ locale: name }),
      );
    const { result, comment } = await salt('nftables.append')(table, chain, rule, family);
    if (!result)
      return failed(
        name,
        `Failed to set nftables rule for ${name}.\nAttempted rule was ${shown} for ${family}.\n${comment}`,
      );
    return nftSaved(
      changed(name, `Set nftables rule for ${name} to: ${shown} for ${family}`, { locale: name }),
      options,
      `Set and Saved nftables rule for ${name} to: ${shown} for ${family}`,
    );
  });

/**
 * Makes sure that a rule exists. A new rule is inserted at the start of its chain, or at `position`.
 *
 * @param name any name
 * @param position the number that a new one gets, from 1
 * @example
 * httpd:
 *   nftables.insert:
 *     - position: 1
 *     - table: filter
 *     - chain: input
 *     - proto: tcp
 *     - dport: 80
 *     - jump: accept
 */
export const insert = async (name: string, options: NftRuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const { table = 'filter', chain, family = 'ipv4', position = 1 } = options;
    if (!chain) return failed(name, 'nftables.insert needs the argument "chain".');
    const { rule, shown } = await nftRule(options, 'insert');
    await needNftChain(table, chain, family);
    if (await isNftRuleSet(table, chain, rule, family))
      return unchanged(name, `nftables rule for ${name} already set for ${family} (${shown})`);
    if (__opts__.test)
      return would(
        name,
        `nftables rule for ${name} needs to be set for ${family} (${shown})`,
        inPlan({ locale: name }),
      );
    const { result, comment } = await salt('nftables.insert')(
      table,
      chain,
      Number(position),
      rule,
      family,
    );
    if (!result)
      return failed(
        name,
        `Failed to set nftables rule for ${name}.\nAttempted rule was ${shown}\n${comment}`,
      );
    return nftSaved(
      changed(name, `Set nftables rule for ${name} to: ${shown} for ${family}`, { locale: name }),
      options,
      `Set and Saved nftables rule for ${name} to: ${shown} for ${family}`,
    );
  });

/**
 * Makes sure that a rule does not exist.
 *
 * @param name any name
 * @param position of equal rules, remove the one with this number, starting at 1
 * @example
 * httpd:
 *   nftables.delete:
 *     - table: filter
 *     - chain: input
 *     - proto: tcp
 *     - dport: 80
 *     - jump: accept
 */
export const delete_ = async (name: string, options: NftRuleOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const { table = 'filter', chain, family = 'ipv4', position } = options;
    if (!chain) return failed(name, 'nftables.delete needs the argument "chain".');
    const { rule, shown } = await nftRule(options, 'delete');
    if (!(await isNftRuleSet(table, chain, rule, family)))
      return unchanged(name, `nftables rule for ${name} already absent for ${family} (${shown})`);
    if (__opts__.test)
      return would(
        name,
        `nftables rule for ${name} needs to be deleted for ${family} (${shown})`,
        inPlan({ locale: name }),
      );
    const { result, comment } =
      position === undefined
        ? await salt('nftables.delete')(table, chain, null, rule, family)
        : await salt('nftables.delete')(table, chain, Number(position), '', family);
    if (!result)
      return failed(
        name,
        `Failed to delete nftables rule for ${name}.\nAttempted rule was ${shown}\n${comment}`,
      );
    return nftSaved(
      changed(name, `Delete nftables rule for ${name} ${shown}`, { locale: name }),
      options,
      `Deleted and Saved nftables rule for ${name} for ${shown}${family}`,
    );
  });
