import { availableParallelism } from 'node:os';
import type { Request } from '../../config/request.ts';

/** Hosts from which on a further process is worth its start, about 0.2 s of a processor. */
const hostsEach = 20;

/** How many processes share the hosts of a run. */
export const workerCount = ({ options: { workers = 1 } }: Request, hosts: number): number =>
  workers === 'auto'
    ? Math.min(availableParallelism(), Math.floor(hosts / hostsEach))
    : Math.min(workers, hosts);
