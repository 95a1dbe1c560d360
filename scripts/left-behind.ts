/** The state of a machine by kind: links, routes, mounts, users, files … */
export type MachineState = Readonly<Record<string, readonly string[]>>;

/** One thing that was not there before. */
export type LeftBehind = {
  readonly line: string;
  /** It has our name: a test or tsalt-ssh itself left it. Daemons of packages outlive their tests. */
  readonly isOurs: boolean;
};

/** Kinds whose entries nobody but a test makes under our name. A process may be about to end. */
const lasting: ReadonlySet<string> = new Set(['links', 'mounts', 'users', 'groups', 'files']);

/** Compares two states of a machine and returns what is new in the second one. */
export const leftBehind = (before: MachineState, now: MachineState): LeftBehind[] =>
  Object.entries(now).flatMap(([kind, items]) => {
    const known = new Set(before[kind]);
    return items
      .filter(item => !known.has(item))
      .map(item => ({
        line: `left behind, ${kind}: ${item}`,
        isOurs: lasting.has(kind) && /tsalt/i.test(item),
      }));
  });
