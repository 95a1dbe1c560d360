import { readFileSync } from 'node:fs';

/** Milliseconds of a processor that this process has had: unlike time on the wall, no load adds to it. */
export const cpuTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** As `cpuTime`, of this thread alone where the system tells: collectors of garbage have their own. */
export const threadTime = (): number => {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return cpuTime();
  }
};
