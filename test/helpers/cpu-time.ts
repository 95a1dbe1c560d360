import { readFileSync } from 'node:fs';

/** Milliseconds of a processor that this process has had: unlike time on the wall, no load adds to it. */
export const cpuTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * As `cpuTime`, for this thread alone if the system reports it: garbage collectors have their own.
 */
export const threadTime = (): number => {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return cpuTime();
  }
};

/** Milliseconds of a processor that the longest turn of the event loop takes while something works. */
export const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  let before = threadTime();
  let longest = 0;
  const look = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(look, 1);
  await work();
  clearInterval(timer);
  look();
  return longest;
};
