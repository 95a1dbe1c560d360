/** The queue of the jobs of a segment. */
export const segmentQueue = (segment: string): string => `jobs-${segment}`;

/** The queue of the messages to the control node of a run. */
export const runQueue = (jid: string): string => `run-${jid}`;

/** The queue of the messages to a process of a worker. */
export const instanceQueue = (instance: string): string => `to-${instance}`;

/** Whether a text can be the name of a segment. */
export const isSegment = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);
