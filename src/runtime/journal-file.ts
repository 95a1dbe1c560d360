import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../modules/_shared/commands/run-lock.ts';

/** A reaction that is owed by a state of this SLS, to changes of these states (`stemOf`). */
export type Debt = { readonly sls: string; readonly changed: Set<string> };

/** Reactions owed, by the key of the state that reacts. */
export type Debts = Map<string, Debt>;

/** The first line of a journal. States are numbers: their indexes in `states`. */
export type Header = {
  readonly pid: number;
  /** When that process began, as the kernel counts it. */
  readonly begun: string;
  /** The kernel's id of this boot. A power failure may lose lines after the first one. */
  readonly boot: string;
  /** Key and SLS. */
  readonly states: readonly (readonly [string, string])[];
  /** Each state that others react to, with its watchers. */
  readonly plan: readonly (readonly [number, readonly number[]])[];
  /** Reactions that an earlier run left, with the states that changed. */
  readonly owed: readonly (readonly [number, readonly number[]])[];
};

/**
 * The lines after the header, one per event. A line without its line feed is incomplete and
 * ignored.
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
 * Returns the state's module and id, from its key. A state whose name or function was changed since
 * then still counts as the one that changed; a watcher must be exactly the same, since one id may
 * have several.
 */
export const stemOf = (key: string): string => key.split('_|-', 2).join('_|-');

const namePattern = /^reactions\.\d+\.\d+$/;

/** Reads the journals of runs that have ended, in order or not. Skips those of running ones. */
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

/** undefined: its first line did not reach the disk, so no state had begun. */
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
 * Adds the reactions that a journal leaves: those it records as owed, and those to interrupted
 * states, which count as changed. After a restart of the host a state may have begun without
 * leaving a line, so every state without a recorded end counts.
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
