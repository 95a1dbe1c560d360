import type { Writable } from 'node:stream';

/**
 * Joins what is written to a socket within one turn of the event loop. ssh2 writes each packet in
 * three pieces (length, content, checksum); on a socket without Nagle's delay each would be a system
 * call and a TCP segment, for which sshd wakes up.
 */
export const joinWrites = (socket: Writable): void => {
  const write = socket.write.bind(socket) as (...args: readonly unknown[]) => boolean;
  let isCorked = false;
  const uncork = (): void => {
    isCorked = false;
    socket.uncork();
  };
  socket.write = (...args: readonly unknown[]): boolean => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      process.nextTick(uncork);
    }
    return write(...args);
  };
};
