import { type Argv, outputOf } from './programs.ts';

/**
 * The firewall's rules, by the program that reads them: `iptables-restore`, `ip6tables-restore`,
 * `nft`.
 */
export type Rules = ReadonlyMap<string, string>;

/** Maps each program that saves rules to the program that reads them. */
const savers: Readonly<Record<string, string>> = {
  'iptables-save': 'iptables-restore',
  'ip6tables-save': 'ip6tables-restore',
};

/** Returns the argv of a program that reads rules from its input. */
export const readerOf = (program: string): Argv =>
  program === 'nft' ? ['nft', '-f', '-'] : [program];

/** Takes a snapshot of the rules; programs that are not installed are left out. */
export const snapshotRules = async (): Promise<Rules> => {
  const rules = new Map<string, string>();
  for (const [saver, restorer] of Object.entries(savers)) {
    const text = await outputOf([saver]);
    if (text !== undefined) rules.set(restorer, withoutNotes(text));
  }
  const nft = await outputOf(['nft', 'list', 'ruleset']);
  if (nft !== undefined) rules.set('nft', nft);
  return rules;
};

/** Removes timestamps and counters, which are not part of the rules. */
const withoutNotes = (text: string): string =>
  text
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .map(line => line.replace(/^(:\S+ \S+) \[\d+:\d+\]$/, '$1 [0:0]'))
    .join('\n');

/** Returns the input of each program that restores changed rules. */
export const changedRules = async (rules: Rules): Promise<[string, string][]> => {
  const now = await snapshotRules();
  const nft = rules.get('nft');
  const isNft = nft !== undefined && withoutCounts(now.get('nft') ?? '') !== withoutCounts(nft);
  const tables = [...rules].filter(([program]) => program !== 'nft');
  const changed = tables.filter(
    ([program, text]) => isNft || wholeTables(text) !== wholeTables(now.get(program) ?? ''),
  );
  return [
    ...(isNft ? [['nft', `flush ruleset\n${ownTables(nft)}`] as [string, string]] : []),
    ...changed.map(([program, text]): [string, string] => [
      program,
      withEmptyTables(text, now.get(program) ?? ''),
    ]),
  ];
};

const withoutCounts = (text: string): string => text.replace(/packets \d+ bytes \d+/g, '');

/**
 * Removes tables with the kernel's default policies and no rules: they are equivalent to no table.
 */
const wholeTables = (text: string): string =>
  tablesOf(text)
    .filter(table => /^-/m.test(table) || /^:\S+ (?!ACCEPT )/m.test(table))
    .join('');

const tablesOf = (text: string): string[] => text.match(/^\*[\s\S]*?^COMMIT$/gm) ?? [];

/** Adds commands that empty tables which did not exist before. */
const withEmptyTables = (text: string, now: string): string => {
  const nameOfTable = (table: string): string => table.slice(0, table.indexOf('\n'));
  const known = new Set(tablesOf(text).map(nameOfTable));
  const chains = (table: string): string =>
    (table.match(/^:(\S+) (?!-)\S+/gm) ?? [])
      .map(line => `${line.split(' ')[0]} ACCEPT [0:0]`)
      .join('\n');
  const added = tablesOf(now)
    .filter(table => !known.has(nameOfTable(table)))
    .map(table => `${nameOfTable(table)}\n${chains(table)}\nCOMMIT`);
  return `${[...tablesOf(text), ...added].join('\n')}\n`;
};

/**
 * Removes the tables of iptables: iptables restores them itself, and nft cannot write all of their
 * rules.
 */
const ownTables = (ruleset: string): string =>
  (ruleset.match(/^table [\s\S]*?^\}$/gm) ?? [])
    .filter(table => !/^table ip6? (?:filter|nat|mangle|raw|security) \{/.test(table))
    .join('\n');
