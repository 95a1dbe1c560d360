import { type Argv, outputOf } from './programs.ts';

/** The firewall's rules by the program that reads them: `iptables-restore`, `ip6tables-restore`, `nft`. */
export type Rules = ReadonlyMap<string, string>;

/** By the program that saves rules: the one that reads them. */
const savers: Readonly<Record<string, string>> = {
  'iptables-save': 'iptables-restore',
  'ip6tables-save': 'ip6tables-restore',
};

/** How a program is called that reads rules from its input. */
export const readerOf = (program: string): Argv =>
  program === 'nft' ? ['nft', '-f', '-'] : [program];

/** The rules as they are; those of programs that are not there are left out. */
export const keepRules = async (): Promise<Rules> => {
  const rules = new Map<string, string>();
  for (const [saver, restorer] of Object.entries(savers)) {
    const text = await outputOf([saver]);
    if (text !== undefined) rules.set(restorer, withoutNotes(text));
  }
  const nft = await outputOf(['nft', 'list', 'ruleset']);
  if (nft !== undefined) rules.set('nft', nft);
  return rules;
};

/** Times and counts are no part of the rules. */
const withoutNotes = (text: string): string =>
  text
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .map(line => line.replace(/^(:\S+ \S+) \[\d+:\d+\]$/, '$1 [0:0]'))
    .join('\n');

/** What each program has to read so that the rules are as they were. */
export const changedRules = async (rules: Rules): Promise<[string, string][]> => {
  const now = await keepRules();
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

/** A table of the kernel's own policies and no rule is the same as none. */
const wholeTables = (text: string): string =>
  tablesOf(text)
    .filter(table => /^-/m.test(table) || /^:\S+ (?!ACCEPT )/m.test(table))
    .join('');

const tablesOf = (text: string): string[] => text.match(/^\*[\s\S]*?^COMMIT$/gm) ?? [];

/** Tables that were not there before are emptied. */
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

/** Tables that iptables makes are its own to put back; it uses what nft cannot write. */
const ownTables = (ruleset: string): string =>
  (ruleset.match(/^table [\s\S]*?^\}$/gm) ?? [])
    .filter(table => !/^table ip6? (?:filter|nat|mangle|raw|security) \{/.test(table))
    .join('\n');
