import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { detachedFlag } from '../../control/workers/process-flags.ts';
import { programFile } from '../../control/workers/worker-link.ts';
import { TsaltError } from '../../protocol/error.ts';
import { callOf } from '../../request/call.ts';
import { jidOf } from '../../request/jid.ts';
import type { Opened } from '../commands.ts';
import { printText } from '../print-text.ts';
import { attachRun } from './attach.ts';
import { logFile, newRunFolder } from './record.ts';

/** Options that need this terminal, or that belong to `attach`. */
const refused = [
  'batch-ask',
  'ask',
  'askpass',
  'out-file',
  'report',
  'plan-out',
  'update-roster',
] as const;

/**
 * Starts the call in a separate process, which continues when the terminal is closed, and prints
 * its job id. A run that fails before it contacts a host is reported at once.
 *
 * @throws TsaltError `usage-detach`
 */
export const detach = async (opened: Opened, argv: readonly string[]): Promise<number> => {
  const { options } = opened.given;
  for (const name of refused)
    if ((options as Record<string, unknown>)[name] !== undefined)
      throw new TsaltError('usage-detach', `--detach and --${name} exclude each other.`, {
        hint:
          name === 'out-file' || name === 'report'
            ? `Pass --${name} to attach: tsalt-ssh attach JID --${name} …`
            : 'A detached run cannot ask questions.',
      });
  callOf(opened.given);
  const { config } = opened;
  const jid = jidOf(typeof options.jid === 'string' ? options.jid : undefined);
  const folder = newRunFolder(config.cachedir, jid);
  const log = openSync(logFile(folder), 'ax', 0o600);
  const words = argv.filter(word => word !== '--detach');
  const child = fork(programFile, [detachedFlag, folder, `--jid=${jid}`, ...words], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: [],
  });
  closeSync(log);
  const hasBegun = await new Promise<boolean>(resolve => {
    child.once('message', () => resolve(true));
    child.once('exit', () => resolve(false));
    child.once('error', () => resolve(false));
  });
  if (!hasBegun) return attachRun([jid], opened);
  child.disconnect();
  child.unref();
  process.stderr.write(`The run goes on in process ${child.pid}: tsalt-ssh attach ${jid}\n`);
  return printText(`${jid}\n`);
};
