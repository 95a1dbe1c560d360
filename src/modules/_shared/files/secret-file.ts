import { join } from 'node:path';
import { CommandExecutionError } from '../../api.ts';
import { readAccounts } from '../commands/accounts.ts';
import { chownSync, writeFileSync } from '../safe-fs/fs.ts';
import { makeTempFolder, removeTemp } from './temporary.ts';

/**
 * Calls `work` with a file that holds a secret for a program: 0600 in a 0700 folder, owned by the
 * account that runs the program, removed afterwards. Others can see arguments and environments.
 */
export const withSecretFile = async <T>(
  text: string,
  runas: string | undefined,
  work: (path: string) => Promise<T>,
): Promise<T> => {
  const folder = makeTempFolder('.tsalt-');
  try {
    const path = join(folder, 'secret');
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    if (runas !== undefined && process.getuid?.() === 0) {
      const account = (await readAccounts()).find(({ name }) => name === runas);
      if (!account) throw new CommandExecutionError(`User '${runas}' is not available`);
      for (const each of [path, folder]) chownSync(each, account.uid, account.gid);
    }
    return await work(path);
  } finally {
    removeTemp(folder);
  }
};
