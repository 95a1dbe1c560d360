import { join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isDir } from '../../../_shared/files/file-paths.ts';
import { readdirSync, rmdirSync, statSync } from '../../../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../../../api.ts';

type Removed = { deleted: string[]; errors: [string, string][]; result: boolean };

/**
 * Removes an empty directory; with `recurse` also the empty ones below it.
 *
 * @param path the directory
 * @param recurse also those below
 * @param verbose return what was removed and what could not be removed
 * @param older_than only directories that did not change for this many days
 *
 * @example tsalt-ssh '*' file.rmdir /tmp/foo recurse=True
 */
export const rmdir = async (
  path: string,
  {
    recurse = false,
    verbose = false,
    older_than = null,
  }: { recurse?: boolean; verbose?: boolean; older_than?: number | null } = {},
): Promise<boolean | Removed> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError('File path must be absolute.');
  if (!isDir(full)) throw new SaltInvocationError('A valid directory was not specified.');
  const limit = older_than
    ? Date.now() - Number(older_than) * 86_400_000
    : Number.POSITIVE_INFINITY;
  const answer: Removed = { deleted: [], errors: [], result: true };
  for (const dir of [...(recurse ? below(full) : []), full]) {
    if (statSync(dir).mtimeMs >= limit) continue;
    try {
      rmdirSync(dir);
      answer.deleted.push(dir);
    } catch (error) {
      answer.errors.push([dir, messageOf(error)]);
      answer.result = false;
    }
  }
  // As in Salt, a directory that is not old enough counts as not removed, unless `recurse` is set.
  if (!answer.deleted.includes(full) && !recurse) answer.result = false;
  return verbose ? answer : answer.result;
};

const below = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(dir, entry.name))
    .flatMap(path => [...below(path), path]);
