/** Manages commands that incron runs when files change. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { isUserToCome } from '../../_shared/states/to-come.ts';
import { toList } from '../../_shared/states/values.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';
import { type IncronJob, type Incrontab, jobIn, parseIncrontab } from '../incrontab.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('incron.set_job') || [false, 'incrontab is not installed.'];

const tabOf = async (user: string): Promise<Incrontab> =>
  user !== 'system' && isUserToCome(user) ? parseIncrontab('') : salt('incron.list_tab')(user);

type Whose = {
  /** the path that is watched */
  path?: string | null;
  /** the user, or `system` */
  user?: string;
};

/** A command written as a YAML block ends in a newline, which is removed. */
const jobOf = (path: string, mask: Plain, cmd: string): IncronJob => ({
  path,
  mask: toList(mask).join(','),
  cmd: cmd.replace(/\n$/, ''),
});

const notCommitted = (name: string, user: string, error: unknown): StateReturn =>
  failed(name, `Incron ${name} for user ${user} failed to commit with error \n${messageOf(error)}`);

/**
 * Makes sure that a command runs when an event happens to a path. If the same path and command exist
 * with another mask, the mask is replaced.
 *
 * @param name the path that is watched, or any name beside `path`
 * @param mask events: `[IN_CREATE, IN_CLOSE_WRITE]`
 * @param cmd the command, where `$@` is the path, `$#` the file in it and `$%` the event
 * @example
 * /srv/in:
 *   incron.present:
 *     - mask: [IN_CLOSE_WRITE]
 *     - cmd: /usr/local/bin/take $@/$#
 */
export const present = async (
  name: string,
  mask: Plain,
  cmd: string,
  { path = null, user = 'root' }: Whose = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const job = jobOf(path ?? name, mask, cmd);
    const { status } = jobIn(await tabOf(user), job);
    if (status === 'present') return unchanged(name, `Incron ${name} already present`);
    const changes = { [user]: name };
    const word = status === 'update' ? 'updated' : 'added';
    if (__opts__.test) return would(name, `Incron ${name} is set to be ${word}`, changes);
    try {
      await salt('incron.set_job')(user, job.path, job.mask, job.cmd);
    } catch (error) {
      return notCommitted(name, user, error);
    }
    return changed(
      name,
      word === 'added' ? `Incron ${name} added to ${user}'s incrontab` : `Incron ${name} updated`,
      changes,
    );
  });

/**
 * Makes sure that a command does not run when this event happens to a path.
 *
 * @param name the path that is watched, or any name beside `path`
 * @param mask events, all of the job
 * @param cmd the command
 * @example
 * /srv/in:
 *   incron.absent:
 *     - mask: [IN_CLOSE_WRITE]
 *     - cmd: /usr/local/bin/take $@/$#
 */
export const absent = async (
  name: string,
  mask: Plain,
  cmd: string,
  { path = null, user = 'root' }: Whose = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const job = jobOf(path ?? name, mask, cmd);
    const { status } = jobIn(await tabOf(user), job);
    if (status !== 'present') return unchanged(name, `Incron ${name} already absent`);
    const changes = { [user]: name };
    if (__opts__.test) return would(name, `Incron ${name} is set to be removed`, changes);
    try {
      await salt('incron.rm_job')(user, job.path, job.mask, job.cmd);
    } catch (error) {
      return notCommitted(name, user, error);
    }
    return changed(name, `Incron ${name} removed from ${user}'s crontab`, changes);
  });
