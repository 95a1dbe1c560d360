/** The argument that starts this program as a worker of another process. */
export const workerFlag = '--worker-process';

/** The argument that starts this program as a detached run of another process. */
export const detachedFlag = '--detached-process';
