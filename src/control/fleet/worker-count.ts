import { availableParallelism } from 'node:os';
import type { Request } from '../../config/request.ts';

/** Hosts that justify one more process, which takes about 0.2 s of CPU to start. */
const hostsEach = 20;

/** How many processes share the hosts of a run. */
export const workerCount = ({ options: { workers = 1 } }: Request, hosts: number): number =>
  workers === 'auto'
    ? Math.min(availableParallelism(), Math.floor(hosts / hostsEach))
    : Math.min(workers, hosts);
