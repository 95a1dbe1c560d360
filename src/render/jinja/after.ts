/** A computed value, or a promise if a host has to answer first. */
export type Eventual<T> = T | Promise<T>;

/**
 * Continues with a value, synchronously if possible: only templates that wait for a host pay for
 * waiting.
 */
export const after = <A, B>(value: Eventual<A>, next: (value: A) => Eventual<B>): Eventual<B> =>
  value instanceof Promise ? value.then(next) : next(value);

/**
 * Processes one item after the other, until a step returns a value, which is the result. The items
 * may grow meanwhile.
 */
export const eachInOrder = <T, R>(
  items: ArrayLike<T>,
  step: (item: T, index: number) => Eventual<R | undefined>,
): Eventual<R | undefined> => {
  for (let index = 0; index < items.length; index += 1) {
    const result = step(items[index] as T, index);
    if (result instanceof Promise) return inTurnFrom(items, step, index + 1, result);
    if (result !== undefined) return result;
  }
  return undefined;
};

const inTurnFrom = async <T, R>(
  items: ArrayLike<T>,
  step: (item: T, index: number) => Eventual<R | undefined>,
  start: number,
  first: Promise<R | undefined>,
): Promise<R | undefined> => {
  let result = await first;
  for (let index = start; result === undefined && index < items.length; index += 1)
    result = await step(items[index] as T, index);
  return result;
};

/** Maps in order; returns a list synchronously unless a step waits. */
export const mapInOrder = <T, R>(
  items: ArrayLike<T>,
  step: (item: T, index: number) => Eventual<R>,
): Eventual<R[]> => {
  const results: R[] = [];
  const done = eachInOrder<T, never>(items, (item, index) =>
    after(step(item, index), result => {
      results.push(result);
      return undefined;
    }),
  );
  return after(done, () => results);
};
