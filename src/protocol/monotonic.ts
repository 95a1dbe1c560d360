/**
 * Milliseconds of a clock that nobody sets, from some point in the past. Node's `performance` is
 * the same clock, but takes a host two milliseconds to load.
 */
export const monotonic = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
};
