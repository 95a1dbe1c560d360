import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { forward, statePairs } from './high.ts';
import { Extended } from './order.ts';

/**
 * The parameters that the SLS of one run set by `stateconf.set`, by id, with the values that others
 * `extend`.
 */
export class Parameters {
  readonly #own = new Map<string, Dict>();
  readonly #extended = new Map<string, Dict>();
  /** The extended requisites, for the check of ordered states. */
  readonly requisites = new Extended();

  /** Adds the `stateconf.set` of an SLS. */
  learn(data: Dict, isExtend = false): void {
    for (const [key, states] of data) {
      const id = String(key);
      if (id === 'extend' && !isExtend && isDict(states)) this.learn(states, true);
      else if (isDict(states)) this.#learnState(id, states, isExtend);
    }
  }

  #learnState(id: string, states: Dict, isExtend: boolean): void {
    const args = states.get('stateconf') ?? states.get('stateconf.set');
    if (args === undefined) return;
    const known = isExtend ? this.#extended : this.#own;
    const values: Dict = known.get(id) ?? new Map();
    known.set(id, values);
    for (const { key, value } of statePairs(args)) values.set(key, value);
    const over = isExtend ? undefined : this.#extended.get(id);
    if (!over) return;
    for (const requisite of forward) {
      const [mine, theirs] = [values.get(requisite) ?? [], over.get(requisite)];
      if (Array.isArray(theirs) && Array.isArray(mine)) over.set(requisite, [...theirs, ...mine]);
    }
    for (const [key, value] of over) values.set(key, value);
  }

  /** Returns the parameters as variables for an SLS: its own ids without the prefix. */
  variables(sls: string): [string, Data][] {
    const prefix = `${sls}::`;
    return [...this.#own].map(([id, values]) => [
      id.startsWith(prefix) ? id.slice(prefix.length) : id,
      values,
    ]);
  }
}
