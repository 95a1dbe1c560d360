/** Copies of folders by rsync. */
import { existsSync, mkdirSync } from 'node:fs';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';
import { hasFunction, salt } from '../lib/call.ts';
import { failOnError } from '../lib/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('rsync.rsync') || [false, 'rsync is not installed.'];

/**
 * A folder has what its source has.
 *
 * @param name the target
 * @param source the source; of a folder that ends in `/` only what is in it; `salt://…` too
 * @param delete true: what the source does not have goes
 * @param force true: a folder that is not empty makes room for a file, and the target may be missing
 * @param update true: what is newer in the target stays
 * @param passwordfile a file with the password for a daemon of rsync
 * @param exclude what to leave out: a pattern or several
 * @param excludefrom a file of such patterns, which takes the place of `exclude`
 * @param prepare true: make the target
 * @param dryrun true: only tell, as with `test=True`
 * @param additional_opts further options of rsync
 * @example
 * /srv/copy:
 *   rsync.synchronized:
 *     - source: /srv/web/
 *     - delete: true
 *     - prepare: true
 */
export const synchronized = async (
  name: string,
  source: string,
  {
    delete: extraneous = false,
    force = false,
    update = false,
    passwordfile = null,
    exclude = null,
    excludefrom = null,
    prepare = false,
    dryrun = false,
    additional_opts = null,
  }: {
    delete?: boolean;
    force?: boolean;
    update?: boolean;
    passwordfile?: string | null;
    exclude?: Plain;
    excludefrom?: string | null;
    prepare?: boolean;
    dryrun?: boolean;
    additional_opts?: string[] | null;
  } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const isThere = existsSync(name);
    if (!isThere && !force && !prepare)
      return failed(name, `Destination directory ${name} was not found.`);
    const told = __opts__.test || dryrun;
    if (!isThere && prepare && told) return would(name, `${name} is set to be made and filled`);
    if (!isThere && prepare) mkdirSync(name, { recursive: true });
    const { retcode, stdout, stderr } = await salt('rsync.rsync')(source, name, {
      delete: extraneous,
      force,
      update,
      passwordfile,
      exclude,
      excludefrom,
      dryrun: told,
      additional_opts,
    });
    if (retcode !== 0) return failed(name, stderr || stdout);
    const changes = changesOf(stdout);
    const comment = summaryOf(stdout);
    if (changes === undefined) return unchanged(name, comment);
    return told ? would(name, comment, changes) : changed(name, comment, changes);
  });

/** The names behind the first line, up to the blank one. */
const changesOf = (said: string): PlainDict | undefined => {
  const [list = ''] = said.split('\n\n');
  const names = list
    .split('\n')
    .slice(1)
    .filter(line => line !== '');
  const deleted = names.filter(line => line.startsWith('deleting ')).map(line => line.slice(9));
  const copied = names.filter(line => !line.startsWith('deleting '));
  if (names.length === 0) return undefined;
  return {
    copied: copied.sort().join('\n') || 'N/A',
    deleted: deleted.sort().join('\n') || 'N/A',
  };
};

const summaryOf = (said: string): string =>
  (said.split('\n\n').at(-1) ?? '')
    .split(/\n|\s{2,}/)
    .filter(part => part !== '')
    .map(part => `- ${part}`)
    .join('\n');
