import { replaceFile } from '../../../_shared/files/write-file.ts';
import { readFile } from '../../../_shared/safe-fs/promises.ts';
import { configOption } from '../../../_shared/states/config-option.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { __grains__, CommandExecutionError } from '../../../api.ts';
import { allRules, iptablesName } from '../../iptables-run.ts';
import { parseSavedRules, type SavedRules } from '../../iptables-save.ts';

/** The files of the saved rules, for IPv4 and IPv6, by distribution. */
const savedFiles: Readonly<Record<string, readonly [string, string]>> = {
  RedHat: ['/etc/sysconfig/iptables', '/etc/sysconfig/ip6tables'],
  Arch: ['/etc/iptables/iptables.rules', '/etc/iptables/ip6tables.rules'],
  Debian: ['/etc/iptables/rules.v4', '/etc/iptables/rules.v6'],
  Gentoo: ['/var/lib/iptables/rules-save', '/var/lib/ip6tables/rules-save'],
  Suse: [
    '/etc/sysconfig/scripts/SuSEfirewall2-custom',
    '/etc/sysconfig/scripts/SuSEfirewall2-custom',
  ],
  Void: ['/etc/iptables/iptables.rules', '/etc/iptables/ip6tables.rules'],
  Alpine: ['/etc/iptables/rules-save', '/etc/iptables/rules6-save'],
};

const savedFile = (family: string): string => {
  const files =
    savedFiles[String(__grains__.os_family)] ?? savedFiles[String(__grains__.os)] ?? undefined;
  if (!files)
    throw new CommandExecutionError(
      `Saving iptables to file is not supported on ${String(__grains__.os)}: name a file.`,
    );
  return files[iptablesName(family) === 'ip6tables' ? 1 : 0];
};

/**
 * Returns the active rules, by table and chain.
 *
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.get_rules
 */
export const get_rules = async (family = 'ipv4'): Promise<SavedRules> =>
  parseSavedRules(await allRules(family));

/**
 * Returns the saved rules, for the next boot, by table and chain.
 *
 * @param conf_file the file, the distribution's own by default
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.get_saved_rules
 */
export const get_saved_rules = async (
  conf_file: string | null = null,
  family = 'ipv4',
): Promise<SavedRules> =>
  parseSavedRules(await readFile(conf_file ?? savedFile(family), 'utf8').catch(() => ''));

/**
 * Returns the policy of a chain in the saved rules, for the next boot.
 *
 * @param table the table
 * @param chain the chain
 * @param conf_file the file, the distribution's own by default
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.get_saved_policy filter INPUT
 */
export const get_saved_policy = async (
  table: string,
  chain: string,
  conf_file: string | null = null,
  family = 'ipv4',
): Promise<string | null> =>
  (await get_saved_rules(conf_file, family))[table]?.[chain]?.policy ?? null;

/**
 * Writes the rules down for the next boot. Lines that match one of the patterns in the
 * configuration's `iptables.save_filters` are left out.
 *
 * @param filename the file, the distribution's own by default
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.save /etc/iptables/rules.v4
 */
export const save = async (filename: string | null = null, family = 'ipv4'): Promise<string> => {
  const path = filename ?? savedFile(family);
  await replaceFile(path, await filteredRules(family), 0o600);
  return `Wrote 1 lines to "${path}"`;
};

/**
 * Whether the rules that hold now are those of the next boot; counters and dates do not count.
 *
 * @param filename the file, the distribution's own by default
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' iptables.is_saved
 */
export const is_saved = async (
  filename: string | null = null,
  family = 'ipv4',
): Promise<boolean> => {
  const saved = await readFile(filename ?? savedFile(family), 'utf8').catch(() => '');
  return plainRules(saved) === plainRules(await filteredRules(family));
};

const filteredRules = async (family: string): Promise<string> => {
  const option = await configOption('iptables.save_filters');
  // An option that is not set is an empty string, and an empty pattern matches every line.
  const patterns = (Array.isArray(option) ? option : [option]).flatMap(one =>
    typeof one === 'string' && one !== '' ? [pythonRegex(one)] : [],
  );
  const lines = (await allRules(family)).split('\n');
  return lines.filter(line => !patterns.some(pattern => pattern.test(line))).join('\n');
};

/** Removes dates and counters from rules, which change on their own. */
const plainRules = (text: string): string =>
  text.replace(/^#.*\n?/gm, '').replace(/\[\d+:\d+\]/g, '');
