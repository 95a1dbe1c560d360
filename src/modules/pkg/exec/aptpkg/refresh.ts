import { stat } from '../../../_shared/safe-fs/promises.ts';
import { CommandExecutionError } from '../../../api.ts';
import { apt } from '../../apt-run.ts';
import { refreshDone } from '../../packages.ts';

/**
 * Fetches the package lists. Returns for each source true: new, null: unchanged, false: failed.
 *
 * @param cache_valid_time seconds for which existing lists are new enough
 * @param failhard true: fail if a source fails
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refresh_db = async ({
  cache_valid_time = 0,
  failhard = false,
}: {
  cache_valid_time?: number;
  failhard?: boolean;
} = {}): Promise<{
  [source: string]: boolean | null;
}> => {
  refreshDone();
  if (cache_valid_time > 0 && (await isFresh(cache_valid_time))) return {};
  const { code, stdout, stderr } = await apt(['-q', 'update']);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || 'apt-get update failed');
  const sources: { [source: string]: boolean | null } = {};
  for (const line of stdout.split('\n')) {
    const [kind = '', ...rest] = line.trim().split(/\s+/);
    const source = rest.join(' ').replace(/ \[.+B\]$/, '');
    if (kind.startsWith('Get')) sources[source] = true;
    else if (kind.startsWith('Hit')) sources[source] = null;
    else if (kind.startsWith('Ign') || kind.startsWith('Err')) sources[source] = false;
    if (failhard && kind.startsWith('Err'))
      throw new CommandExecutionError(`Error getting repos: ${source}`);
  }
  return sources;
};

const isFresh = async (seconds: number): Promise<boolean> => {
  try {
    const { mtimeMs } = await stat('/var/lib/apt/lists');
    return mtimeMs + seconds * 1000 > Date.now();
  } catch {
    return false;
  }
};
