/** Folders kept like others by rsync. */

import { makeDirs } from '../../_shared/files/make-dirs.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('rsync.rsync') || [false, 'rsync is not installed.'];

/**
 * A folder has what another one has.
 *
 * @param name where to: a path, `host:path` or `rsync://…`
 * @param source the source: a path, `host:path`, `rsync://…`, or a file or folder `salt://…`; a
 *   folder with a trailing slash means its content
 * @param delete remove at the destination what the source does not have
 * @param force remove folders there even when something is in them; the destination may be missing
 * @param update leave files that are newer at the destination
 * @param passwordfile a file on this host with the password of an rsync daemon
 * @param exclude patterns to leave out
 * @param excludefrom a file on this host with such patterns; `exclude` does not count then
 * @param prepare make the destination when it is missing
 * @param dryrun only report what would be copied, as test mode does
 * @param additional_opts further options for rsync
 * @example
 * /srv/backup:
 *   rsync.synchronized:
 *     - source: /srv/www
 *     - delete: true
 *     - prepare: true
 */
export const synchronized = async (
  name: string,
  source: string,
  {
    delete: remove = false,
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
    exclude?: string | string[] | null;
    excludefrom?: string | null;
    prepare?: boolean;
    dryrun?: boolean;
    additional_opts?: string[] | null;
  } = {},
): Promise<StateReturn> => {
  const isMissing = !isElsewhere(name) && !existsSync(name);
  if (isMissing && !force && !prepare)
    return failed(name, `Destination directory ${name} was not found.`);
  const onlyTell = __opts__.test || dryrun;
  // Where nothing is yet, rsync cannot say what it would copy into several folders to come.
  if (isMissing && prepare && onlyTell)
    return would(name, `Destination directory ${name} would be created and filled.`);
  if (isMissing && prepare) makeDirs(name);
  const { retcode, stdout, stderr } = await salt('rsync.rsync')(source, name, {
    delete: remove,
    force,
    update,
    passwordfile,
    exclude,
    excludefrom,
    dryrun: onlyTell,
    additional_opts,
  });
  if (retcode !== 0) return failed(name, stderr || `rsync ended with exit status ${retcode}.`);
  const changes = changesOf(stdout);
  if (!changes) return unchanged(name, summaryOf(stdout));
  return (onlyTell ? would : changed)(name, summaryOf(stdout), changes);
};

/** `host:path` and `rsync://…` are on another host. */
const isElsewhere = (name: string): boolean => /^[^/]*:/.test(name);

/** The summary at the end of rsync's output: how much was sent, one item per line. */
const summaryOf = (stdout: string): string =>
  (stdout.split('\n\n').at(-1) ?? '')
    .replaceAll('  ', '\n')
    .split('\n')
    .filter(Boolean)
    .map(item => `- ${item}`)
    .join('\n');

const changesOf = (stdout: string): PlainDict | undefined => {
  const lines = (stdout.split('\n\n', 1)[0] ?? '').split('\n').slice(1);
  const gone = lines.filter(line => line.startsWith('deleting '));
  const copied = lines.filter(line => !line.startsWith('deleting '));
  if (lines.length === 0) return undefined;
  return {
    copied: copied.sort().join('\n') || 'N/A',
    deleted:
      gone
        .map(line => line.slice('deleting '.length))
        .sort()
        .join('\n') || 'N/A',
  };
};
