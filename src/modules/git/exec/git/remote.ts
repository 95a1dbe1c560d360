import { mkdirSync } from '../../../_shared/safe-fs/fs.ts';
import { toList } from '../../../_shared/states/values.ts';
import type { PlainDict } from '../../../api.ts';
import {
  type Base,
  type GitLogin,
  type GitOpts,
  gitOptionArgs,
  inHome,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { loginUrl } from '../../git-remotes.ts';
import { git, gitText, plainArg } from '../../git-run.ts';

type Remote = Opts & GitOpts & Base & GitLogin;

/**
 * Clones a repository.
 *
 * @param cwd the directory to clone to
 * @param url the repository
 * @param name clone to a directory of this name in `cwd`
 *
 * @example tsalt-ssh '*' git.clone /srv/app https://example.com/app.git
 */
export const clone = async (
  cwd: string,
  url: string,
  {
    name = null,
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...login
  }: { name?: string | null } & Remote = {},
): Promise<boolean> => {
  const place = inHome(cwd, user);
  if (name !== null) mkdirSync(place, { recursive: true });
  const how = { git_opts, user, password, identity, ...login };
  await git(
    ['clone', ...gitOptionArgs(opts), '--', url, name ?? place],
    runOptions(name === null ? '/' : place, how, url),
  );
  return true;
};

/**
 * Fetches from a remote. Returns the changes: `new branches`, `new tags`, `updated branches`,
 * `updated tags`.
 *
 * @param cwd the repository
 * @param remote the remote
 * @param force also fetch updates that are not fast-forwards
 * @param refspecs the refspecs to fetch, as a list or separated by commas
 *
 * @example tsalt-ssh '*' git.fetch /srv/app upstream
 */
export const fetch = async (
  cwd: string,
  {
    remote = null,
    force = false,
    refspecs = null,
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...login
  }: {
    remote?: string | null;
    force?: boolean;
    refspecs?: string | string[] | null;
  } & Remote = {},
): Promise<PlainDict> => {
  const what = remote
    ? [plainArg(remote, 'remote'), ...toList(refspecs).map(ref => plainArg(ref, 'refspec'))]
    : [];
  const args = ['fetch', ...(force ? ['--force'] : []), ...gitOptionArgs(opts), ...what];
  const how = { git_opts, user, password, identity, ...login };
  const url = await loginUrl(cwd, how, remote);
  return fetched((await git(args, runOptions(cwd, how, url))).stderr);
};

const fetched = (text: string): PlainDict => {
  const updated: PlainDict = {};
  const lists: Record<string, string[]> = {};
  const add = (kind: string, name: string): void => {
    lists[kind] = [...(lists[kind] ?? []), name];
  };
  for (const line of text.split('\n')) {
    const [, old, now, made, name] =
      line.match(
        /^[\s*+]*(?:([0-9a-f]+)\.{2,3}([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(\S+)\s*->/,
      ) ?? [];
    if (name === undefined) continue;
    if (old !== undefined && now !== undefined) updated[name] = { old, new: now };
    else if (made === 'branch') add('new branches', name);
    else add(made === 'tag' ? 'new tags' : 'updated tags', name);
  }
  return Object.keys(updated).length > 0 ? { ...lists, 'updated branches': updated } : lists;
};

/**
 * Returns the refs of a remote, with their commits.
 *
 * @param cwd the repository; not needed where `remote` is a URL
 * @param remote its name, or a URL
 * @param ref only refs that end in this
 *
 * @example tsalt-ssh '*' git.ls_remote remote=https://example.com/app.git
 */
export const ls_remote = async (
  cwd: string | null = null,
  {
    remote = 'origin',
    ref = null,
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...login
  }: { remote?: string; ref?: string | null } & Remote = {},
): Promise<Record<string, string>> => {
  const how = { git_opts, user, password, identity, ...login };
  const url = cwd === null ? remote : await loginUrl(cwd, how, remote);
  const only = ref === null ? [] : [plainArg(ref, 'ref')];
  const text = await gitText(
    ['ls-remote', ...gitOptionArgs(opts), '--', remote, ...only],
    runOptions(cwd ?? '/', how, url),
  );
  return refsOf(text);
};

const refsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map(line => line.split('\t'))
      .flatMap(([sha = '', ref]) => (ref === undefined ? [] : [[ref, sha]])),
  );

/**
 * Returns the refs of a remote repository, with their commits.
 *
 * @param url the repository
 * @param heads only branches
 * @param tags only tags
 * @param filter only refs that match this glob
 *
 * @example tsalt-ssh '*' git.remote_refs https://example.com/app.git filter='v1.*' tags=True
 */
export const remote_refs = async (
  url: string,
  {
    heads = false,
    tags = false,
    user = null,
    password = null,
    identity = null,
    filter = null,
    ...login
  }: { heads?: boolean; tags?: boolean; filter?: string | null } & Base & GitLogin = {},
): Promise<Record<string, string>> => {
  const flags = [...(heads ? ['--heads'] : []), ...(tags ? ['--tags'] : [])];
  const only = filter === null ? [] : [plainArg(filter, 'filter')];
  const how = { user, password, identity, ...login };
  return refsOf(
    await gitText(['ls-remote', ...flags, '--', url, ...only], runOptions('/', how, url)),
  );
};

/**
 * Fetches and merges, as `git pull`.
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.pull /srv/app opts='--rebase origin main'
 */
export const pull = async (
  cwd: string,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...login
  }: Remote = {},
): Promise<string> => {
  const how = { git_opts, user, password, identity, ...login };
  return gitText(['pull', ...gitOptionArgs(opts)], runOptions(cwd, how, await loginUrl(cwd, how)));
};

/**
 * Pushes commits to a remote.
 *
 * @param cwd the repository
 * @param remote the remote
 * @param ref the refspec to push: `main`, `main:other`, `:gone`
 *
 * @example tsalt-ssh '*' git.push /srv/etc origin main
 */
export const push = async (
  cwd: string,
  remote: string,
  ref: string,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...login
  }: Remote = {},
): Promise<string> => {
  const args = [
    'push',
    '--porcelain',
    ...gitOptionArgs(opts),
    plainArg(remote, 'remote'),
    plainArg(ref, 'ref'),
  ];
  const how = { git_opts, user, password, identity, ...login };
  return gitText(args, runOptions(cwd, how, await loginUrl(cwd, how, remote)));
};
