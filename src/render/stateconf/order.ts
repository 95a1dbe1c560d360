import { type Dict, isDict } from '../../data/values/value.ts';
import { backward, declaredIn, forward, moduleOf, referencesOf, statePairs } from './high.ts';

const tagOf = (id: string, state: string): string => `${id}:${moduleOf(state)}`;

/**
 * `-o`: makes each state require the one before it. The SLS's own requisites must be consistent
 * with that: none may name a later state.
 */
export const requireInOrder = (data: Dict, extended: Extended): void => {
  const states = declaredIn(data);
  const named = states.find(({ args }) => statePairs(args, ['names']).length > 0);
  if (named)
    throw new TypeError(
      `'names' (in '${named.id}') does not go with states in order; write the states in a loop of the template`,
    );
  extended.learn(data);
  const after = new Set(states.map(({ id, name }) => tagOf(id, name)));
  const before = new Set<string>();
  let previous: Dict | undefined;
  for (const { id, name, args } of states) {
    const tag = tagOf(id, name);
    after.delete(tag);
    for (const target of [...targets(args, forward), ...extended.of(tag, forward)])
      if (after.has(target))
        throw new TypeError(`${tag} cannot require ${target}, which comes later`);
    for (const target of [...targets(args, backward), ...extended.of(tag, backward)])
      if (before.has(target))
        throw new TypeError(`${tag} cannot be required by ${target}, which comes before it`);
    if (previous) {
      const [own] = statePairs(args, ['require']);
      if (own && Array.isArray(own.value)) own.value.unshift(previous);
      else args.push(new Map([['require', [previous]]]));
    }
    before.add(tag);
    previous = new Map([[moduleOf(name), id]]);
  }
};

const targets = (
  args: Parameters<typeof referencesOf>[0],
  requisites: readonly string[],
): string[] => referencesOf(args, requisites).map(({ key, value }) => tagOf(String(value), key));

/** The requisites that an `extend` of an earlier SLS adds to states. */
export class Extended {
  readonly #targets = new Map<string, string[]>();

  learn(data: Dict): void {
    const extend = data.get('extend');
    if (!isDict(extend ?? null)) return;
    for (const { id, name, args } of declaredIn(extend as Dict))
      for (const requisites of [forward, backward]) {
        const key = keyOf(tagOf(id, name), requisites);
        const known = this.#targets.get(key) ?? [];
        this.#targets.set(key, [...known, ...targets(args, requisites)]);
      }
  }

  of(tag: string, requisites: readonly string[]): readonly string[] {
    return this.#targets.get(keyOf(tag, requisites)) ?? [];
  }
}

const keyOf = (tag: string, requisites: readonly string[]): string =>
  `${requisites === forward ? 'forward' : 'backward'} ${tag}`;
