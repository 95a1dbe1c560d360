import { readFileSync } from 'node:fs';
import { __opts__, CommandExecutionError } from '../../api.ts';
import { controlFile } from '../../lib/control-files.ts';
import { expandUser, isFile } from '../../lib/file-paths.ts';
import { parseSource } from '../../lib/source-url.ts';
import { contentDiff } from '../../lib/text-diff.ts';

/**
 * The unified diff of two files.
 *
 * @param file1 a path, or a `salt://` URL
 * @param file2 the other
 * @param saltenv saltenv of a `salt://` URL
 *
 * @example tsalt-ssh '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc
 */
export const get_diff = async (
  file1: string,
  file2: string,
  saltenv: string | null = null,
): Promise<string> => {
  const env = saltenv ?? __opts__.saltenv;
  return contentDiff(await contentAt(file1, env), await contentAt(file2, env));
};

const contentAt = async (place: string, saltenv: string): Promise<Buffer> => {
  const url = parseSource(place);
  if (url.scheme !== 'salt') {
    const path = expandUser(url.path);
    if (!isFile(path)) throw new CommandExecutionError(`File ${place} not found`);
    return readFileSync(path);
  }
  const file = await controlFile(url.path, url.saltenv ?? saltenv);
  if (!file) throw new CommandExecutionError(`File ${place} not found`);
  return (await file.content()).bytes();
};
