import { getOwn } from '../../protocol/plain.ts';
import { type Base, type GitLogin, runOptions } from './git-options.ts';
import { gitText } from './git-run.ts';

/** The fetch and push URLs of a remote. */
export type RemoteUrls = { fetch: string; push: string };

/** Returns the remotes of a repository by name, with the URLs that git stores, including passwords. */
export const remoteUrls = async (
  cwd: string,
  options: Base,
): Promise<Record<string, RemoteUrls>> => {
  const found: Record<string, RemoteUrls> = {};
  const text = await gitText(['remote', '--verbose'], runOptions(cwd, options));
  for (const line of text.split('\n')) {
    const [, name, url = '', kind] = line.match(/^(\S+)\t(.+) \((fetch|push)\)/) ?? [];
    if (name === undefined) continue;
    const known = getOwn(found, name) ?? { fetch: '', push: '' };
    found[name] = { ...known, [kind ?? 'fetch']: url };
  }
  return found;
};

/** Returns the URL of a remote (by default `origin`) for logging in. */
export const loginUrl = async (
  cwd: string,
  { https_user, https_pass, user }: Base & GitLogin,
  remote: string | null = null,
): Promise<string | undefined> => {
  if (!https_user && !https_pass) return undefined;
  const known = (await remoteUrls(cwd, { user: user ?? null }))[remote ?? 'origin'];
  return known?.fetch ?? remote ?? undefined;
};
