/**
 * Manages rules, chains and policies of iptables.
 *
 * @platform linux
 * @depends iptables
 */

import { which } from '../../../_shared/commands/which.ts';
import { type PlainDict, SaltInvocationError } from '../../../api.ts';
import { ruleText } from '../../iptables-rule.ts';
import { argsOfRule, changeIptables, iptablesPath, runIptables } from '../../iptables-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('iptables') !== undefined || [false, 'iptables is not there.'];

export const __func_alias__ = { delete_: 'delete' };

/**
 * Returns the version of iptables.
 *
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.version
 */
export const version = async (family = 'ipv4'): Promise<string> =>
  (await runIptables(family, '--version')).stdout.split(/\s+/)[1] ?? '';

/**
 * Returns a rule in the syntax of iptables.
 *
 * @param table the table
 * @param chain the chain
 * @param command `A` to append, `I` to insert, `D` to delete
 * @param position where, with `I` and `D`
 * @param full true: the whole command
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.build_rule filter INPUT command=A full=True match=state connstate=RELATED jump=ACCEPT
 */
export const build_rule = async (
  table = 'filter',
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
): Promise<string> => {
  const text = ruleText(rule as PlainDict);
  if (!full) return text;
  if (chain === '') throw new SaltInvocationError('Error: Chain needs to be specified');
  if (command === '') throw new SaltInvocationError('Error: Command needs to be specified');
  const flag = command.length === 1 ? '-' : '--';
  return `${iptablesPath(family)} --wait -t ${table} ${flag}${command} ${chain} ${position} ${text}`;
};

/**
 * Whether a rule is there.
 *
 * @param table the table
 * @param chain the chain
 * @param rule the rule, as on the command line
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.check filter INPUT rule='-p tcp --dport 22 -j ACCEPT'
 */
export const check = async (
  table: string,
  chain: string,
  rule: string,
  family = 'ipv4',
): Promise<boolean> =>
  (await runIptables(family, '-t', table, '-C', chain, ...argsOfRule(rule))).code === 0;

/**
 * Appends a rule. Returns false if it already exists.
 *
 * @param table the table
 * @param chain the chain
 * @param rule the rule, as on the command line
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.append filter INPUT rule='-p tcp --dport 22 -j ACCEPT'
 */
export const append = async (
  table: string,
  chain: string,
  rule: string,
  family = 'ipv4',
): Promise<boolean> =>
  (await check(table, chain, rule, family))
    ? false
    : changeIptables(family, '-t', table, '-A', chain, ...argsOfRule(rule));

/**
 * Inserts a rule. Returns false if it already exists.
 *
 * @param table the table
 * @param chain the chain
 * @param position where, from 1; -1 makes it the last but one
 * @param rule the rule, as on the command line
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.insert filter INPUT position=3 rule='-p tcp --dport 22 -j ACCEPT'
 */
export const insert = async (
  table: string,
  chain: string,
  position: number,
  rule: string,
  family = 'ipv4',
): Promise<boolean> => {
  if (position === 0)
    throw new SaltInvocationError(
      'Error: Position needs to be specified or use append (-A): it counts from 1.',
    );
  if (await check(table, chain, rule, family)) return false;
  const { stdout } = await runIptables(family, '-t', table, '-S', chain);
  const count = stdout.split('\n').filter(line => line.startsWith('-A ')).length;
  const at = position < 0 ? Math.max(1, count + position + 1) : position;
  return changeIptables(family, '-t', table, '-I', chain, String(at), ...argsOfRule(rule));
};

/**
 * Removes a rule, given by its text or its number.
 *
 * @param table the table
 * @param chain the chain
 * @param position its number
 * @param rule the rule, as on the command line
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.delete filter INPUT rule='-p tcp --dport 22 -j ACCEPT'
 */
export const delete_ = async (
  table: string,
  chain: string,
  position: number | null = null,
  rule = '',
  family = 'ipv4',
): Promise<boolean> => {
  if (position !== null && rule !== '')
    throw new SaltInvocationError('Error: Only specify a position or a rule, not both');
  const which_ = position === null ? argsOfRule(rule) : [String(position)];
  return changeIptables(family, '-t', table, '-D', chain, ...which_);
};
