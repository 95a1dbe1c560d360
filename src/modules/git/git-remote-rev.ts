import { plainArg } from './git-run.ts';

export type Refs = Readonly<Record<string, string>>;

/** The branch, tag or commit that a revision refers to in the remote repository. */
export type RemoteRev = {
  /** The requested revision; a commit in lower case. */
  readonly rev: string;
  readonly sha: string;
  readonly kind: 'branch' | 'tag' | 'sha1';
  /** The upstream to set; false for none, null to keep the current one. */
  readonly upstream: string | null | false;
  /** Its name in comments. */
  readonly place: string;
};

/** Returns the branch that HEAD of the remote repository points to. */
export const defaultBranch = (refs: Refs): string | null => {
  const isHead = ([ref, sha]: [string, string]): boolean =>
    ref.startsWith('refs/heads/') && sha === refs.HEAD;
  return Object.entries(refs).find(isHead)?.[0].slice('refs/heads/'.length) ?? null;
};

/** Resolves a revision, preferring branches to tags to commits; undefined if it does not exist. */
export const remoteRev = (refs: Refs, rev: string, remote: string): RemoteRev | undefined => {
  const of = (ref: string): string | undefined =>
    Object.hasOwn(refs, ref) ? refs[ref] : undefined;
  if (rev === 'HEAD') {
    const sha = of('HEAD');
    return sha === undefined
      ? undefined
      : { rev, sha, kind: 'sha1', upstream: null, place: `remote HEAD (${sha.slice(0, 7)})` };
  }
  const branch = of(`refs/heads/${rev}`);
  if (branch !== undefined) {
    const upstream = `${plainArg(remote, 'remote')}/${rev}`;
    const place = `${upstream} (${branch.slice(0, 7)})`;
    return { rev, sha: branch, kind: 'branch', upstream, place };
  }
  const tag = of(`refs/tags/${rev}^{}`) ?? of(`refs/tags/${rev}`);
  if (tag !== undefined)
    return { rev, sha: tag, kind: 'tag', upstream: false, place: `${rev} (${tag.slice(0, 7)})` };
  if (!/^[0-9a-f]{1,40}$/i.test(rev)) return undefined;
  const sha = rev.toLowerCase();
  return { rev: sha, sha, kind: 'sha1', upstream: false, place: sha.slice(0, 7) };
};

/** A commit may be abbreviated. */
export const isAt = (local: string | null, wanted: RemoteRev): boolean =>
  wanted.kind === 'sha1' ? Boolean(local?.startsWith(wanted.sha)) : local === wanted.sha;
