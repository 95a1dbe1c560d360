/** Parts of a time limit: one that falls into a time in which this process was busy counts once. */
const parts = 10;

/**
 * Calls `end` when this process has listened for so many seconds. A timer would also count the time
 * in which it computes, reads a large pillar, or stands still: what a host sent meanwhile lies
 * unread in the socket.
 *
 * @returns what stops the count
 */
export const afterListening = (seconds: number, end: () => void): (() => void) => {
  let left = parts;
  const timer = setInterval(
    () => {
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      end();
    },
    (seconds * 1000) / parts,
  );
  return () => clearInterval(timer);
};
