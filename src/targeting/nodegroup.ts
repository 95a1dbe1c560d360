export type Nodegroups = Readonly<Record<string, string | readonly string[]>>;

export const operators: readonly string[] = ['and', 'or', 'not', '(', ')'];

/**
 * Expands a nodegroup with its nested groups (`N@other`), in parentheses. A plain list of names
 * becomes one list target. Unknown and circular groups are empty.
 * (salt.utils.minions.nodegroup_comp)
 */
export const expandNodegroup = (name: string, nodegroups: Nodegroups): readonly string[] => {
  const { words } = expand(name, nodegroups, new Set(), true);
  return words;
};

const expand = (
  name: string,
  nodegroups: Nodegroups,
  inside: ReadonlySet<string>,
  outermost: boolean,
): { words: readonly string[] } => {
  const group = Object.hasOwn(nodegroups, name) ? nodegroups[name] : undefined;
  if (group === undefined || inside.has(name)) return { words: [] };
  const written =
    typeof group === 'string' ? group.split(/\s+/).filter(Boolean) : group.map(String);
  const nested = written.some(isNodegroup);
  if (nested || !outermost) {
    const joined = outermost ? undefined : asOneTarget(written);
    if (joined) return { words: [joined] };
    const within = new Set(inside).add(name);
    const words = written.flatMap(word =>
      isNodegroup(word) ? expand(word.slice(2), nodegroups, within, false).words : [word],
    );
    return { words: words.length > 0 ? ['(', ...words, ')'] : [] };
  }
  return { words: joinedOr(written) };
};

const isNodegroup = (word: string): boolean => word.length >= 3 && word.startsWith('N@');

const joinedOr = (words: readonly string[]): readonly string[] => {
  const joined = asOneTarget(words);
  return joined ? [joined] : words;
};

/**
 * Converts terms without operators, types and stars: to one regular expression if they look like
 * one, otherwise to a list of names.
 */
const asOneTarget = (words: readonly string[]): string | undefined => {
  if (words.some(word => operators.includes(word))) return undefined;
  if (words.some(word => word.includes('*') || /^[A-Z]@/.test(word))) return undefined;
  const regex = words.some(word => /[([{\\?}\])]/.test(word));
  return `${regex ? 'E' : 'L'}@${words.join(',')}`;
};
