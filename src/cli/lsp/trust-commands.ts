import { TsaltError } from '../../protocol/error.ts';
import type { Opened } from '../commands.ts';
import { printText } from '../print-text.ts';
import { setTrusted, trustedFolders } from './trusted-folders.ts';

const usage = 'tsalt-ssh lsp, tsalt-ssh lsp trust [FOLDER], lsp untrust [FOLDER], lsp trusted';

/**
 * `lsp trust`, `lsp untrust`, `lsp trusted`: the folders of which editors may run code.
 *
 * @throws TsaltError `usage-words` for other words
 */
export const changeTrust = async (
  [word, folder, ...more]: readonly string[],
  env: Opened['env'],
): Promise<number> => {
  if (word === 'trusted' && folder === undefined)
    return printText(
      trustedFolders(env)
        .map(one => `${one}\n`)
        .join(''),
    );
  if ((word !== 'trust' && word !== 'untrust') || more.length > 0)
    throw new TsaltError('usage-words', `lsp does not take '${[word, folder].join(' ').trim()}'.`, {
      hint: `Usage: ${usage}`,
    });
  const path = await setTrusted(folder ?? '.', word === 'trust', env);
  return printText(
    word === 'trust'
      ? `Editors may run the code of ${path}.\n`
      : `Editors no longer run the code of ${path}.\n`,
  );
};
