import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../modules/_shared/commands/run-lock.ts';

/** A reaction that is owed: to the changes of these states (`stemOf`), by the state of this SLS. */
export type Debt = { readonly sls: string; readonly changed: Set<string> };

/** Reactions owed, by the key of the state that reacts. */
export type Debts = Map<string, Debt>;

/** The first line of a journal. States are numbers: their places in `states`. */
export type Header = {
  readonly pid: number;
  /** When that process began, in the kernel's count. */
  readonly begun: string;
  /** The kernel's id of this boot. Lines after the first one may be lost with the power. */
  readonly boot: string;
  /** Key and SLS. */
  readonly states: readonly (readonly [string, string])[];
  /** A state whose changes others react to, and those. */
  readonly plan: readonly (readonly [number, readonly number[]])[];
  /** A reaction that an earlier run left, and the states that changed. */
  readonly owed: readonly (readonly [number, readonly number[]])[];
};

/**
 * The lines after the header, one for each thing that happened. A line without its line feed was
 * cut off and does not count.
 */
export const lines = {
  began: (state: number): string => `+${state}\n`,
  unchanged: (state: number): string => `-${state}\n`,
  changed: (state: number, watchers: readonly number[]): string =>
    `!${state} ${watchers.join(',')}\n`,
  reacted: (watcher: number): string => `=${watcher}\n`,
  ended: '.\n',
};

/**
 * The state's module and id, from its key. A state whose name or function was changed since is
 * still the one that changed; a watcher has to be the very same, as one id may have several.
 */
export const stemOf = (key: string): string => key.split('_|-', 2).join('_|-');

const namePattern = /^reactions\.\d+\.\d+$/;

/** Journals of runs that are over, in order or not. Those of runs that go on are left alone. */
export const readEnded = (
  dir: string,
  boot: string,
): { readonly paths: readonly string[]; readonly debts: Debts } => {
  const debts: Debts = new Map();
  const paths: string[] = [];
  for (const name of listFolder(dir).filter(file => namePattern.test(file))) {
    const path = join(dir, name);
    const journal = readJournal(path);
    if (journal && !journal.isEnded && isAlive(journal.header)) continue;
    paths.push(path);
    if (journal) addDebts(debts, journal, boot);
  }
  return { paths, debts };
};

type Journal = {
  readonly header: Header;
  readonly events: readonly string[];
  readonly isEnded: boolean;
};

const listFolder = (dir: string): readonly string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};

/** undefined: its first line did not reach the disk, so that no state had begun. */
const readJournal = (path: string): Journal | undefined => {
  try {
    const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
    const header = JSON.parse(first) as Header;
    if (!Array.isArray(header.states) || !Array.isArray(header.plan)) return undefined;
    const events = rest.slice(0, -1);
    return { header, events, isEnded: events.at(-1) === '.' };
  } catch {
    return undefined;
  }
};

/**
 * What a journal leaves: reactions that it says are owed, and those to states that were interrupted,
 * which count as changed. Where the host was restarted, a state may have begun without leaving a
 * line: each one that is not known to have ended counts.
 */
const addDebts = (
  debts: Debts,
  { header: { states, plan, owed, boot }, events, isEnded }: Journal,
  bootNow: string,
): void => {
  const open = new Map<number, Set<number>>();
  const owe = (watchers: readonly number[], changed: number): void => {
    for (const watcher of watchers) {
      const before = open.get(watcher);
      if (before) before.add(changed);
      else open.set(watcher, new Set([changed]));
    }
  };
  for (const [watcher, changed] of owed) for (const state of changed) owe([watcher], state);
  const all = new Map(plan);
  const begun = new Set<number>(!isEnded && boot !== bootNow ? all.keys() : []);
  for (const event of events) {
    const [first = '', second = ''] = event.slice(1).split(' ');
    const state = Number(first);
    if (event[0] === '+') begun.add(state);
    else if (event[0] === '=') open.delete(state);
    else if (event[0] === '-' || event[0] === '!') begun.delete(state);
    if (event[0] === '!') owe(second.split(',').map(Number), state);
  }
  for (const state of begun) owe(all.get(state) ?? [], state);
  for (const [watcher, changed] of open) {
    const [key, sls] = states[watcher] ?? [];
    if (key === undefined || sls === undefined) continue;
    const debt = debts.get(key) ?? { sls, changed: new Set() };
    for (const state of changed) debt.changed.add(stemOf(states[state]?.[0] ?? ''));
    debts.set(key, debt);
  }
};
