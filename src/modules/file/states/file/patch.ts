import { join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { type CommandResult, runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { exists, expandUser, isAbs, isDir } from '../../../_shared/files/file-paths.ts';
import { makeTempFolder, removeTemp } from '../../../_shared/files/temporary.ts';
import { findSource } from '../../../_shared/sources/file-source.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { __env__, __opts__, type PlainDict, type StateReturn } from '../../../api.ts';

type PatchOptions = {
  source?: string | null;
  source_hash?: string | null;
  source_hash_name?: string | null;
  skip_verify?: boolean;
  template?: string | null;
  context?: PlainDict | null;
  defaults?: PlainDict | null;
  options?: string;
  reject_file?: string | null;
  strip?: number | null;
  saltenv?: string | null;
};

/**
 * Applies a patch to a file or directory, unless it is applied already. Needs `patch`.
 *
 * @param name the file or directory
 * @param source the patch
 * @param source_hash hash of a patch from the web
 * @param source_hash_name name to look up in a file of hashes
 * @param skip_verify accept a patch from the web without a hash
 * @param template renderer for the patch
 * @param context variables for the template
 * @param defaults variables for the template that `context` overrides
 * @param options further options of `patch`
 * @param reject_file file for the parts that do not apply
 * @param strip number of leading path components to remove
 * @param saltenv saltenv of a `salt://` URL
 * @unknown ignored
 *
 * @example
 * /opt/app.py:
 *   file.patch:
 *     - source: salt://app.patch
 */
export const patch = async (
  name: string,
  {
    source = null,
    source_hash = null,
    source_hash_name = null,
    skip_verify = false,
    template = null,
    context = null,
    defaults = null,
    options = '',
    reject_file = null,
    strip = null,
    saltenv = null,
  }: PatchOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(name);
  if (!which('patch')) return failed(ret, 'patch executable not found on minion');
  if (!path || !source) return failed(ret, 'A file/directory to be patched is required');
  if (!isAbs(path)) return failed(ret, `${path} is not an absolute path`);
  if (!exists(path)) return failed(ret, `${path} does not exist`);
  const words = splitCommandArgs(options);
  const refused = words.filter(word =>
    /^(-N|--forward|-r|--reject-file|-o|--output|-d|--directory)/.test(word),
  );
  if (refused.length > 0)
    return failed(ret, `The following CLI options are not allowed: ${refused.join(', ')}`);
  const scratch = makeTempFolder('tsalt-patch-');
  try {
    const file = join(scratch, 'patch');
    const found = await findSource(source, {
      name: path,
      saltenv: saltenv ?? __env__.name,
      source_hash,
      source_hash_name,
      skip_verify,
      template,
      context,
      defaults,
    });
    (await found.content()).place(file, { mode: 0o600 });
    const dir = isDir(path);
    const level = strip === null ? [] : [`-p${strip}`];
    const patch = (given: readonly string[], ...more: string[]): Promise<CommandResult> =>
      runCommand(
        [
          'patch',
          ...given,
          ...level,
          ...more,
          `--input=${file}`,
          ...(dir ? ['-d', path] : ['--', path]),
        ],
        { plainLocale: true },
      );
    const rejects = ['-r', reject_file ?? join(scratch, 'rejects')];
    const tried = await patch(words, '-N', '--dry-run', ...rejects);
    if (tried.code !== 0) {
      const forward = words.filter(word => word !== '-R' && word !== '--reverse');
      const other = forward.length < words.length ? forward : [...words, '-R'];
      const undone = await patch(other, '-f', '--dry-run', ...rejects);
      if (undone.code === 0) return { ...ret, comment: 'Patch was already applied' };
      // The result is discarded: only the rejected parts matter.
      if (reject_file && !__opts__.test)
        await patch(words, '-N', '-o', join(scratch, 'result'), ...rejects);
      const hint = reject_file
        ? ''
        : ' Run state again using the reject_file option to save rejects to a persistent file.';
      return failed(
        ret,
        `Patch would not apply cleanly, no changes made. Results of dry-run are below.${hint}\n\n${tried.stdout}${tried.stderr}`,
      );
    }
    if (__opts__.test)
      return { ...ret, result: null, changes: shown(tried), comment: 'The patch would be applied' };
    const done = await patch(words, '-N', ...rejects);
    return done.code === 0
      ? { ...ret, changes: shown(done), comment: 'Patch successfully applied' }
      : failed({ ...ret, changes: shown(done) }, 'Failed to apply patch');
  } catch (error) {
    return failed(ret, messageOf(error));
  } finally {
    removeTemp(scratch);
  }
};

const shown = ({ code, pid, stdout, stderr }: CommandResult): PlainDict => ({
  pid,
  retcode: code,
  stdout: stdout.trimEnd(),
  stderr: stderr.trimEnd(),
});
