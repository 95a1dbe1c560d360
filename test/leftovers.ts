import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './helpers/remove-folder.ts';
import { runPrefix } from './helpers/run-prefix.ts';

/** Removes the temporary folders of files whose tests were all skipped: no hook runs for these. */
export const teardown = (): void => {
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(runPrefix(process.pid))) removeFolder(join(tmpdir(), name));
};
