import { Turns } from '../../protocol/turns.ts';

type Step = Generator<unknown, unknown, unknown>;

const generators = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())) as object;

const isStep = (value: unknown): value is Step =>
  typeof value === 'object' &&
  value !== null &&
  Object.prototype.isPrototypeOf.call(generators, value);

const stepsBetween = 256;

/**
 * Runs Liquid's generators to their end. A generator may yield another generator to run first, a
 * promise to await, or a value. Liquid's own implementation makes a promise for each expression of
 * a template, which takes most of its time; this trampoline awaits only calls to the host.
 */
export const trampoline = async (first: unknown): Promise<unknown> => {
  const running: Step[] = [];
  let value = first;
  let isFailed = false;
  const turns = new Turns();
  for (let count = 1; ; count += 1) {
    if (count % stepsBetween === 0 && turns.areOver) await turns.pause();
    if (!isFailed && value instanceof Promise) {
      try {
        value = await value;
      } catch (error) {
        isFailed = true;
        value = error;
      }
    }
    if (!isFailed && isStep(value)) {
      running.push(value);
      value = undefined;
    }
    const step = running.at(-1);
    if (!step) {
      if (isFailed) throw value;
      return value;
    }
    try {
      const next = isFailed ? step.throw(value) : step.next(value);
      isFailed = false;
      value = next.value;
      if (next.done) running.pop();
    } catch (error) {
      running.pop();
      isFailed = true;
      value = error;
    }
  }
};
