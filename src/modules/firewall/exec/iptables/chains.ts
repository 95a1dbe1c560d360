import { changeIptables, runIptables } from '../../iptables-run.ts';

/**
 * Whether a chain is there.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.check_chain filter LOGDROP
 */
export const check_chain = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<boolean> => (await runIptables(family, '-t', table, '-S', chain)).code === 0;

/**
 * Makes a chain.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.new_chain filter LOGDROP
 */
export const new_chain = async (table: string, chain: string, family = 'ipv4'): Promise<boolean> =>
  changeIptables(family, '-t', table, '-N', chain);

/**
 * Removes an empty chain.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.delete_chain filter LOGDROP
 */
export const delete_chain = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<boolean> => changeIptables(family, '-t', table, '-X', chain);

/**
 * Removes all rules from a chain, or from all chains of a table.
 *
 * @param table the table
 * @param chain the chain; all when empty
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.flush filter LOGDROP
 */
export const flush = async (table = 'filter', chain = '', family = 'ipv4'): Promise<boolean> =>
  changeIptables(family, '-t', table, '-F', ...(chain === '' ? [] : [chain]));

/**
 * Returns the policy of a chain: the target of packets that match no rule.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.get_policy filter INPUT
 */
export const get_policy = async (
  table: string,
  chain: string,
  family = 'ipv4',
): Promise<string | null> => {
  const { stdout } = await runIptables(family, '-t', table, '-S', chain);
  return /^-P \S+ (\S+)/m.exec(stdout)?.[1] ?? null;
};

/**
 * Sets the policy of a chain, for packets that match no rule.
 *
 * @param table the table
 * @param chain the chain
 * @param policy `ACCEPT` or `DROP`
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.set_policy filter INPUT ACCEPT
 */
export const set_policy = async (
  table: string,
  chain: string,
  policy: string,
  family = 'ipv4',
): Promise<boolean> => changeIptables(family, '-t', table, '-P', chain, policy);
