/** The queue of the jobs of a segment. */
export const segmentQueue = (segment: string): string => `jobs-${segment}`;

/** The queue of the messages to the control node of a run. */
export const runQueue = (jid: string): string => `run-${jid}`;

/** The queue of the messages to a process of a worker. */
export const instanceQueue = (instance: string): string => `to-${instance}`;

/** The name of a process of a worker. Only the worker can sign for it, and open what is sent to it. */
export const instanceName = (segment: string, worker: string, process: string): string =>
  `${segment}~${worker}~${process}`;

/** The segment and the worker of a process; undefined for a name of another form. */
export const workerOf = (
  instance: string,
): { readonly segment: string; readonly worker: string } | undefined => {
  const [, segment, worker] = /^([^~]+)~([0-9a-f]{16})~[0-9a-f]{16}$/.exec(instance) ?? [];
  return segment !== undefined && worker !== undefined ? { segment, worker } : undefined;
};

/** Whether a text can be the name of a segment. */
export const isSegment = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);
