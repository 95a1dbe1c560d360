import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { forward, statePairs } from './high.ts';
import { Extended } from './order.ts';

/** What the SLS of one run say in `stateconf.set`: by id, with what others `extend` over it. */
export class Parameters {
  readonly #own = new Map<string, Dict>();
  readonly #extended = new Map<string, Dict>();
  /** Of the requisites that states in order are checked with. */
  readonly requisites = new Extended();

  /** Learns the `stateconf.set` of an SLS. */
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

  /** As variables of the templates of an SLS: its own ids without its name before them. */
  variables(sls: string): [string, Data][] {
    const prefix = `${sls}::`;
    return [...this.#own].map(([id, values]) => [
      id.startsWith(prefix) ? id.slice(prefix.length) : id,
      values,
    ]);
  }
}
