import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { userTypes, userTypesHeader } from '../bundle/user-types.ts';
import type { Config } from '../config/config.ts';
import { moduleFolders } from '../config/module-dirs.ts';
import { TsaltError } from '../protocol/error.ts';

/**
 * `types [FILE]`: writes the declarations of the user's modules, by default into `tsalt-ssh.d.ts`
 * beside the configuration.
 *
 * @returns the message for the user
 * @throws TsaltError `usage-words`, `types-…`
 */
export const writeTypes = async (words: readonly string[], config: Config): Promise<string> => {
  const [named, ...more] = words;
  if (more.length > 0)
    throw new TsaltError('usage-words', `types takes one file, not ${words.length}.`, {
      hint: 'tsalt-ssh types [FILE]',
    });
  const file = named === undefined ? join(config.dir, 'tsalt-ssh.d.ts') : resolve(named);
  if (!file.endsWith('.d.ts'))
    throw new TsaltError('types-name', `${named} is not the name of a declaration file.`, {
      hint: 'It must end in .d.ts: tsalt-ssh types tsalt-ssh.d.ts',
    });
  if (!existsSync(dirname(file)))
    throw new TsaltError('types-folder', `The folder ${dirname(file)} does not exist.`, {
      hint: 'Create it, or name another file: tsalt-ssh types [FILE]',
    });
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (before !== undefined && !before.startsWith(userTypesHeader))
    throw new TsaltError('types-exists', `${file} was not written by tsalt-ssh types.`, {
      hint: 'Move it away, or name another file: tsalt-ssh types [FILE]',
    });
  const types = userTypes({ ...moduleFolders(config), file });
  if (types.text !== before) await writeFile(file, types.text);
  const notes = types.untyped.map(({ path, reason }) => `untyped: ${path}: ${reason}\n`);
  const count = `${types.functions} functions of ${types.modules} modules`;
  const verb = types.text === before ? 'unchanged' : 'wrote';
  return `${verb} ${relative(process.cwd(), file)}: ${count}\n${notes.join('')}`;
};
