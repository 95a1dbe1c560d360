/** Rules, chains and policies of the packet filter. */
import {
  __opts__,
  CommandExecutionError,
  type PlainDict,
  SaltInvocationError,
  type StateReturn,
} from '../api.ts';
import { hasFunction, salt } from '../lib/call.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('iptables.check') || [false, 'iptables is not there.'];

type RuleOptions = {
  table?: string;
  chain?: string;
  family?: string;
  save?: boolean | string;
  position?: number;
  [argument: string]: unknown;
};

/** A failure of iptables is a failed state, not a broken run. */
const guarded = async (name: string, work: () => Promise<StateReturn>): Promise<StateReturn> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandExecutionError || error instanceof SaltInvocationError)
      return failed(name, error.message);
    throw error;
  }
};

/**
 * A chain is there.
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
  guarded(name, async () => {
    if (await salt('iptables.check_chain')(table, name, family))
      return unchanged(
        name,
        `iptables ${name} chain is already exist in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(name, `iptables ${name} chain in ${table} table needs to be set for ${family}`);
    await salt('iptables.new_chain')(table, name, family);
    return changed(name, `iptables ${name} chain in ${table} table create success for ${family}`, {
      locale: name,
    });
  });

/**
 * A chain is not there.
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
  guarded(name, async () => {
    if (!(await salt('iptables.check_chain')(table, name, family)))
      return unchanged(
        name,
        `iptables ${name} chain is already absent in ${table} table for ${family}`,
      );
    if (__opts__.test)
      return would(name, `iptables ${name} chain in ${table} table needs to be removed ${family}`);
    await salt('iptables.flush')(table, name, family);
    await salt('iptables.delete_chain')(table, name, family);
    return changed(name, `iptables ${name} chain in ${table} table delete success for ${family}`, {
      locale: name,
    });
  });

/**
 * A rule is there; a new one goes to the end of its chain.
 *
 * All further arguments are the rule: `protocol`, `dport`, `dports`, `source`, `connstate`,
 * `match`, `jump` … as iptables' long options are called. `!` before a value negates it.
 *
 * @param name any name
 * @param table its table
 * @param chain its chain
 * @param family `ipv4` or `ipv6`
 * @param save true or a file: write the rules down for the next boot
 * @example
 * ssh:
 *   iptables.append:
 *     - chain: INPUT
 *     - protocol: tcp
 *     - dport: 22
 *     - jump: ACCEPT
 *     - save: true
 */
export const append = async (name: string, options: RuleOptions = {}): Promise<StateReturn> =>
  place(name, options, 'A', 'iptables.append');

/**
 * A rule is there; a new one goes to `position` in its chain.
 *
 * @param name any name
 * @param table its table
 * @param chain its chain
 * @param position where a new one goes, from 1; negative counts from the end
 * @param family `ipv4` or `ipv6`
 * @param save true or a file: write the rules down for the next boot
 * @example
 * ssh:
 *   iptables.insert:
 *     - chain: INPUT
 *     - position: 1
 *     - protocol: tcp
 *     - dport: 22
 *     - jump: ACCEPT
 */
export const insert = async (name: string, options: RuleOptions = {}): Promise<StateReturn> =>
  options.position === undefined
    ? failed(name, 'iptables.insert needs the argument "position".')
    : place(name, options, 'I', 'iptables.insert');

const place = async (
  name: string,
  { table = 'filter', chain = '', family = 'ipv4', save = false, position, ...rule }: RuleOptions,
  command: string,
  fun: string,
): Promise<StateReturn> =>
  guarded(name, async () => {
    if (chain === '') return failed(name, `${fun} needs the argument "chain".`);
    const shown: string = await salt('iptables.build_rule')(table, chain, {
      ...rule,
      command,
      family,
      full: true,
    });
    if (await salt('iptables.check')(table, chain, { ...rule, family }))
      return saved(
        unchanged(name, `iptables rule for ${name} already set (${shown}) for ${family}`),
        save,
        family,
      );
    if (__opts__.test)
      return would(name, `iptables rule for ${name} needs to be set (${shown}) for ${family}`);
    await salt(fun)(table, chain, {
      ...rule,
      family,
      ...(position === undefined ? {} : { position }),
    });
    return saved(
      changed(name, `Set iptables rule for ${name} to: ${shown} for ${family}`, { locale: name }),
      save,
      family,
    );
  });

/**
 * A rule is not there.
 *
 * @param name any name
 * @param table its table
 * @param chain its chain
 * @param family `ipv4` or `ipv6`
 * @param save true or a file: write the rules down for the next boot
 * @example
 * telnet:
 *   iptables.delete:
 *     - chain: INPUT
 *     - protocol: tcp
 *     - dport: 23
 *     - jump: ACCEPT
 */
export const delete_ = async (
  name: string,
  { table = 'filter', chain = '', family = 'ipv4', save = false, ...rule }: RuleOptions = {},
): Promise<StateReturn> =>
  guarded(name, async () => {
    if (chain === '') return failed(name, 'iptables.delete needs the argument "chain".');
    if (!(await salt('iptables.check')(table, chain, { ...rule, family })))
      return unchanged(name, `iptables rule for ${name} already absent for ${family}`);
    if (__opts__.test)
      return would(name, `iptables rule for ${name} needs to be deleted for ${family}`);
    await salt('iptables.delete')(table, chain, { ...rule, family });
    return saved(changed(name, `Delete iptables rule for ${name}`, { locale: name }), save, family);
  });

export const __func_alias__ = { delete_: 'delete' };

/**
 * A chain has this policy: what happens to packets that none of its rules fits.
 *
 * @param name any name
 * @param table its table
 * @param chain the chain
 * @param policy `ACCEPT` or `DROP`
 * @param family `ipv4` or `ipv6`
 * @param save true or a file: write the rules down for the next boot
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
  guarded(name, async () => {
    if ((await salt('iptables.get_policy')(table, chain, family)) === policy)
      return unchanged(
        name,
        `iptables default policy for chain ${chain} on table ${table} for ${family} already set to ${policy}`,
      );
    if (__opts__.test)
      return would(
        name,
        `iptables default policy for chain ${chain} on table ${table} for ${family} needs to be set to ${policy}`,
      );
    await salt('iptables.set_policy')(table, chain, policy, family);
    return saved(
      changed(name, `Set default policy for ${chain} to ${policy} family ${family}`, {
        locale: name,
      }),
      save,
      family,
    );
  });

/** Writes the rules down where that is asked for and they are not the same already. */
const saved = async (
  state: StateReturn,
  save: boolean | string,
  family: string,
): Promise<StateReturn> => {
  if (!save || __opts__.test) return state;
  const file: string = await salt('iptables.save')(typeof save === 'string' ? save : null, family);
  if (file === '') return state;
  const changes: PlainDict = { ...state.changes, saved: file };
  return { ...state, changes, comment: `${state.comment}\nSaved iptables rules to ${file}` };
};
