import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../../api.ts';
import { installWith } from '../../package-install.ts';
import { installedBy, type ManagerOptions } from '../../package-manager.ts';
import type { PackageChanges } from '../../packages.ts';
import { yum } from '../../yum.ts';
import { repoOptions, runYum } from '../../yum-run.ts';

const kinds = ['mandatory', 'optional', 'default', 'conditional'] as const;
type Kind = (typeof kinds)[number];

type GroupInfo = { [kind in Kind]: string[] } & {
  type: string;
  group: string | null;
  id: string | null;
  description: string;
};

type RepoChoice = {
  /** this repository only */
  fromrepo?: string | null;
  /** repositories to switch on for it */
  enablerepo?: Plain;
  /** repositories to switch off for it */
  disablerepo?: Plain;
};

const sections: Readonly<Record<string, 'installed' | 'available'>> = {
  'installed groups:': 'installed',
  'available groups:': 'available',
};

type GroupList = {
  installed: string[];
  available: string[];
  'installed environments': string[];
  'available environments': string[];
  'available languages': { [line: string]: { name: string; language: string } };
};

/**
 * The groups of packages: installed and available ones, and environments.
 *
 * @example tsalt-ssh '*' pkg.group_list
 */
export const group_list = async (): Promise<GroupList> => {
  const { stdout } = await runYum('grouplist', 'hidden');
  return _parseGroups(stdout);
};

/** Headings at the margin, names below them. */
export const _parseGroups = (text: string): GroupList => {
  const list: GroupList = {
    installed: [],
    available: [],
    'installed environments': [],
    'available environments': [],
    'available languages': {},
  };
  let section: keyof GroupList | null = null;
  for (const line of text.split('\n')) {
    const head = line.trim().toLowerCase();
    if (head === 'done') break;
    const environment = /^(installed|available) environment groups:$/.exec(head)?.[1];
    if (sections[head]) section = sections[head];
    else if (environment) section = `${environment as 'installed' | 'available'} environments`;
    else if (head === 'available language groups:') section = 'available languages';
    else if (section === null || head === '') continue;
    else if (section !== 'available languages') list[section].push(line.trim());
    else {
      const [, name, language] = /^(.+) \[(.+)\]$/.exec(line.trim()) ?? [];
      if (name && language) list[section][line.trim()] = { name, language };
    }
  }
  return list;
};

/**
 * Returns the members of a group, by kind, with its `type`, `group`, `id` and `description`.
 *
 * @param name the group
 * @param expand true: list the packages of an environment's groups instead of the groups' names
 * @param ignore_groups groups to leave out then
 * @example tsalt-ssh '*' pkg.group_info 'Development Tools'
 */
export const group_info = async (
  name: string,
  {
    expand = false,
    ignore_groups = null,
    ...repos
  }: { expand?: boolean; ignore_groups?: Plain; [other: string]: unknown } & RepoChoice = {},
): Promise<GroupInfo> => {
  const { stdout, stderr } = await runYum('--quiet', ...repoOptions(repos), 'groupinfo', name);
  const info = _parseGroup(stdout);
  if (!info.group && !info.id)
    throw new CommandExecutionError(
      `Group '${name}' not found${stderr.trim() ? `: ${stderr.trim()}` : ''}`,
    );
  return expand && info.type === 'environment group'
    ? expanded(info, new Set(toList(ignore_groups)), repos)
    : info;
};

/**
 * Returns the packages of all groups of an environment, including its optional groups, as in Salt.
 */
const expanded = async (
  info: GroupInfo,
  done: Set<string>,
  repos: RepoChoice,
): Promise<GroupInfo> => {
  const packages = Object.fromEntries(kinds.map(kind => [kind, new Set<string>()])) as Record<
    Kind,
    Set<string>
  >;
  for (const group of kinds.flatMap(kind => info[kind])) {
    if (done.has(group)) continue;
    done.add(group);
    const inner = await group_info(`@${group}`, {
      ...repos,
      expand: true,
      ignore_groups: [...done],
    });
    for (const kind of kinds) for (const one of inner[kind]) packages[kind].add(one);
  }
  return {
    ...info,
    ...(Object.fromEntries(kinds.map(kind => [kind, [...packages[kind]].sort()])) as Record<
      Kind,
      string[]
    >),
  };
};

/** Parses the output of `dnf group info`: `Key: value` lines, and indented lists. */
export const _parseGroup = (text: string): GroupInfo => {
  const values = new Map<string, string>();
  const members = new Map<Kind, Set<string>>(kinds.map(kind => [kind, new Set()]));
  let list: Kind | null = null;
  for (const line of text.split('\n')) {
    const head =
      /^\s*(mandatory|optional|default|conditional) (?:groups|packages)\s*:\s*(\S*)/i.exec(line);
    const value = /^\s*([A-Za-z][\w -]*?)\s*:\s*(.*)$/.exec(line);
    const member = head ? head[2] : /^\s*:?\s+[+=-]?(\S.*?)\s*$/.exec(line)?.[1];
    if (head) list = (head[1] ?? '').toLowerCase() as Kind;
    else if (value) {
      values.set((value[1] ?? '').toLowerCase(), value[2] ?? '');
      list = null;
      continue;
    }
    if (list && member) members.get(list)?.add(member);
  }
  const environment = values.get('environment group');
  return {
    ...(Object.fromEntries(
      [...members].map(([kind, found]) => [kind, [...found].sort()]),
    ) as Record<Kind, string[]>),
    type: environment === undefined ? 'package group' : 'environment group',
    group: environment || values.get('group') || null,
    id: values.get('environment-id') || values.get('group-id') || null,
    description: values.get('description') ?? '',
  };
};

/**
 * The packages of a group by kind, installed and not.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_diff 'Development Tools'
 */
export const group_diff = async (
  name: string,
  repos: RepoChoice & { [other: string]: unknown } = {},
): Promise<{ [kind: string]: { installed: string[]; 'not installed': string[] } }> => {
  const have = await installedBy(yum);
  const info = await group_info(name, { ...repos, expand: true });
  return Object.fromEntries(
    kinds.map(kind => [
      kind,
      {
        installed: info[kind].filter(one => have[one]),
        'not installed': info[kind].filter(one => !have[one]),
      },
    ]),
  );
};

/**
 * Installs the mandatory and default packages of groups and returns the changes.
 *
 * @param name the group, or several with commas
 * @param skip default packages to leave out
 * @param include further packages
 * @example tsalt-ssh '*' pkg.group_install 'Development Tools' include=optipng
 */
export const group_install = async (
  name: Plain,
  { skip = [], include = [], ...options }: { skip?: Plain; include?: Plain } & ManagerOptions = {},
): Promise<PackageChanges> => {
  const groups = toList(name);
  if (groups.length === 0) throw new SaltInvocationError('no groups specified');
  const left = toList(skip);
  const targets = new Set<string>();
  for (const group of groups) {
    const info = await group_info(group);
    for (const one of info.mandatory) targets.add(one);
    for (const one of info.default) if (!left.includes(one)) targets.add(one);
  }
  for (const one of toList(include)) targets.add(one);
  const have = await installedBy(yum);
  const pkgs = [...targets].filter(one => !have[one]);
  return pkgs.length === 0 ? {} : installWith(yum, null, { ...options, pkgs });
};

/** The other name of `pkg.group_install`. */
export const groupinstall = group_install;
