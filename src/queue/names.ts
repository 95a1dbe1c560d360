/** Prefix of our keys in Redis. */
export const prefix = 'tsalt';

/** The queue of the jobs of a segment. */
export const segmentQueue = (segment: string): string => `jobs-${segment}`;

/** The stream of the messages to the control node of a run. */
export const runStream = (jid: string): string => `run-${jid}`;

/** The stream of the messages to a process of a worker, whichever run they belong to. */
export const instanceStream = (instance: string): string => `to-${instance.replace(/~\d+$/, '')}`;

/** The name of a process of a worker. Only the worker can sign for it, and open what is sent to it. */
export const instanceName = (segment: string, worker: string, process: string): string =>
  `${segment}~${worker}~${process}`;

/**
 * The name of a process of a worker in a run. Messages are numbered from 0 each time that a process
 * joins, so a process that left a run and joins it again is another one to the control node.
 *
 * @param joined how many runs the process has joined
 */
export const joinedName = (instance: string, joined: number): string => `${instance}~${joined}`;

/** The segment and the worker of a process; undefined for a name of another form. */
export const workerOf = (
  instance: string,
): { readonly segment: string; readonly worker: string } | undefined => {
  const [, segment, worker] =
    /^([^~]+)~([0-9a-f]{16})~[0-9a-f]{16}(?:~\d{1,9})?$/.exec(instance) ?? [];
  return segment !== undefined && worker !== undefined ? { segment, worker } : undefined;
};

/** Whether a text can be the name of a segment. */
export const isSegment = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);
