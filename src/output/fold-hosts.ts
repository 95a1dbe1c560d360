import { createHash } from 'node:crypto';
import type { HostResult } from '../protocol/event.ts';
import { isPlainDict, type Plain, setOwn } from '../protocol/plain.ts';
import type { StateResult, StateResults } from '../protocol/result.ts';
import { stateResults } from './result.ts';
import { hostList } from './shared-errors.ts';
import { resultSize } from './size.ts';

/** Limit of states that are compared with other hosts: their number depends on the hosts. */
const mostStates = 200_000;

/** Results with more characters are not compared. */
const longestCompared = 1_000_000;

/** Returns of functions are compared if there are more hosts than this. */
const fewHosts = 10;

/** Finds hosts with equal results, so that each result is shown once and kept once. */
export class HostFold {
  readonly #groups = new Map<string, string[]>();
  readonly #byFirst = new Map<string, readonly string[]>();
  /** The first host that had a result of a state, by the hash of that result. */
  readonly #states = new Map<string, string>();
  readonly #sameAs = new Map<string, ReadonlyMap<string, string>>();
  hosts = 0;

  /**
   * Compares a result with those of the hosts before it. Times and process ids are ignored.
   *
   * @returns what is left to show; undefined if another host had the same result
   */
  add(result: HostResult): HostResult | undefined {
    if (this.hosts < 2 || !isComparable(result)) return result;
    const states = stateResults(result);
    if (states === undefined && this.hosts <= fewHosts) return result;
    const keys = Object.entries(states ?? {}).map(
      ([tag, state]) => [tag, stateKey(tag, state)] as const,
    );
    const whole = states === undefined ? JSON.stringify(result.value ?? null) : keys.join();
    const key = hash(`${result.fun}\n${result.retcode}\n${whole}`);
    const group = this.#groups.get(key);
    if (group) {
      group.push(result.id);
      return undefined;
    }
    const ids = [result.id];
    this.#groups.set(key, ids);
    this.#byFirst.set(result.id, ids);
    return states === undefined ? result : this.#withoutKnown(result, states, keys);
  }

  /** Returns the line above a result that several hosts have. */
  headline(id: string): string | undefined {
    const ids = this.#byFirst.get(id);
    return ids && ids.length > 1
      ? `${ids.length} hosts alike: ${hostList(new Set(ids))}`
      : undefined;
  }

  /** Returns the host that showed the same result of this state. */
  sameAs(id: string, tag: string): string | undefined {
    return this.#sameAs.get(id)?.get(tag);
  }

  #withoutKnown(
    result: HostResult,
    states: StateResults,
    keys: readonly (readonly [string, string])[],
  ): HostResult {
    const same = new Map<string, string>();
    for (const [tag, key] of keys) {
      const first = this.#states.get(key);
      if (first !== undefined) same.set(tag, first);
      else if (this.#states.size < mostStates) this.#states.set(key, result.id);
    }
    if (same.size === 0) return result;
    this.#sameAs.set(result.id, same);
    const left: StateResults = {};
    for (const [tag, state] of Object.entries(states))
      setOwn(left, tag, same.has(tag) ? withoutTexts(state) : state);
    return { ...result, states: left };
  }
}

const isComparable = (result: HostResult): boolean =>
  result.failure === undefined &&
  ['highstate', 'nested'].includes(result.outputter ?? 'nested') &&
  (result.problems ?? []).length === 0 &&
  resultSize(result) <= longestCompared;

const stateKey = (tag: string, state: StateResult): string => {
  const { result, changes, comment, warnings, data } = state;
  return hash(JSON.stringify([tag, result, withoutPid(changes), comment, warnings, data]));
};

/** A command's process id differs on every host. */
const withoutPid = (changes: Plain | undefined): Plain | undefined => {
  if (!isPlainDict(changes) || !('pid' in changes && 'retcode' in changes)) return changes;
  const { pid: _, ...rest } = changes;
  return rest;
};

/** The state as the counts need it. */
const withoutTexts = (state: StateResult): StateResult => ({
  ...state,
  comment: '',
  changes: Object.keys(state.changes ?? {}).length > 0 ? { alike: true } : {},
});

const hash = (text: string): string => createHash('sha256').update(text).digest('base64');
