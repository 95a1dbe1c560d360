import { replaceFile } from '../../../_shared/files/write-file.ts';
import { statSync } from '../../../_shared/safe-fs/fs.ts';
import { readFile } from '../../../_shared/safe-fs/promises.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import { listNft, nftFamilies, nftFamily, runNft } from '../../nft.ts';
import { list_tables } from './tables.ts';

const savedFile = '/etc/nftables';

/**
 * Returns the tables of a family in nft's language.
 *
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.get_rules
 */
export const get_rules = async (family = 'ipv4'): Promise<string[]> => {
  const kind = nftFamily(family);
  const texts: string[] = [];
  for (const { name } of await list_tables(family)) {
    const { code, stdout, stderr } = await runNft('list', 'table', kind, String(name));
    if (code !== 0) throw new CommandExecutionError(stderr.trim());
    texts.push(stdout.trimEnd());
  }
  return texts;
};

/**
 * Returns the tables, chains and rules of a family as data.
 *
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @example tsalt-ssh '*' nftables.get_rules_json
 */
export const get_rules_json = async (family = 'ipv4'): Promise<PlainDict[]> =>
  listNft('ruleset', nftFamily(family));

/**
 * Returns the lines of the saved rules, without comments.
 *
 * @param conf_file the file, `/etc/nftables` by default
 * @example tsalt-ssh '*' nftables.get_saved_rules
 */
export const get_saved_rules = async (conf_file: string | null = null): Promise<string[]> => {
  const text = await readFile(conf_file ?? savedFile, 'utf8');
  return text.split(/(?<=\n)/).filter(line => !/^\s*(?:#|$)/.test(line));
};

/**
 * Saves all rules of all families to a file and returns them. If the path is a folder, the rules are
 * saved there as `salt-all-in-one.nft`, which the main configuration has to include.
 *
 * @param filename the file, `/etc/nftables` by default
 * @param family checked only: the rules of all families are written
 * @example tsalt-ssh '*' nftables.save /etc/nftables/salt.nft
 */
export const save = async (filename: string | null = null, family = 'ipv4'): Promise<string> => {
  nftFamily(family);
  let text = '#! nft -f\n';
  for (const kind of nftFamilies) {
    const tables = await get_rules(kind);
    if (tables.length > 0) text += `\n${tables.join('\n')}`;
  }
  const path = filename ?? savedFile;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  await replaceFile(isFolder ? `${path}/salt-all-in-one.nft` : path, `${text}\n`, 0o600);
  return `${text}\n`;
};
