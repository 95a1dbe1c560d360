import { join, relative } from 'node:path';
import { builtinNames } from '../bundle/builtin-names.ts';
import { packageRoot } from '../bundle/locate.ts';
import { skeletonKinds, writeSkeleton } from '../bundle/skeleton.ts';
import type { Config } from '../config/config.ts';
import { TsaltError } from '../protocol/error.ts';

/**
 * `module new KIND NAME`: writes a module and its test into the project.
 *
 * @returns the message for the user
 * @throws TsaltError `usage-words`, `skeleton-…`
 */
export const newModule = async (words: readonly string[], config: Config): Promise<string> => {
  const [kind, name, ...more] = words;
  const [root] = config.file_roots.base ?? [];
  if (kind === undefined || name === undefined || more.length > 0)
    throw new TsaltError('usage-words', 'A new module needs a kind and a name.', {
      hint: `tsalt-ssh module new ${skeletonKinds.join('|')} NAME`,
    });
  if (root === undefined)
    throw new TsaltError('usage-words', 'There is no file root to put the module into.', {
      hint: 'Set file_roots in tsalt.yaml.',
    });
  const hidden = builtinNames(packageRoot(), kind);
  const paths = await writeSkeleton(kind, name, { root, testDir: join(config.dir, 'test') });
  const next =
    kind === 'state'
      ? `What it calls belongs into an execution module: tsalt-ssh module new exec ${name}\n`
      : '';
  const warning = hidden.has(name)
    ? `There is a built-in ${kind} module '${name}': yours takes its place, with all of its functions.\n`
    : '';
  const wrote = paths.map(path => `wrote ${relative(process.cwd(), path)}\n`).join('');
  return wrote + warning + next;
};
