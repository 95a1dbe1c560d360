import { __opts__, __salt__, type StateReturn } from '../api.ts';
import type { Base, Login } from './git-options.ts';
import { git, plainWord, redact } from './git-run.ts';
import { syncTags, tagChanges } from './git-tags.ts';
import { failed } from './returns.ts';

export type Refs = Record<string, string>;
type Found = { sha: string; kind: 'branch' | 'tag' | 'commit'; ref: string };

export type Wanted = {
  name: string;
  /** The address that git keeps: without a password. */
  url: string;
  path: string;
  rev: string;
  branch: string | null;
  remote: string;
  user: string | null;
  /** How git logs in. */
  login: Base & Login;
  bare: boolean;
  force_checkout: boolean;
  force_reset: boolean | string;
  fetchOptions: string;
  /** Glob of the branches to fetch. */
  branches: string;
  /** Glob of the tags to fetch; null for none. */
  tags: string | null;
  /** Remove tags that the remote does not have. */
  sync_tags: boolean;
  submodules: boolean;
  force_fetch: boolean;
  update_head: boolean;
};

export const findRef = (refs: Refs, rev: string): Found | undefined => {
  const of = (ref: string): string | undefined =>
    Object.hasOwn(refs, ref) ? refs[ref] : undefined;
  const head = of('HEAD');
  if (rev === 'HEAD' && head !== undefined) {
    const names = Object.keys(refs).filter(
      ref => ref.startsWith('refs/heads/') && refs[ref] === head,
    );
    const ref = names.find(each => /\/(main|master)$/.test(each)) ?? names[0];
    return {
      sha: head,
      kind: ref ? 'branch' : 'commit',
      ref: ref?.slice('refs/heads/'.length) ?? head,
    };
  }
  const branch = of(`refs/heads/${rev}`);
  if (branch !== undefined) return { sha: branch, kind: 'branch', ref: rev };
  const tag = of(`refs/tags/${rev}^{}`) ?? of(`refs/tags/${rev}`);
  if (tag !== undefined) return { sha: tag, kind: 'tag', ref: rev };
  return /^[0-9a-f]{7,40}$/i.test(rev)
    ? { sha: rev.toLowerCase(), kind: 'commit', ref: rev }
    : undefined;
};

export const cloneTo = async (
  ret: StateReturn,
  wanted: Wanted,
  found: Found,
  { mirror, depth }: { mirror: boolean; depth: number | null },
): Promise<StateReturn> => {
  const { name, url, path, user, login, remote, bare } = wanted;
  const opts = [
    mirror ? '--mirror' : bare ? '--bare' : `--origin ${plainWord(remote, 'remote')}`,
    depth ? `--depth ${Number(depth)} --branch ${found.ref}` : '',
  ].join(' ');
  await __salt__['git.clone']?.(path, url, { opts, ...login });
  const comments = [
    `${redact(name)} cloned to ${path}${mirror ? ' as mirror' : bare ? ' as bare repository' : ''}`,
  ];
  if (!bare) await switchTo(wanted, found, false);
  if (wanted.submodules) await __salt__['git.submodule_update']?.(path, login);
  ret.changes.new = `${redact(name)} => ${path}`;
  const now: string = bare ? found.sha : await __salt__['git.revision']?.(path, 'HEAD', { user });
  ret.changes.revision = { old: null, new: now };
  return { ...ret, comment: comments.join('\n') };
};

export const update = async (
  ret: StateReturn,
  wanted: Wanted,
  found: Found,
  refs: Refs,
): Promise<StateReturn> => {
  const { name, url, path, user, login, remote, rev } = wanted;
  const shown = redact(name);
  const upToDate = `Repository ${path} is up-to-date`;
  const urls: Record<string, { fetch: string }> = await __salt__['git.remotes']?.(path, {
    user,
    redact_auth: false,
  });
  const oldUrl = urls[remote]?.fetch;
  const comments: string[] = [];
  if (oldUrl !== url) {
    ret.changes[`remotes/${remote}`] = { old: oldUrl ? redact(oldUrl) : null, new: shown };
    comments.push(
      oldUrl === undefined
        ? `Remote '${remote}' ${__opts__.test ? 'would be ' : ''}set to ${shown}`
        : `Remote '${remote}' ${__opts__.test ? 'would be ' : ''}changed from ${redact(oldUrl)} to ${shown}`,
    );
    if (!__opts__.test) await __salt__['git.remote_set']?.(path, url, { remote, user });
  }
  const old = await headOf(path, user);
  const local: string = await __salt__['git.current_branch']?.(path, { user });
  const wantedBranch = localBranch(wanted, found, local);
  const isThere = old?.startsWith(found.sha);
  const onBranch = wanted.bare || wantedBranch === null || local === wantedBranch;
  const dirty = !wanted.bare && (await __salt__['git.has_changes']?.(path, { user }));
  const discard = wanted.force_reset === true && dirty;
  const tags = await tagChanges(wanted, refs);
  if (isThere && onBranch && !discard) {
    if (await syncTags(wanted, tags, ret, comments)) {
      await fetchRefs(wanted);
      comments.push(`${shown} was fetched, resulting in updated refs`);
    }
    const open = dirty
      ? ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
      : '';
    return finish(ret, comments, `${upToDate}${open}`);
  }
  if (!wanted.update_head && !wanted.bare)
    return {
      ...ret,
      comment: `${rev === 'HEAD' ? 'Remote HEAD' : `Remote revision ${rev}`} is already present and local HEAD (${old?.slice(0, 7)}) does not match, but update_head=False. HEAD has not been updated locally.`,
    };
  if (dirty && !wanted.force_reset && !(wanted.force_checkout && !onBranch))
    return failed(
      ret,
      `Local branch '${local}' has uncommitted changes. Set 'force_reset' to True (or 'remote-changes') to discard them and proceed.`,
    );
  const base = onBranch ? 'HEAD' : `refs/heads/${wantedBranch}`;
  // A repository without a commit has none to lose.
  const isForward = async (): Promise<boolean> =>
    (base === 'HEAD' && old === null) || (await isFastForward(path, base, found.sha, user));
  const refused = async (): Promise<StateReturn | undefined> =>
    wanted.bare || wanted.force_reset || (await isForward())
      ? undefined
      : failed(
          ret,
          `Repository would be updated to ${found.sha.slice(0, 7)}, but this is not a fast-forward merge. Set 'force_reset' to True to force this update.${otherBranch(wanted, found, local)}`,
        );
  if (__opts__.test) {
    if (await hasCommit(path, found.sha, user)) {
      const problem = await refused();
      if (problem) return problem;
    }
    ret.changes.revision = { old, new: found.sha };
    comments.push(
      `Repository would be updated ${old === null ? '' : `from ${old.slice(0, 7)} `}to ${found.sha.slice(0, 7)}`,
    );
    return { ...ret, result: null, comment: comments.join('\n') };
  }
  await syncTags(wanted, tags, ret, comments);
  await fetchRefs(wanted);
  if (wanted.bare) {
    const now = await headOf(path, user);
    if (now !== old) ret.changes.revision = { old, new: now };
    return finish(ret, [...comments, `Bare repository at ${path} was fetched`], upToDate);
  }
  const problem = await refused();
  if (problem) return problem;
  const forced = discard || (Boolean(wanted.force_reset) && !(await isForward()));
  await switchTo(wanted, found, Boolean(wanted.force_reset) || wanted.force_checkout);
  if (wanted.submodules) await __salt__['git.submodule_update']?.(path, login);
  const now = await headOf(path, user);
  if (now !== old) ret.changes.revision = { old, new: now };
  if (forced) ret.changes['forced update'] = true;
  if (now === old && !onBranch) ret.changes['local branch'] = { old: local, new: wantedBranch };
  comments.push(
    `Repository was ${forced ? 'hard-reset' : 'fast-forwarded'} to ${placeOf(wanted, found)} (${now?.slice(0, 7)})`,
  );
  return finish(ret, comments, upToDate);
};

/** What Salt calls the revision in its comments. */
const placeOf = ({ rev, remote }: Wanted, { kind }: Found): string =>
  rev === 'HEAD' ? 'remote HEAD' : kind === 'branch' ? `${remote}/${rev}` : rev;

const fetchRefs = async (wanted: Wanted): Promise<void> => {
  const { path, remote, login, bare, branches, tags } = wanted;
  const heads = `+refs/heads/${branches}:refs/remotes/${remote}/${branches}`;
  await __salt__['git.fetch']?.(path, {
    remote,
    refspecs: bare
      ? ['+refs/*:refs/*']
      : [heads, ...(tags === null ? [] : [`+refs/tags/${tags}:refs/tags/${tags}`])],
    force: wanted.force_fetch,
    // Without this git takes all tags of what it fetches.
    opts: [wanted.fetchOptions, ...(tags === null || tags === '*' ? [] : ['--no-tags'])].join(' '),
    ...login,
  });
};

const finish = (ret: StateReturn, comments: string[], upToDate: string): StateReturn => {
  const changed = Object.keys(ret.changes).length > 0;
  return {
    ...ret,
    result: changed && __opts__.test ? null : true,
    comment: changed ? comments.join('\n') : upToDate,
  };
};

const headOf = async (path: string, user: string | null): Promise<string | null> => {
  try {
    return (await __salt__['git.revision']?.(path, 'HEAD', { user })) ?? null;
  } catch {
    return null;
  }
};

/**
 * The local branch that is to hold the revision. Salt does not care which one it is unless `branch`
 * names one: the branch that is checked out. Null leaves HEAD detached.
 */
const localBranch = ({ branch }: Wanted, found: Found, current: string): string | null => {
  if (branch !== null) return branch;
  if (current !== '' && current !== 'HEAD') return current;
  return found.kind === 'branch' ? found.ref : null;
};

const otherBranch = ({ rev, branch }: Wanted, found: Found, local: string): string =>
  rev === 'HEAD' && branch === null && found.kind === 'branch' && found.ref !== local
    ? ` The default remote branch (${found.ref}) differs from the local branch (${local}): set 'branch' to '${found.ref}' to follow it there.`
    : '';

const asks = async (path: string, user: string | null, args: string[]): Promise<boolean> =>
  (await git(args, { cwd: path, user, ignore: true })).code === 0;

const hasCommit = (path: string, sha: string, user: string | null): Promise<boolean> =>
  asks(path, user, ['cat-file', '-e', `${sha}^{commit}`]);

/** Whether what `base` has is in `sha`: moving it there loses no commit. A branch yet to come has none. */
const isFastForward = async (
  path: string,
  base: string,
  sha: string,
  user: string | null,
): Promise<boolean> =>
  (base !== 'HEAD' && !(await asks(path, user, ['show-ref', '--verify', '--quiet', base]))) ||
  (await asks(path, user, ['merge-base', '--is-ancestor', base, sha]));

/** Puts HEAD on the wanted commit: on a local branch that follows the remote's, else detached. */
const switchTo = async (wanted: Wanted, found: Found, force: boolean): Promise<void> => {
  const { path, user, remote, force_reset } = wanted;
  const current: string = await __salt__['git.current_branch']?.(path, { user });
  const local = localBranch(wanted, found, current);
  if (local === null) {
    await __salt__['git.checkout']?.(path, found.sha, { force, opts: '--detach', user });
    return;
  }
  const start = found.kind === 'branch' ? `${remote}/${found.ref}` : found.sha;
  const track = found.kind === 'branch' ? '--track' : '--no-track';
  if (current === local && !force_reset && (await headOf(path, user)) !== null)
    await __salt__['git.reset']?.(path, { opts: `--keep ${start}`, user });
  else
    await __salt__['git.checkout']?.(path, start, {
      force,
      opts: `-B ${plainWord(local, 'branch')} ${track}`,
      user,
    });
  if (force_reset) await __salt__['git.reset']?.(path, { opts: `--hard ${start}`, user });
};
