import { lstatSync } from 'node:fs';
import { writeAtomically } from '../bundle/private-dir.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';

/**
 * Writes metrics, whole or not at all. A new file is private; a file that is there keeps its mode,
 * so that the collector may read it.
 *
 * @throws TsaltError `report`
 */
export const writeMetrics = async (path: string, text: string): Promise<void> => {
  try {
    checkTrusted(path, 'The file of metrics');
    const known = lstatSync(path, { throwIfNoEntry: false });
    await writeAtomically(path, text, known?.isFile() === true ? known.mode & 0o777 : 0o600);
  } catch (cause) {
    throw new TsaltError('report', `The metrics ${path} cannot be written: ${messageOf(cause)}.`, {
      cause,
    });
  }
};
