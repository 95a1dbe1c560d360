import { noTarget } from '../control/fleet/no-target.ts';
import { pickTargets } from '../control/fleet/targets.ts';
import { runShell } from '../control/host/run-shell.ts';
import { prepareRun } from '../library/fleet-run.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Opened } from './commands.ts';
import { createAsk } from './terminal.ts';

/**
 * `ssh HOST [COMMAND…]`: logs in with the roster's user, port, jump hosts, keys, known host keys
 * and become.
 *
 * @returns the exit code of the command
 */
export const sshCommand = async (words: readonly string[], opened: Opened): Promise<number> => {
  const [target, ...command] = words;
  if (target === undefined)
    throw new TsaltError('usage-words', 'Name the host to log in to.', {
      hint: 'For example: tsalt-ssh ssh web1, or tsalt-ssh ssh web1 uptime',
    });
  const { request } = await prepareRun({
    ...opened,
    given: { ...opened.given, words: [target, 'test.ping'] },
    ask: createAsk(process, async () => () => undefined),
  });
  const { hosts, undecided } = pickTargets(request);
  const [host, ...others] = hosts;
  if (host === undefined) throw noTarget(request);
  if (others.length > 0 || undecided.size > 0)
    throw new TsaltError(
      'usage-target',
      `'${target}' may mean several hosts; ssh logs in to one.`,
      {
        hint:
          undecided.size === 0
            ? `It matches ${hosts
                .slice(0, 8)
                .map(({ id }) => id)
                .join(
                  ', ',
                )}${hosts.length > 8 ? ' …' : ''}. For several hosts use -r: tsalt-ssh -r '${target}' uptime`
            : 'Name it by its id.',
      },
    );
  return runShell({
    request,
    host: await request.prepareHost(host),
    ...(command.length === 0 ? {} : { command: command.join(' ') }),
    streams: process,
    emit: event => {
      if (event.type === 'log' && event.level === 'warning')
        process.stderr.write(`${event.message}\n`);
    },
  });
};
