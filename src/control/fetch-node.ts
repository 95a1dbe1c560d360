import type { Config } from '../config/config.ts';
import { TsaltError } from '../protocol/error.ts';
import { fetchNode } from '../transport/fetch-node.ts';
import type { NodeTarget } from '../transport/node-cache.ts';

const known: readonly NodeTarget[] = ['linux-x64', 'linux-arm64'];

/**
 * `tsalt-ssh node fetch [TARGET …]`: puts official Node binaries into the cache, for hosts that
 * have none and control nodes without a way to the package registry later.
 * @returns what to tell the user
 * @throws {TsaltError} `usage-words`, `node-fetch`, `node-integrity`
 */
export const fetchNodes = async (
  targets: readonly string[],
  { cachedir }: Config,
): Promise<string> => {
  const wrong = targets.find(target => !known.includes(target as NodeTarget));
  if (wrong !== undefined)
    throw new TsaltError('usage-words', `There is no Node to fetch for '${wrong}'.`, {
      kind: 'usage',
      hint: `Known are ${known.join(' and ')}.`,
    });
  const wanted = targets.length > 0 ? (targets as readonly NodeTarget[]) : known;
  const paths: string[] = [];
  for (const target of new Set(wanted)) paths.push(await fetchNode(cachedir, target));
  return paths.map(path => `${path}\n`).join('');
};
