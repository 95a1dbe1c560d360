import { randomBytes } from 'node:crypto';
import { TsaltError } from '../protocol/error.ts';
import { becomeOf, becomePassword } from './become.ts';
import { cancelled } from './faults.ts';
import { runPreFlight } from './pre-flight.ts';
import { uselessNode } from './runtime-faults.ts';
import type { Link, RuntimeOptions } from './runtime-link.ts';
import { RuntimeStart } from './runtime-start.ts';
import { uploadNode } from './upload-node.ts';

/**
 * From a connection to a running runtime by one command on one channel: finds Node, gets the
 * artifact there if it is missing, and speaks frames from then on.
 * @throws {TsaltError} kind `auth` (sudo), `unreachable` (silence, lost link) or `host`
 */
export const openRuntime = async (options: RuntimeOptions): Promise<Link> => {
  const { host, signal } = options;
  if (signal?.aborted) throw cancelled(host.id);
  const suffix = options.randomDir ? `-${randomBytes(8).toString('hex')}` : '';
  const run = new RuntimeStart(options, suffix);
  let password = becomePassword(host);
  let prepared = host.ssh_pre_flight === undefined;
  let uploaded = false;
  for (;;) {
    try {
      if (!prepared) await runPreFlight({ ...options, suffix, become: becomeOf(host, password) });
      prepared = true;
      const begun = await run.attempt(becomeOf(host, password));
      if ('link' in begun) return begun.link;
      if (uploaded) throw uselessNode(host, begun.platform);
      uploaded = true;
      await uploadNode({
        ...options,
        suffix,
        platform: begun.platform,
        become: becomeOf(host, password),
      });
    } catch (error) {
      const mayAsk = password === undefined && options.askSudoPassword !== undefined;
      if (!mayAsk || !(error instanceof TsaltError) || error.code !== 'sudo-refused') throw error;
      password = await options.askSudoPassword?.();
    }
  }
};
