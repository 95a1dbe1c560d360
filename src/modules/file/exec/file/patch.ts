import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { isDir } from '../../../_shared/files/file-paths.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { CommandExecutionError } from '../../../api.ts';

/**
 * Applies a patch to a file or folder with the program `patch`. Returns pid, retcode, stdout and
 * stderr.
 *
 * @param originalfile the file or folder
 * @param patchfile the patch, on this host
 * @param options further options of `patch`, as text
 * @param dry_run only report the changes
 *
 * @example tsalt-ssh '*' file.patch /opt/file.txt /tmp/file.txt.patch
 */
export const patch = async (
  originalfile: string,
  patchfile: string,
  options = '',
  dry_run = false,
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  if (which('patch') === undefined)
    throw new CommandExecutionError(
      "patch executable not found. Is the distribution's patch package installed?",
    );
  const words = splitCommandArgs(options);
  const has = (pattern: RegExp): boolean => words.some(word => pattern.test(word));
  const folder = isDir(originalfile);
  const { pid, code, stdout, stderr } = await runCommand(
    [
      'patch',
      ...words,
      ...(dry_run ? ['--dry-run'] : []),
      ...(has(/^(?:-N|--forward)$/) ? [] : ['--forward']),
      ...(has(/^(?:-r|--reject-file)/) ? [] : ['--reject-file=-']),
      ...(folder && !has(/^(?:-p|--strip=)/) ? ['--strip=0'] : []),
      `--input=${patchfile}`,
      ...(folder ? ['-d', originalfile] : ['--', originalfile]),
    ],
    { plainLocale: true },
  );
  return { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
};
