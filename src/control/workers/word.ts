/** The argument that makes of a process of this program a worker of another one. */
export const workerWord = '--worker-process';

/** The argument that makes of a process of this program a detached run of another one. */
export const detachedWord = '--detached-process';
