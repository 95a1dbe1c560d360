import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { asUsage } from '../request/usage.ts';
import type { Opened } from './commands.ts';

/**
 * `lsp`: serves an editor over standard input and output until it ends the connection.
 *
 * @throws TsaltError `usage-words` for any argument
 */
export const languageServer = async (
  words: readonly string[],
  given: Given,
  env: Opened['env'],
): Promise<number> => {
  if (words.length > 0)
    throw new TsaltError('usage-words', 'lsp takes no arguments.', {
      hint: 'An editor starts it: tsalt-ssh lsp',
    });
  const { serveEditor } = await import('../lsp/server.ts');
  const { versionText } = await import('./version.ts');
  serveEditor({
    input: process.stdin,
    output: process.stdout,
    isTrusted: given.options.untrusted !== true,
    version: versionText().trim().replace(/^.* /, ''),
    open: (root, isTrusted) => openServed(root, isTrusted, given, env),
  });
  // The process exits when the connection ends.
  return new Promise<number>(() => undefined);
};

const openServed = async (
  root: string,
  isTrusted: boolean,
  typed: Given,
  env: Opened['env'],
): Promise<import('../lsp/workspace.ts').ServedProject> => {
  const { loadConfig } = await import('../config/load.ts');
  const path = typeof typed.options.config === 'string' ? { path: typed.options.config } : {};
  if (!isTrusted) return { config: await asUsage(() => loadConfig({ cwd: root, env, ...path })) };
  const { withSaltfile } = await import('./saltfile.ts');
  const given = await withSaltfile(typed, root, env);
  const { openGiven } = await import('./open-given.ts');
  const opened = await openGiven(given, env);
  return {
    config: opened.config,
    openRoster: async () => {
      const { checkRequest, rostersToCheck } = await import('./validate.ts');
      const { roster } = await rostersToCheck(opened);
      return {
        hosts: roster.hosts,
        requestFor: host => {
          const request = checkRequest(host ?? '*', roster, opened);
          // Other hosts are not compared with the target.
          const hosts = request.hosts.filter(({ id }) => id === host);
          return { ...request, target: '*', targetType: 'glob', hosts };
        },
      };
    },
  };
};
