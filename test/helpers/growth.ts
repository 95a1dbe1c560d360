import { cpuTime } from './cpu-time.ts';

const attempts = 3;

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
 * Whether the time of a work grows no faster than its input: half of the input takes at least a
 * third of the time, or all of it is fast.
 *
 * @returns undefined, or the times of half and all of the input in milliseconds
 */
export const growth = async (
  work: (size: number) => () => unknown,
  size: number,
  fast = 40,
): Promise<readonly [half: number, all: number] | undefined> => {
  let half = 0;
  let all = 0;
  if ((await timeOf(work(size))) <= fast) return undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    half = await timeOf(work(size / 2));
    all = await timeOf(work(size));
    if (all <= fast || all <= 3 * half) return undefined;
  }
  return [Math.round(half), Math.round(all)];
};
