import { redact } from '../../../_shared/sources/url-login.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { type Base, runOptions } from '../../git-options.ts';
import { type RemoteUrls, remoteUrls } from '../../git-remotes.ts';
import { git, plainArg } from '../../git-run.ts';

/**
 * Returns the remotes of a repository with their URLs.
 *
 * @param cwd the repository
 * @param redact_auth hide the password of a URL that has one
 *
 * @example tsalt-ssh '*' git.remotes /srv/app
 */
export const remotes = async (
  cwd: string,
  {
    user = null,
    password = null,
    redact_auth = true,
    ...options
  }: { redact_auth?: boolean } & Base = {},
): Promise<Record<string, RemoteUrls>> => {
  const found = await remoteUrls(cwd, { user, password, ...options });
  if (!redact_auth) return found;
  return Object.fromEntries(
    Object.entries(found).map(([name, urls]) => [
      name,
      { fetch: redact(urls.fetch), push: redact(urls.push) },
    ]),
  );
};

/**
 * Returns the URLs of a remote.
 *
 * @param cwd the repository
 * @param remote the remote
 * @param redact_auth hide the password of a URL that has one
 *
 * @example tsalt-ssh '*' git.remote_get /srv/app upstream
 */
export const remote_get = async (
  cwd: string,
  remote = 'origin',
  {
    user = null,
    password = null,
    redact_auth = true,
    ...options
  }: { redact_auth?: boolean } & Base = {},
): Promise<RemoteUrls> => {
  const found = (await remotes(cwd, { user, password, redact_auth, ...options }))[remote];
  if (found) return found;
  throw new CommandExecutionError(
    `Remote '${remote}' not present in git checkout located at ${cwd}`,
  );
};

/**
 * Sets the URL of a remote. Adds the remote if it is missing.
 *
 * @param cwd the repository
 * @param url the URL; a password in it is not written into the repository
 * @param remote the remote
 * @param https_user refused: it would be visible to everybody who can read the repository
 * @param https_pass refused, like `https_user`
 * @param push_url the URL for `git push`, if it is a different one
 * @param push_https_user refused, like `https_user`
 * @param push_https_pass refused, like `https_user`
 *
 * @example tsalt-ssh '*' git.remote_set /srv/app https://example.com/app.git
 */
export const remote_set = async (
  cwd: string,
  url: string,
  {
    remote = 'origin',
    user = null,
    password = null,
    https_user = null,
    https_pass = null,
    push_url = null,
    push_https_user = null,
    push_https_pass = null,
    ...options
  }: {
    remote?: string;
    https_user?: string | null;
    https_pass?: string | null;
    push_url?: string | null;
    push_https_user?: string | null;
    push_https_pass?: string | null;
  } & Base = {},
): Promise<RemoteUrls> => {
  if (https_user || https_pass || push_https_user || push_https_pass)
    throw new SaltInvocationError(
      'A name and password are not written into a repository, where others read them: give them to git.fetch, git.pull and git.push.',
    );
  const how = runOptions(cwd, { user, password, ...options });
  const known = Object.hasOwn(await remotes(cwd, { user }), remote);
  const name = plainArg(remote, 'remote');
  await git(['remote', known ? 'set-url' : 'add', '--', name, url], how);
  if (push_url) await git(['remote', 'set-url', '--push', '--', name, push_url], how);
  return remote_get(cwd, remote, { user });
};
