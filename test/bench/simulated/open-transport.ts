import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { lowTag } from '../../../src/protocol/low.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { profileGrains } from '../../../src/validate/hosts/grain-profiles.ts';
import { type FarScript, memoryTransport } from '../../helpers/memory-host.ts';

/**
 * Replaces `src/transport/open-transport.ts` in a program for measurements: each host is in this
 * process, has the recorded grains of a Debian, and finds nothing to change.
 */
export const openTransport = (): Transport => memoryTransport(({ id }) => unchangedHost(id));

const unchangedHost = (id: string): FarScript => ({
  begin: end => {
    const grains = profileGrains('debian-12', id);
    end.greet({ protocol: 1, node: 'v22.0.0', pid: 4711, user: 'root', grains });
  },
  request: ({ id: number, method, params }, end) => {
    const answer = (value: unknown): void => end.message({ t: 'res', id: number, value });
    if (method !== 'run') return answer({ value: true, retcode: 0 });
    const { SIMULATED_RUNS: runs } = process.env;
    if (runs !== undefined) appendFileSync(join(runs, String(process.pid)), `${id}\n`);
    for (const chunk of params.chunks) {
      const { __id__: chunkId, fun, name } = chunk;
      const tag = lowTag(chunk);
      const result = { result: true, comment: 'In the correct state', changes: {}, name };
      end.message({ t: 'evt', name: 'state-start', payload: { tag, id: chunkId, fun, name } });
      end.message({ t: 'evt', name: 'state', payload: { tag, result } });
    }
    answer({ retcode: 0 });
  },
});
