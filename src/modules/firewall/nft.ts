import { getOwn } from '../../protocol/plain.ts';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../api.ts';

const families: Readonly<Record<string, string>> = {
  ipv4: 'ip',
  ip4: 'ip',
  ip: 'ip',
  ipv6: 'ip6',
  ip6: 'ip6',
  inet: 'inet',
  arp: 'arp',
  bridge: 'bridge',
  netdev: 'netdev',
};

/** The names of all families in nft. */
export const nftFamilies: readonly string[] = [...new Set(Object.values(families))];

/** Returns nft's name of a family. */
export const nftFamily = (family: string): string => {
  const name = getOwn(families, family);
  if (name === undefined)
    throw new SaltInvocationError(
      `Not a family of nftables: ${family}. Write one of ${Object.keys(families).join(', ')}.`,
    );
  return name;
};

/**
 * Checks a name: nft parses its arguments as a program, so a name must not end a statement and begin
 * another.
 */
export const nftName = (name: string, what: string): string => {
  if (!/^[A-Za-z_][\w/\\.-]*$/.test(name))
    throw new SaltInvocationError(`Not a name that nftables takes for a ${what}: ${name}`);
  return name;
};

const plain = { plainLocale: true, cwd: '/' } as const;

export const runNft = (...args: string[]): Promise<CommandResult> =>
  runCommand(['nft', ...args], plain);

/** Returns the objects that `nft --json` lists; an empty list if the table or chain does not exist. */
export const listNft = async (...what: string[]): Promise<PlainDict[]> => {
  const { code, stdout } = await runNft('--json', '--numeric', 'list', ...what);
  if (code !== 0 || stdout.trim() === '') return [];
  return (JSON.parse(stdout) as { nftables: PlainDict[] }).nftables;
};

export type NftRule = { readonly text: string; readonly handle: string };

/** Returns the rules of a chain in order, in a comparable form. */
export const rulesOfChain = async (
  family: string,
  table: string,
  chain: string,
): Promise<NftRule[]> => {
  const { code, stdout, stderr } = await runNft('-a', 'list', 'chain', family, table, chain);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout.split('\n').flatMap(line => {
    const match = /^\t\t(.*) # handle (\d+)$/.exec(line);
    return match ? [{ text: comparable(match[1] ?? ''), handle: match[2] ?? '' }] : [];
  });
};

/**
 * Removes the changing parts of a rule and sorts its sets: nft lists them in another order than it
 * echoes them.
 */
const comparable = (rule: string): string =>
  rule
    .replace(/\bcounter packets \d+ bytes \d+/g, 'counter')
    .replace(/\{ ([^{}]*) \}/g, (_, items: string) => `{ ${items.split(', ').sort().join(', ')} }`)
    .trim();

/**
 * Returns a rule in the form in which nft lists it, found by adding it to a copy of its table in a
 * temporary network namespace. If that is not possible, returns the rule unchanged.
 */
export const listedForm = async (
  family: string,
  table: string,
  chain: string,
  rule: string,
): Promise<string> => {
  const { stdout: copy } = await runNft('--terse', 'list', 'table', family, table);
  const { code, stdout } = await runCommand(['unshare', '--net', 'nft', '--echo', '-f', '-'], {
    ...plain,
    stdin: `${copy}\nadd rule ${family} ${table} ${chain} ${rule}\n`,
  });
  const start = `add rule ${family} ${table} ${chain} `;
  const added = stdout.split('\n').findLast(line => line.startsWith(start));
  return comparable(code === 0 && added ? added.slice(start.length) : rule);
};
