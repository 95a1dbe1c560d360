import { randomBytes } from 'node:crypto';
import { TsaltError } from '../protocol/error.ts';
import { askBecomePassword, becomeOf, becomePassword } from './become.ts';
import { runPreFlight } from './pre-flight.ts';
import { mayWantPassword } from './refusal-messages.ts';
import { uselessNode } from './runtime-errors.ts';
import type { Link, RuntimeOptions } from './runtime-link.ts';
import { RuntimeStart } from './runtime-start.ts';
import { cancelled } from './unreachable.ts';
import { uploadNode } from './upload-node.ts';

/**
 * Starts the runtime on a connection, with one command on one channel: finds Node, sends the
 * artifact if it is missing, and from then on exchanges frames.
 * @throws {TsaltError} kind `auth` (sudo), `unreachable` (silence, lost link) or `host`
 */
export const openRuntime = async (options: RuntimeOptions): Promise<Link> => {
  const { host, signal } = options;
  if (signal?.aborted) throw cancelled(host.id);
  const suffix = options.randomDir ? `-${randomBytes(8).toString('hex')}` : '';
  const run = new RuntimeStart(options, suffix);
  let password = becomePassword(host);
  let prepared = isPrepared(options);
  let uploaded = false;
  let broken: TsaltError | undefined;
  for (;;) {
    try {
      if (!prepared) await runPreFlight({ ...options, suffix, become: becomeOf(host, password) });
      prepared = true;
      const begun = await run.attempt(becomeOf(host, password), broken !== undefined);
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
      if (!(error instanceof TsaltError)) throw error;
      if (error.code === 'bootstrap-ended' && host.node_bin === undefined) {
        // PATH may find a Node that does not run: the host then needs one of ours.
        if (broken) throw broken;
        broken = error;
        continue;
      }
      if (error.code === 'bootstrap-ended' && error.kind === 'host')
        throw nodeDoesNotStart(host, error);
      if (password !== undefined || options.askSudoPassword === undefined) throw error;
      if (error.code !== 'sudo-refused' || !mayWantPassword(error.excerpt ?? '')) throw error;
      password = await askBecomePassword(host, options.askSudoPassword, error);
    }
  }
};

const isPrepared = ({ host, isPrepared: isDone = false }: RuntimeOptions): boolean =>
  isDone || host.ssh_pre_flight === undefined;

/** Returns the error if the roster names a Node that does not start: no other one is tried. */
const nodeDoesNotStart = (
  { node_bin }: RuntimeOptions['host'],
  { code, message, kind, excerpt }: TsaltError,
): TsaltError =>
  new TsaltError(code, message, {
    kind,
    excerpt,
    hint: `The roster has node_bin: ${node_bin}. It must be a Node 18 or later that starts: ${node_bin} --version. Without node_bin, a run finds or brings one.`,
  });
