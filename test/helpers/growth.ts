import { cpuTime } from './cpu-time.ts';

/** Collections of garbage and compilations of code come at times: any of the attempts may do. */
const attempts = 8;

/** Milliseconds of the processor that a call takes at best; what it throws does not matter. */
const timeOf = async (work: () => unknown): Promise<number> => {
  const begin = cpuTime();
  try {
    await work();
  } catch (error) {
    if (error instanceof RangeError && /string length/i.test(error.message)) throw error;
  }
  return cpuTime() - begin;
};

/**
 * Whether the time of a work grows no faster than its input: a quarter of the input takes at least
 * an eighth of the time (a sixteenth if it grew with the square), or all of it is fast.
 *
 * @returns undefined, or the times of a quarter and all of the input in milliseconds
 */
export const growth = async (
  work: (size: number) => () => unknown,
  size: number,
  fast = 40,
): Promise<readonly [quarter: number, all: number] | undefined> => {
  let quarter = 0;
  let all = 0;
  if ((await timeOf(work(size))) <= fast) return undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    quarter = await timeOf(work(size / 4));
    all = await timeOf(work(size));
    if (all <= fast || all <= 8 * quarter) return undefined;
  }
  return [Math.round(quarter), Math.round(all)];
};
