import type { Prediction } from '../protocol/plan.ts';
import { withSortedKeys } from '../protocol/prefetch.ts';
import { isNotable, type Plan, predictionsOf } from './plan.ts';

/** Hosts with the same changes, and these changes. */
export type ChangeGroup = {
  readonly hosts: readonly string[];
  readonly changes: readonly Prediction[];
};

/** Groups the changes of a plan. */
export const changeGroups = (plan: Plan): readonly ChangeGroup[] =>
  groupChanges(
    Object.entries(plan.hosts).map(([id, host]) => [id, predictionsOf(plan, host)] as const),
  );

/**
 * Groups the changes of hosts: equal changes are listed once, and those with the same hosts
 * together. The largest groups come first.
 */
export const groupChanges = (
  byHost: Iterable<readonly [id: string, predictions: readonly Prediction[]]>,
): readonly ChangeGroup[] => {
  const byChange = new Map<string, { readonly hosts: string[]; readonly change: Prediction }>();
  for (const [id, predictions] of byHost)
    for (const prediction of predictions) {
      if (!isNotable(prediction)) continue;
      const key = JSON.stringify(withSortedKeys(prediction));
      const known = byChange.get(key) ?? { hosts: [], change: prediction };
      known.hosts.push(id);
      byChange.set(key, known);
    }
  const together = new Map<string, { readonly hosts: string[]; readonly changes: Prediction[] }>();
  for (const { hosts, change } of byChange.values()) {
    const key = JSON.stringify(hosts);
    const known = together.get(key) ?? { hosts, changes: [] };
    known.changes.push(change);
    together.set(key, known);
  }
  return [...together.values()].sort((a, b) => b.hosts.length - a.hosts.length);
};

/** The hosts on which nothing would change. */
export const unchangedHosts = (plan: Plan): readonly string[] =>
  Object.entries(plan.hosts)
    .filter(([, host]) => !predictionsOf(plan, host).some(isNotable))
    .map(([id]) => id);

/** The function of a state, by its tag. */
export const functionOf = ({ tag }: Prediction): string =>
  `${tag.split('_|-')[0]}.${tag.slice(tag.lastIndexOf('_|-') + 3)}`;

/** Returns whether a state would change something or fail. */
export const verdictOf = ({ result }: Prediction): 'change' | 'fail' =>
  result === false ? 'fail' : 'change';

/** The unified diff of a change, or the change as JSON; undefined where there is none. */
export const changeText = ({
  changes,
}: Prediction): { readonly text: string; readonly isDiff: boolean } | undefined => {
  const { diff, ...others } = changes;
  if (typeof diff === 'string') {
    const rest = Object.keys(others).length === 0 ? '' : `\n${JSON.stringify(others, null, 2)}`;
    return { text: diff.replace(/\n$/, '') + rest, isDiff: true };
  }
  if (Object.keys(changes).length === 0) return undefined;
  return { text: JSON.stringify(changes, null, 2), isDiff: false };
};

/** Counts the lines that a diff adds and removes. */
export const diffSize = (text: string): { readonly added: number; readonly removed: number } => {
  const lines = text.split('\n');
  return {
    added: lines.filter(line => /^\+(?!\+\+ )/.test(line)).length,
    removed: lines.filter(line => /^-(?!-- )/.test(line)).length,
  };
};
