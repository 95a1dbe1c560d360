/**
 * Manages Mercurial repositories.
 *
 * @depends hg
 */

import { which } from '../../_shared/commands/which.ts';
import { hg, hgDone, sshFlag } from '../hg-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('hg') !== undefined || [false, 'hg is not installed.'];

type Maybe = string | null;
const wordsOf = (opts: string | false | null): string[] =>
  opts ? opts.split(/\s+/).filter(word => word !== '') : [];

/**
 * Returns the hash of a revision; empty if there is none.
 *
 * @param cwd the repository
 * @param rev a hash, branch, tag or bookmark
 * @param short true: twelve digits of it
 * @param user the account to run as
 * @example tsalt-ssh '*' hg.revision /srv/app stable
 */
export const revision = async (
  cwd: string,
  rev: string | number = 'tip',
  short = false,
  user: Maybe = null,
): Promise<string> => {
  const args = ['identify', '-i', ...(short ? [] : ['--debug']), '-r', String(rev)];
  const { code, stdout } = await hg(args, { cwd, user });
  return code === 0 ? stdout.trimEnd() : '';
};

/**
 * Returns a name for a revision: the latest tag, its distance in revisions, and the hash.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param user the account to run as
 * @example tsalt-ssh '*' hg.describe /srv/app
 */
export const describe_ = async (
  cwd: string,
  rev: string | number = 'tip',
  user: Maybe = null,
): Promise<string> => {
  const template = '{latesttag}-{latesttagdistance}-{node|short}';
  const { stdout } = await hg(['log', '-r', String(rev), '--template', template], { cwd, user });
  return stdout.trimEnd() || (await revision(cwd, rev, true, user));
};

export const __func_alias__ = { describe_: 'describe' };

/**
 * Packs a revision.
 *
 * @param cwd the repository
 * @param output the file
 * @param rev the revision
 * @param fmt `tar`, `tbz2`, `tgz`, `zip`, `uzip` or `files`; else it is read from the file's name
 * @param prefix the folder that all is in, in the archive
 * @param user the account to run as
 * @example tsalt-ssh '*' hg.archive /srv/app output=/tmp/app.tgz fmt=tgz
 */
export const archive = async (
  cwd: string,
  output: string,
  rev: string | number = 'tip',
  fmt: Maybe = null,
  prefix: Maybe = null,
  user: Maybe = null,
): Promise<string> =>
  hgDone(
    [
      ...['archive', '--rev', String(rev)],
      ...(fmt ? ['--type', fmt] : []),
      ...(prefix ? ['--prefix', prefix] : []),
      '--',
      output,
    ],
    { cwd, user },
  );

/**
 * Fetches what is new.
 *
 * @param cwd the repository
 * @param opts further options for hg
 * @param user the account to run as
 * @param identity the file of a private SSH key
 * @param repository the source; by default, the one that it was cloned from
 * @example tsalt-ssh '*' hg.pull /srv/app opts=-u
 */
export const pull = async (
  cwd: string,
  opts: string | false | null = null,
  user: Maybe = null,
  identity: Maybe = null,
  repository: Maybe = null,
): Promise<string> =>
  hgDone(
    [
      ...['pull', ...sshFlag(identity), ...wordsOf(opts)],
      ...(repository === null ? [] : ['--', repository]),
    ],
    { cwd, user },
  );

/**
 * Updates the files of a repository to a revision.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param force true: discard local changes
 * @param user the account to run as
 * @example tsalt-ssh '*' hg.update /srv/app stable
 */
export const update = async (
  cwd: string,
  rev: string | number,
  force = false,
  user: Maybe = null,
): Promise<string> =>
  hgDone(['update', ...(force ? ['-C'] : []), '-r', String(rev)], { cwd, user });

/**
 * Clones a repository.
 *
 * @param cwd the target folder
 * @param repository its address
 * @param opts further options for hg
 * @param user the account to run as
 * @param identity the file of a private SSH key
 * @example tsalt-ssh '*' hg.clone /srv/app https://hg.example.org/app
 */
export const clone = async (
  cwd: string,
  repository: string,
  opts: string | false | null = null,
  user: Maybe = null,
  identity: Maybe = null,
): Promise<string> =>
  hgDone(['clone', ...wordsOf(opts), ...sshFlag(identity), '--', repository, cwd], { user });

const kinds: Readonly<Record<string, string>> = {
  M: 'modified',
  A: 'added',
  R: 'removed',
  C: 'clean',
  '!': 'missing',
  '?': 'not tracked',
  I: 'ignored',
  ' ': 'origin of the previous file',
};

type Files = { [kind: string]: string[] };

/**
 * Returns the changed files by kind of change; for several repositories, by repository.
 *
 * @param cwd the repository, or a list
 * @param opts further options for hg
 * @param user the account to run as
 * @example tsalt-ssh '*' hg.status /srv/app
 */
export const status = async (
  cwd: string | string[],
  opts: string | null = null,
  user: Maybe = null,
): Promise<Files | { [repository: string]: Files }> => {
  const one = async (repository: string): Promise<Files> => {
    const { stdout } = await hg(['status', ...wordsOf(opts)], { cwd: repository, user });
    const files: Files = {};
    for (const line of stdout.split('\n')) {
      const kind = kinds[line.charAt(0)];
      if (kind === undefined || line === '') continue;
      files[kind] ??= [];
      files[kind].push(line.slice(2));
    }
    return files;
  };
  if (!Array.isArray(cwd)) return await one(cwd);
  const all: { [repository: string]: Files } = {};
  for (const repository of cwd) all[repository] = await one(repository);
  return all;
};
