import type { ServedFiles, ServedProject, ServedRoster } from '../../lsp/workspace.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Given } from '../../request/given.ts';
import { asUsage } from '../../request/usage.ts';
import type { Opened } from '../commands.ts';
import { isTrustedFolder } from './trusted-folders.ts';

/**
 * `lsp`: serves an editor over standard input and output until it ends the connection. Code of a
 * folder is run only if the editor, the command line or an earlier `lsp trust` says so.
 *
 * @throws TsaltError `usage-…`
 */
export const languageServer = async (
  words: readonly string[],
  given: Given,
  env: Opened['env'],
): Promise<number> => {
  if (words.length > 0) return (await import('./trust-commands.ts')).changeTrust(words, env);
  const { trust, untrusted } = given.options;
  if (trust === true && untrusted === true)
    throw new TsaltError('usage-value', '--trust and --untrusted exclude each other.');
  const { serveEditor } = await import('../../lsp/server.ts');
  const { versionText } = await import('../version.ts');
  serveEditor({
    input: process.stdin,
    output: process.stdout,
    trust:
      trust === true ? 'all' : untrusted === true ? 'none' : root => isTrustedFolder(root, env),
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
): Promise<ServedProject> => {
  const isNamed = typeof typed.options.config === 'string' || env.TSALT_CONFIG_DIR !== undefined;
  const own = isNamed ? typed : { ...typed, options: { ...typed.options, config: root } };
  const { openGiven } = await import('../open-given.ts');
  if (!isTrusted) {
    const { loadConfig } = await import('../../config/load.ts');
    const config = await asUsage(() =>
      loadConfig({ cwd: root, env, path: String(own.options.config ?? root) }),
    );
    return { config };
  }
  const { withSaltfile } = await import('../saltfile.ts');
  // A Saltfile that is being written must not keep the others from being served.
  const given = await withSaltfile(own, root, env).catch(() => own);
  const opened = await openGiven(given, env);
  return {
    config: opened.config,
    files: filesOf(opened, await import('./project-files.ts')),
    openRoster: () => openRoster(opened),
  };
};

const filesOf = (
  opened: Opened,
  { projectFileKind, projectFileSchemas, checkProjectFile }: typeof import('./project-files.ts'),
): ServedFiles => ({
  kindOf: path => projectFileKind(path, opened),
  schemaOf: kind => projectFileSchemas[kind](),
  check: (kind, path, text) => checkProjectFile(kind, path, text, opened),
});

const openRoster = async (opened: Opened): Promise<ServedRoster> => {
  const { checkRequest, rostersToCheck } = await import('../validate.ts');
  const { roster } = await rostersToCheck(opened);
  return {
    hosts: roster.hosts,
    requestFor: host => {
      const request = checkRequest(host ?? '*', roster, opened);
      // Others are not compared with the target.
      const hosts = request.hosts.filter(({ id }) => id === host);
      return { ...request, target: '*', targetType: 'glob', hosts };
    },
  };
};
