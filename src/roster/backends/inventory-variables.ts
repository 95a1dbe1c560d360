import type { Dict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Inventory, InventoryGroup } from './inventory.ts';

/**
 * Returns each host's variables in an inventory: those of `all`, then of its groups from the
 * outermost inwards, then its own.
 *
 * @throws TsaltError `roster-groups`
 */
export const hostVariables = (inventory: Inventory): ((host: string) => Dict) => {
  const groupsOf = new Map<string, InventoryGroup[]>();
  for (const [name, group] of inOrder(inventory)) {
    const members = name === 'all' ? inventory.hosts.keys() : inventory.members(name);
    for (const host of members) {
      const known = groupsOf.get(host);
      if (known === undefined) groupsOf.set(host, [group]);
      else known.push(group);
    }
  }
  return host => {
    const vars: Dict = new Map();
    for (const part of ['vars', 'fileVars'] as const)
      for (const group of groupsOf.get(host) ?? [])
        for (const [key, value] of group[part]) vars.set(key, value);
    for (const [key, value] of inventory.hosts.get(host)?.vars ?? []) vars.set(key, value);
    vars.delete('ansible_group_priority');
    return vars;
  };
};

/** Orders groups of the same depth by `ansible_group_priority`, then by name. */
const inOrder = ({ groups }: Inventory): [string, InventoryGroup][] => {
  const depths = depthsOf(groups);
  const placeOf = ([name, group]: [string, InventoryGroup]): [number, number] => [
    depths.get(name) ?? 0,
    priorityOf(group),
  ];
  return [...groups].sort((left, right) => {
    const [depth, priority] = placeOf(left);
    const [otherDepth, otherPriority] = placeOf(right);
    return depth - otherDepth || priority - otherPriority || (left[0] < right[0] ? -1 : 1);
  });
};

const priorityOf = ({ vars }: InventoryGroup): number => {
  const given = Number(vars.get('ansible_group_priority') ?? 1);
  return Number.isFinite(given) ? given : 1;
};

const deepest = 500;

const tooDeep = (name: string): TsaltError =>
  new TsaltError(
    'roster-groups',
    `The group '${name}' of the inventory is nested in more than ${deepest} others.`,
  );

/** Returns the depth of each group below `all`, along the longest path. */
const depthsOf = (groups: ReadonlyMap<string, InventoryGroup>): ReadonlyMap<string, number> => {
  const parents = new Map<string, string[]>();
  for (const [name, { children }] of groups)
    for (const child of children) {
      const above = parents.get(child);
      if (above) above.push(name);
      else parents.set(child, [name]);
    }
  const depths = new Map([['all', 0]]);
  const begun = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    if (begun.size >= deepest) throw tooDeep(name);
    begun.add(name);
    const above = (parents.get(name) ?? []).filter(parent => !begun.has(parent));
    const depth = 1 + Math.max(0, ...above.map(depthOf));
    if (depth > deepest) throw tooDeep(name);
    begun.delete(name);
    depths.set(name, depth);
    return depth;
  };
  for (const name of groups.keys()) depthOf(name);
  return depths;
};
