import { runCommand } from '../../../_shared/commands/run-command.ts';
import { expandUser } from '../../../_shared/files/file-paths.ts';
import { globPaths } from '../../../_shared/files/glob-paths.ts';
import { SaltInvocationError } from '../../../api.ts';

/**
 * Runs `grep` on a file, or on what a glob matches.
 *
 * @param path the file
 * @param pattern the regular expression
 * @param opts further options, one word each
 *
 * @example tsalt-ssh '*' file.grep /etc/passwd nobody -i
 */
export const grep = async (
  path: string,
  pattern: string,
  ...opts: string[]
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const split = opts.find(option => /^-[A-Za-z]+ /.test(option));
  if (split !== undefined)
    throw new SaltInvocationError(
      `Passing multiple command line arguments in a single string is not supported, please pass the following arguments separately: ${split}`,
    );
  const paths = globPaths(expandUser(path));
  const files = paths.length > 0 ? paths : [expandUser(path)];
  const { code, stdout, stderr, pid } = await runCommand([
    'grep',
    ...opts,
    '-e',
    String(pattern),
    '--',
    ...files,
  ]);
  return {
    pid,
    retcode: code,
    stdout: stdout.replace(/\n$/, ''),
    stderr: stderr.replace(/\n$/, ''),
  };
};
