/**
 * Rules, chains and policies of the packet filter.
 *
 * @platform linux
 * @depends iptables
 */
import { readFile } from 'node:fs/promises';
import { __grains__, CommandExecutionError, type PlainDict, SaltInvocationError } from '../api.ts';
import { ruleWords } from '../lib/iptables-rule.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';
import { quoteWord } from '../lib/words.ts';
import { replaceFile } from '../lib/write-file.ts';

export const __virtual__ = (): true | [false, string] =>
  which('iptables') !== undefined || [false, 'iptables is not there.'];

const program = (family: string): string => {
  if (family === 'ipv4') return 'iptables';
  if (family === 'ipv6') return 'ip6tables';
  throw new SaltInvocationError(`Not a family of addresses: ${family}. Write ipv4 or ipv6.`);
};

const run = (family: string, args: readonly string[]) =>
  runCommand([program(family), '--wait', ...args], { plainLocale: true, cwd: '/' });

const change = async (family: string, args: readonly string[]): Promise<true> => {
  const { code, stderr } = await run(family, args);
  if (code !== 0)
    throw new CommandExecutionError(stderr.trim() || `iptables ${args.join(' ')} failed`);
  return true;
};

/**
 * A rule as it would be given to iptables.
 *
 * @param table the table
 * @param chain the chain
 * @param command `A` to append, `I` to insert, `D` to delete
 * @param family `ipv4` or `ipv6`
 * @param full true: the whole command
 * @example tsalt-ssh '*' iptables.build_rule filter INPUT command=A full=True match=state connstate=RELATED jump=ACCEPT
 */
export const build_rule = async (
  table = 'filter',
  chain = '',
  {
    command = '',
    family = 'ipv4',
    full = false,
    ...rule
  }: { command?: string; family?: string; full?: boolean; [argument: string]: unknown } = {},
): Promise<string> => {
  const words = ruleWords(rule as PlainDict)
    .map(quoteWord)
    .join(' ');
  return full ? `${program(family)} --wait -t ${table} -${command} ${chain} ${words}` : words;
};

type RuleOptions = { family?: string; [argument: string]: unknown };

/**
 * Whether a rule is there.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.check filter INPUT protocol=tcp dport=22 jump=ACCEPT
 */
export const check = async (
  table: string,
  chain: string,
  { family = 'ipv4', ...rule }: RuleOptions = {},
): Promise<boolean> =>
  (await run(family, ['-t', table, '-C', chain, ...ruleWords(rule as PlainDict)])).code === 0;

/**
 * Appends a rule.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.append filter INPUT protocol=tcp dport=22 jump=ACCEPT
 */
export const append = async (
  table: string,
  chain: string,
  { family = 'ipv4', ...rule }: RuleOptions = {},
): Promise<boolean> => change(family, ['-t', table, '-A', chain, ...ruleWords(rule as PlainDict)]);

/**
 * Inserts a rule.
 *
 * @param table the table
 * @param chain the chain
 * @param position where, from 1; negative counts from the end
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.insert filter INPUT position=3 protocol=tcp dport=22 jump=ACCEPT
 */
export const insert = async (
  table: string,
  chain: string,
  { family = 'ipv4', position, ...rule }: RuleOptions & { position: number },
): Promise<boolean> => {
  const { stdout } = await run(family, ['-t', table, '-S', chain]);
  const count = stdout.split('\n').filter(line => line.startsWith('-A ')).length;
  const at = position < 0 ? Math.max(1, count + position + 2) : position;
  return change(family, ['-t', table, '-I', chain, String(at), ...ruleWords(rule as PlainDict)]);
};

/**
 * Takes a rule away.
 *
 * @param table the table
 * @param chain the chain
 * @param position its number, instead of the rule
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.delete filter INPUT protocol=tcp dport=22 jump=ACCEPT
 */
export const delete_ = async (
  table: string,
  chain: string,
  { family = 'ipv4', position, ...rule }: RuleOptions & { position?: number } = {},
): Promise<boolean> =>
  change(family, [
    '-t',
    table,
    '-D',
    chain,
    ...(position === undefined ? ruleWords(rule as PlainDict) : [String(position)]),
  ]);

export const __func_alias__ = { delete_: 'delete' };

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
): Promise<boolean> => (await run(family, ['-t', table, '-S', chain])).code === 0;

/**
 * Makes a chain.
 *
 * @param table the table
 * @param chain the chain
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.new_chain filter LOGDROP
 */
export const new_chain = async (table: string, chain: string, family = 'ipv4'): Promise<boolean> =>
  change(family, ['-t', table, '-N', chain]);

/**
 * Takes an empty chain away.
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
): Promise<boolean> => change(family, ['-t', table, '-X', chain]);

/**
 * Takes all rules out of a chain, or of all chains of a table.
 *
 * @param table the table
 * @param chain the chain; all when empty
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.flush filter LOGDROP
 */
export const flush = async (table = 'filter', chain = '', family = 'ipv4'): Promise<boolean> =>
  change(family, ['-t', table, '-F', ...(chain === '' ? [] : [chain])]);

/**
 * What happens to packets that no rule of a chain fits.
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
  const { stdout } = await run(family, ['-t', table, '-S', chain]);
  return /^-P \S+ (\S+)/m.exec(stdout)?.[1] ?? null;
};

/**
 * Says what happens to packets that no rule of a chain fits.
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
): Promise<boolean> => change(family, ['-t', table, '-P', chain, policy]);

/** Where the rules of the next boot are. */
const savedFile = (family: string): string =>
  __grains__.os_family === 'RedHat'
    ? `/etc/sysconfig/${program(family)}`
    : `/etc/iptables/rules.${family === 'ipv6' ? 'v6' : 'v4'}`;

/**
 * Writes the rules down for the next boot and gives the file; an empty text when it is the same
 * already.
 *
 * @param filename the file, the distribution's own by default
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.save /etc/iptables/rules.v4
 */
export const save = async (filename: string | null = null, family = 'ipv4'): Promise<string> => {
  const { code, stdout, stderr } = await runCommand([`${program(family)}-save`], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  const path = filename ?? savedFile(family);
  const before = await readFile(path, 'utf8').catch(() => '');
  if (plainRules(before) === plainRules(stdout)) return '';
  await replaceFile(path, stdout, 0o600);
  return path;
};

/** Rules without dates and counters, which change by themselves. */
const plainRules = (text: string): string =>
  text.replace(/^#.*\n?/gm, '').replace(/\[\d+:\d+\]/g, '');
