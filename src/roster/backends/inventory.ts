import { type Data, type Dict, isDict } from '../../data/value.ts';
import type { Place } from '../../protocol/error.ts';

/** An Ansible inventory in memory: groups with members, children and variables; hosts' variables. */
export class Inventory {
  readonly groups = new Map<string, Group>();
  readonly hosts = new Map<string, { readonly vars: Dict; readonly at: Place }>();

  group(name: string): Group {
    const known = this.groups.get(name);
    if (known) return known;
    const group: Group = {
      hosts: new Set(),
      children: new Set(),
      vars: new Map(),
      fileVars: new Map(),
    };
    this.groups.set(name, group);
    return group;
  }

  addHost(name: string, vars: Iterable<readonly [unknown, Data]>, at: Place): void {
    const host = this.hosts.get(name) ?? { vars: new Map(), at };
    this.hosts.set(name, host);
    for (const [key, value] of vars) host.vars.set(String(key), value);
  }

  /** Hosts of a group and of all groups below it. */
  members(name: string, seen: Set<string> = new Set()): Set<string> {
    const found = new Set<string>();
    const group = this.groups.get(name);
    if (group === undefined || seen.has(name)) return found;
    seen.add(name);
    for (const host of group.hosts) found.add(host);
    for (const child of group.children)
      for (const host of this.members(child, seen)) found.add(host);
    return found;
  }

  /** A host's variables: `all`, then groups from the outermost inwards, then its own. */
  varsOf(host: string): Dict {
    const vars: Dict = new Map();
    const groups = [...this.groups.keys()]
      .filter(name => name === 'all' || this.members(name).has(host))
      .map(name => ({ name, depth: this.#depth(name), priority: this.#priority(name) }))
      .sort(
        (left, right) =>
          left.depth - right.depth ||
          left.priority - right.priority ||
          (left.name < right.name ? -1 : 1),
      );
    for (const part of ['vars', 'fileVars'] as const)
      for (const { name } of groups)
        for (const [key, value] of this.groups.get(name)?.[part] ?? []) vars.set(key, value);
    for (const [key, value] of this.hosts.get(host)?.vars ?? []) vars.set(key, value);
    vars.delete('ansible_group_priority');
    return vars;
  }

  /** `ansible_group_priority`: which of groups of one depth wins. */
  #priority(name: string): number {
    const given = Number(this.groups.get(name)?.vars.get('ansible_group_priority') ?? 1);
    return Number.isFinite(given) ? given : 1;
  }

  #depth(name: string, seen: readonly string[] = []): number {
    if (name === 'all') return 0;
    const parents = [...this.groups].filter(
      ([parent, group]) => group.children.has(name) && !seen.includes(parent) && parent !== name,
    );
    return 1 + Math.max(0, ...parents.map(([parent]) => this.#depth(parent, [...seen, name])));
  }
}

export type Group = {
  readonly hosts: Set<string>;
  readonly children: Set<string>;
  readonly vars: Dict;
  /** Of `group_vars`: all of them come after what any inventory itself says of a group. */
  readonly fileVars: Dict;
};

/** `web[01:03].x` and `db-[a:c]` as the names they stand for. */
export const expandRange = (pattern: string): string[] => {
  const match = /^(.*?)\[(\w+):(\w+)(?::(\d+))?\](.*)$/.exec(pattern);
  if (match === null) return [pattern];
  const [, before = '', from = '', to = '', step = '1', after = ''] = match;
  return between(from, to, Math.max(1, Number(step))).flatMap(part =>
    expandRange(`${before}${part}${after}`),
  );
};

const largestRange = 65_536;

const between = (from: string, to: string, step: number): string[] => {
  const numbers = /^\d+$/.test(from) && /^\d+$/.test(to);
  const [first, last] = numbers
    ? [Number(from), Number(to)]
    : [from.charCodeAt(0), to.charCodeAt(0)];
  if (!numbers && (from.length !== 1 || to.length !== 1)) return [];
  const count = Math.min(largestRange, Math.max(0, Math.floor((last - first) / step) + 1));
  return Array.from({ length: count }, (_, at) => {
    const number = first + at * step;
    return numbers ? String(number).padStart(from.length, '0') : String.fromCharCode(number);
  });
};

/** A group as YAML and JSON inventories write it. */
export const readGroup = (
  inventory: Inventory,
  name: string,
  value: Data,
  place: (node: object, key: unknown) => Place,
): void => {
  const group = inventory.group(name);
  if (Array.isArray(value)) {
    for (const host of value) addMember(inventory, group, String(host), new Map(), place(value, 0));
    return;
  }
  if (!isDict(value)) return;
  const vars = value.get('vars') ?? null;
  if (isDict(vars)) for (const [key, item] of vars) group.vars.set(key, item);
  const hosts = value.get('hosts') ?? null;
  for (const [host, hostVars] of pairs(hosts))
    addMember(
      inventory,
      group,
      String(host),
      isDict(hostVars) ? hostVars : new Map(),
      place(hosts as object, host),
    );
  for (const [child, nested] of pairs(value.get('children') ?? null)) {
    group.children.add(String(child));
    readGroup(inventory, String(child), nested, place);
  }
};

/** A member as inventories name it: a range stands for many, and a port may follow. */
export const addMember = (
  inventory: Inventory,
  group: Group,
  pattern: string,
  vars: Iterable<readonly [unknown, Data]>,
  at: Place,
): void => {
  const [, names = pattern, port] = /^((?:[^:[\]]|\[[^\]]*\])+):(\d{1,5})$/.exec(pattern) ?? [];
  const ported: [unknown, Data][] = port === undefined ? [] : [['ansible_port', Number(port)]];
  for (const host of expandRange(names)) {
    group.hosts.add(host);
    inventory.addHost(host, [...ported, ...vars], at);
  }
};

const pairs = (value: Data): (readonly [unknown, Data])[] => {
  if (isDict(value)) return [...value];
  return Array.isArray(value) ? value.map(item => [item as unknown, null] as const) : [];
};
