import { join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { uidOf } from '../../../_shared/files/owner-names.ts';
import { makeTempFolder, removeTemp } from '../../../_shared/files/temporary.ts';
import { writeFileSync } from '../../../_shared/safe-fs/fs.ts';
import { findSource } from '../../../_shared/sources/file-source.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { isUserToCome } from '../../../_shared/states/to-come.ts';
import { contentDiff } from '../../../_shared/text/text-diff.ts';
import { __env__, __opts__, type PlainDict, type StateReturn } from '../../../api.ts';

type CronFileOptions = {
  source_hash?: string;
  source_hash_name?: string | null;
  user?: string;
  template?: string | null;
  context?: PlainDict | null;
  replace?: boolean;
  defaults?: PlainDict | null;
  backup?: string | null;
};

/**
 * Manages a user's whole crontab after a file.
 *
 * @param name the file: `salt://…`, a URL or a path
 * @param source_hash hash of a source from the web
 * @param source_hash_name name to look up in a file of hashes
 * @param user the user
 * @param template renderer for the file
 * @param context variables for the template
 * @param replace false: do not change an existing crontab
 * @param defaults variables for the template that `context` overrides
 * @param backup has no effect: `crontab` writes the file, and no backup is kept
 * @unknown ignored
 *
 * @example
 * salt://cron/backup.tab:
 *   cron.file:
 *     - user: backup
 */
export const file = async (
  name: string,
  {
    source_hash = '',
    source_hash_name = null,
    user = 'root',
    template = null,
    context = null,
    replace = true,
    defaults = null,
    backup: _backup = '',
  }: CronFileOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (uidOf(user) === undefined && !isUserToCome(user))
    return failed(ret, `Could not identify group for user ${user}`);
  let current: string;
  try {
    current = isUserToCome(user) ? '' : await salt('cron.raw_cron')(user);
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  if (!replace && current !== '')
    return { ...ret, comment: `User ${user} already has a crontab. No changes made` };
  let wanted: Buffer;
  try {
    const options = { source_hash, source_hash_name, template, context, defaults, user };
    const found = await findSource(name, { ...options, name: 'crontab', saltenv: __env__.name });
    wanted = (await found.content()).bytes();
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const diff = contentDiff(Buffer.from(current), wanted);
  if (diff === '') return { ...ret, comment: `Crontab for user ${user} is in the correct state` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { diff },
      comment: `Crontab for user ${user} is set to be changed`,
    };
  const dir = makeTempFolder('crontab-');
  try {
    const path = join(dir, 'tab');
    writeFileSync(path, wanted, { mode: 0o600 });
    const { retcode, stderr } = await salt('cron.write_cron_file_verbose')(user, path);
    if (retcode === 0)
      return { ...ret, changes: { diff }, comment: `Crontab for user ${user} was updated` };
    const why = String(stderr).replaceAll(path, name);
    return failed(ret, `Unable to update user ${user} crontab ${name}. Error: ${why}`);
  } finally {
    removeTemp(dir);
  }
};
