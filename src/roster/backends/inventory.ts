import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../../protocol/error.ts';

/** An Ansible inventory in memory: groups with members, children and variables; hosts' variables. */
export class Inventory {
  readonly groups = new Map<string, InventoryGroup>();
  readonly hosts = new Map<string, { readonly vars: Dict; readonly at: SourceLocation }>();

  group(name: string): InventoryGroup {
    const known = this.groups.get(name);
    if (known) return known;
    const group: InventoryGroup = {
      hosts: new Set(),
      children: new Set(),
      vars: new Map(),
      fileVars: new Map(),
    };
    this.groups.set(name, group);
    return group;
  }

  addHost(name: string, vars: Iterable<readonly [unknown, Data]>, at: SourceLocation): void {
    const host = this.hosts.get(name) ?? { vars: new Map(), at };
    this.hosts.set(name, host);
    for (const [key, value] of vars) host.vars.set(String(key), value);
  }

  /** Hosts of a group and of all groups below it. */
  members(name: string): Set<string> {
    const found = new Set<string>();
    const seen = new Set<string>();
    const pending = [name];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const group = this.groups.get(next);
      if (group === undefined || seen.has(next)) continue;
      seen.add(next);
      for (const host of group.hosts) found.add(host);
      pending.push(...[...group.children].reverse());
    }
    return found;
  }
}

export type InventoryGroup = {
  readonly hosts: Set<string>;
  readonly children: Set<string>;
  readonly vars: Dict;
  /** Variables of `group_vars`: they override those in any inventory file. */
  readonly fileVars: Dict;
};

/**
 * Expands `web[01:03].x` and `db-[a:c]` to the names.
 * @throws TsaltError `roster-range` for an excessive range
 */
export const expandRange = (pattern: string, at?: SourceLocation): string[] => {
  const match = /^(.*?)\[(\w+):(\w+)(?::(\d+))?\](.*)$/.exec(pattern);
  if (match === null) return [pattern];
  const [, before = '', from = '', to = '', step = '1', after = ''] = match;
  const { count, nth } = rangeOf(from, to, Math.max(1, Number(step)));
  const ends = expandRange(after, at);
  if (count * ends.length > largestRange)
    throw new TsaltError(
      'roster-range',
      `The range '${pattern}' of the inventory has more than ${largestRange} hosts.`,
      { at },
    );
  return Array.from({ length: count }, (_, index) => nth(index)).flatMap(part =>
    ends.map(end => `${before}${part}${end}`),
  );
};

const largestRange = 65_536;

const rangeOf = (
  from: string,
  to: string,
  step: number,
): { readonly count: number; readonly nth: (index: number) => string } => {
  const areNumbers = /^\d+$/.test(from) && /^\d+$/.test(to);
  const [first, last] = areNumbers
    ? [Number(from), Number(to)]
    : [from.charCodeAt(0), to.charCodeAt(0)];
  const isRange = areNumbers || (from.length === 1 && to.length === 1);
  return {
    count: isRange ? Math.max(0, Math.floor((last - first) / step) + 1) : 0,
    nth: index => {
      const number = first + index * step;
      return areNumbers ? String(number).padStart(from.length, '0') : String.fromCharCode(number);
    },
  };
};

/** Reads a group of a YAML or JSON inventory. */
export const readGroup = (
  inventory: Inventory,
  name: string,
  value: Data,
  place: (node: object, key: unknown) => SourceLocation,
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

/** Adds a member as inventories write it: it may be a range and have a port. */
export const addMember = (
  inventory: Inventory,
  group: InventoryGroup,
  pattern: string,
  vars: Iterable<readonly [unknown, Data]>,
  at: SourceLocation,
): void => {
  const [, names = pattern, port] = /^((?:[^:[\]]|\[[^\]]*\])+):(\d{1,5})$/.exec(pattern) ?? [];
  const ported: [unknown, Data][] = port === undefined ? [] : [['ansible_port', Number(port)]];
  for (const host of expandRange(names, at)) {
    group.hosts.add(host);
    inventory.addHost(host, [...ported, ...vars], at);
  }
};

const pairs = (value: Data): (readonly [unknown, Data])[] => {
  if (isDict(value)) return [...value];
  return Array.isArray(value) ? value.map(item => [item as unknown, null] as const) : [];
};
