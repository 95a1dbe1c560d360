import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { controlFile } from '../../../_shared/sources/control-files.ts';
import { parseSource } from '../../../_shared/sources/source-url.ts';
import { contentDiff } from '../../../_shared/text/text-diff.ts';
import { __opts__, CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/**
 * Returns the unified diff of two files.
 *
 * @param file1 a path, or a `salt://` URL
 * @param file2 the other
 * @param saltenv saltenv of a `salt://` URL
 * @param show_filenames false: without the names of the files
 * @param show_changes false: only return whether they differ
 * @param template the files are templates: the option `obfuscate_templates` hides the differences
 * @param source_hash_file1 refused: files from the web are not compared
 * @param source_hash_file2 refused, like `source_hash_file1`
 *
 * @example tsalt-ssh '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc
 */
export const get_diff = async (
  file1: string,
  file2: string,
  saltenv: string | null = null,
  {
    show_filenames = true,
    show_changes = true,
    template = false,
    source_hash_file1 = null,
    source_hash_file2 = null,
  }: {
    show_filenames?: boolean;
    show_changes?: boolean;
    template?: boolean;
    source_hash_file1?: string | null;
    source_hash_file2?: string | null;
  } = {},
): Promise<string> => {
  if (source_hash_file1 || source_hash_file2)
    throw new SaltInvocationError(
      'The arguments "source_hash_file1" and "source_hash_file2" of file.get_diff are not supported: files of the web are not compared.',
    );
  const env = saltenv ?? __opts__.saltenv;
  const diff = contentDiff(await contentAt(file1, env), await contentAt(file2, env));
  if (diff === '') return '';
  if (template && __opts__.obfuscate_templates === true) return '<Obfuscated Template>';
  if (!show_changes) return '<show_changes=False>';
  return show_filenames ? diff.replace(/^--- *\n\+\+\+ *\n/, `--- ${file1}\n+++ ${file2}\n`) : diff;
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
