import type { Config } from '../../config/config.ts';
import { TsaltError } from '../../protocol/error.ts';
import { fetchNode } from '../../transport/fetch-node.ts';
import { isNodeTarget, nodeTargets } from '../../transport/node-cache.ts';
import { readReleases } from '../../transport/node-release.ts';
import { cannotWrite } from '../../trust/spare-cache.ts';

/**
 * `tsalt-ssh node fetch [TARGET …]`: puts official Node binaries into the cache, for hosts without
 * Node and for later runs without access to the package registry.
 * @returns the message for the user
 * @throws {TsaltError} `usage-words`, `node-release`, `node-fetch`, `node-integrity`, `cache-dir`
 */
export const fetchNodes = async (
  targets: readonly string[],
  { cachedir, node_release }: Config,
): Promise<string> => {
  const wrong = targets.find(target => !isNodeTarget(target));
  if (wrong !== undefined)
    throw new TsaltError('usage-words', `There is no Node to fetch for '${wrong}'.`, {
      kind: 'usage',
      hint: `Known are ${nodeTargets.join(' and ')}.`,
    });
  const releases = readReleases(node_release);
  const wanted = nodeTargets.filter(target => targets.length === 0 || targets.includes(target));
  const paths: string[] = [];
  for (const target of wanted)
    try {
      paths.push(await fetchNode(cachedir, target, releases));
    } catch (error) {
      if (!cannotWrite(cachedir, error)) throw error;
      throw new TsaltError(
        'cache-dir',
        `The cache folder ${cachedir} cannot be written: ${error.message}.`,
        { hint: 'Free some space, or name another folder by cachedir in tsalt.yaml.' },
      );
    }
  return paths.map(path => `${path}\n`).join('');
};
