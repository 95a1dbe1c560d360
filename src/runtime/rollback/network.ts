import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOr } from '../../modules/_shared/files/read-file.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import { type Argv, outputOf, runRollbackProgram } from './programs.ts';
import { attempt, type RestoreResult } from './restore.ts';
import { changedRules, type Rules, readerOf, snapshotRules } from './rules.ts';

/** The network's state in the kernel, which may differ from the configuration files. */
export type NetworkSnapshot = {
  readonly rules: Rules;
  /** The kernel's settings by path. */
  readonly settings: ReadonlyMap<string, string>;
  readonly addresses: readonly Address[];
  /** Interfaces that are up. */
  readonly up: readonly string[];
  /** Lines of `ip route`, by family. */
  readonly routes: ReadonlyMap<'-4' | '-6', readonly string[]>;
};

type Address = { readonly device: string; readonly words: readonly string[] };

const families = ['-4', '-6'] as const;
const settingFolders = ['/proc/sys/net/ipv4', '/proc/sys/net/ipv6'];

/** Takes a snapshot of the kernel's network; leaves out parts whose program is missing. */
export const snapshotNetwork = async (): Promise<NetworkSnapshot> => {
  const links = await listJson(['ip', '-json', 'address']);
  return {
    rules: await snapshotRules(),
    settings: new Map(settingFolders.flatMap(readSettings)),
    addresses: links.flatMap(addressesOf),
    up: upOf(links),
    routes: new Map(
      await Promise.all(families.map(async one => [one, await routesOf(one)] as const)),
    ),
  };
};

/** Restores differences in this order: settings, rules, links, addresses, routes. */
export const restoreNetwork = async (kept: NetworkSnapshot): Promise<RestoreResult> => {
  const outcome: RestoreResult = { restored: [], problems: [] };
  const put = (what: string, argv: Argv, stdin?: string): Promise<void> =>
    attempt(outcome, what, () => runRollbackProgram(argv, stdin));
  putSettingsBack(kept, outcome);
  for (const [program, text] of await changedRules(kept.rules))
    await put(`the rules of ${program.replace('-restore', '')}`, readerOf(program), text);
  const links = await listJson(['ip', '-json', 'address']);
  const up = upOf(links);
  for (const device of kept.up)
    if (!up.includes(device) && links.some(link => nameOf(link) === device))
      await put(`the interface ${device}`, ['ip', 'link', 'set', device, 'up']);
  const now = links.flatMap(addressesOf);
  for (const { device, words } of missing(kept.addresses, now))
    await put(`the address ${words[0]}`, ['ip', 'address', 'replace', ...words, 'dev', device]);
  for (const { device, words } of missing(now, kept.addresses))
    if (kept.addresses.some(one => one.device === device))
      await put(`the address ${words[0]}`, ['ip', 'address', 'delete', ...words, 'dev', device]);
  for (const family of families) await putRoutesBack(kept.routes.get(family) ?? [], family, put);
  return outcome;
};

const listJson = async (argv: Argv): Promise<PlainDict[]> => {
  try {
    const data: unknown = JSON.parse((await outputOf(argv)) ?? '[]');
    return Array.isArray(data) ? data.filter(isPlainDict) : [];
  } catch {
    return [];
  }
};

const upOf = (links: readonly PlainDict[]): string[] =>
  links.filter(({ flags }) => Array.isArray(flags) && flags.includes('UP')).map(nameOf);

const nameOf = ({ ifname }: PlainDict): string => String(ifname ?? '');

/**
 * Returns the static addresses of an interface; those of DHCP and router advertisements are left
 * out.
 */
const addressesOf = (link: PlainDict): Address[] => {
  const all = Array.isArray(link.addr_info) ? link.addr_info.filter(isPlainDict) : [];
  return all
    .filter(({ dynamic, scope, local }) => !dynamic && scope !== 'link' && local !== undefined)
    .map(({ local, prefixlen, broadcast, address, scope, label }) => ({
      device: nameOf(link),
      words: [
        `${local}/${prefixlen}`,
        ...(address === undefined ? [] : ['peer', String(address)]),
        ...(broadcast === undefined ? [] : ['broadcast', String(broadcast)]),
        ...(scope === undefined ? [] : ['scope', String(scope)]),
        ...(label === undefined ? [] : ['label', String(label)]),
      ],
    }));
};

const missing = (wanted: readonly Address[], there: readonly Address[]): Address[] =>
  wanted.filter(
    ({ device, words }) => !there.some(one => one.device === device && one.words[0] === words[0]),
  );

/** Lists routes without their descriptive fields. */
const routesOf = async (family: '-4' | '-6'): Promise<string[]> =>
  ((await outputOf(['ip', family, 'route', 'show'])) ?? '')
    .split('\n')
    .map(line => line.replace(/ (?:linkdown|dead|onlink|pref \w+|expires \w+)\b/g, '').trim())
    .filter(line => line !== '' && !/\bproto (?:ra|dhcp)\b/.test(line));

const putRoutesBack = async (
  kept: readonly string[],
  family: '-4' | '-6',
  put: (what: string, argv: Argv) => Promise<void>,
): Promise<void> => {
  const ip = (verb: string, line: string): Argv => [
    'ip',
    family,
    'route',
    verb,
    ...line.split(/\s+/),
  ];
  for (const line of await routesOf(family))
    if (!kept.includes(line) && !line.includes('proto kernel'))
      await put(`the route ${line}`, ip('delete', line));
  // Routes to a gateway come before routes through it.
  const order = (line: string): number => Number(/\bvia\b/.test(line));
  let now = await routesOf(family);
  for (const line of [...kept].sort((a, b) => order(a) - order(b)))
    if (!now.includes(line)) {
      await put(`the route ${line}`, ip('replace', line));
      now = await routesOf(family);
    }
};

const readSettings = (folder: string): [string, string][] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap(one => {
      const path = join(folder, one.name);
      if (one.isDirectory()) return readSettings(path);
      const value = readOr(path);
      return value === undefined ? [] : [[path, value] as [string, string]];
    });
  } catch {
    return [];
  }
};

/** Restores kernel settings. Those of an interface that no longer exists are skipped. */
const putSettingsBack = ({ settings }: NetworkSnapshot, { restored }: RestoreResult): void => {
  for (const [path, value] of settings) {
    const now = readOr(path);
    if (now === undefined || now === value) continue;
    try {
      writeFileSync(path, value, { flag: 'r+' });
      restored.push(path);
    } catch {
      // A read-only setting, such as a counter.
    }
  }
};
