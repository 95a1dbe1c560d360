import { basename } from 'node:path';
import { SaltInvocationError } from '../../../api.ts';
import {
  type Base,
  type GitOpts,
  gitOptionArgs,
  inHome,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { git, gitText, plainArg } from '../../git-run.ts';

type WorkOptions = Opts & GitOpts & Base;

/**
 * Checks a revision out.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param force discard local changes
 *
 * @example tsalt-ssh '*' git.checkout /srv/app v1.2
 */
export const checkout = async (
  cwd: string,
  rev: string | null = null,
  { force = false, opts = '', ...options }: { force?: boolean } & WorkOptions = {},
): Promise<string> => {
  if (!rev && !opts)
    throw new SaltInvocationError("'rev' argument is required unless -b or -B in opts");
  const args = ['checkout', ...(force ? ['--force'] : []), ...gitOptionArgs(opts)];
  return (
    await git([...args, ...(rev ? [plainArg(rev, 'rev')] : []), '--'], runOptions(cwd, options))
  ).stderr.trim();
};

/**
 * Resets a branch, as `git reset`.
 *
 * @param cwd the repository
 * @param opts its options and the revision
 *
 * @example tsalt-ssh '*' git.reset /srv/app opts='--hard origin/main'
 */
export const reset = async (
  cwd: string,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...options
  }: WorkOptions & { identity?: string | null } = {},
): Promise<string> =>
  gitText(
    ['reset', ...gitOptionArgs(opts)],
    runOptions(cwd, { git_opts, user, password, identity, ...options }),
  );

/**
 * Creates an empty repository.
 *
 * @param cwd where
 * @param bare without a working tree
 * @param template a directory whose files the repository starts with
 * @param separate_git_dir folder of the repository itself
 * @param shared other users that may use it: `group`, `all`, `0660`
 *
 * @example tsalt-ssh '*' git.init /srv/app.git bare=True
 */
export const init = async (
  cwd: string,
  {
    bare = false,
    template = null,
    separate_git_dir = null,
    shared = null,
    opts = '',
    ...options
  }: {
    bare?: boolean;
    template?: string | null;
    separate_git_dir?: string | null;
    shared?: string | number | boolean | null;
  } & WorkOptions = {},
): Promise<string> => {
  const flags = [
    ...(bare ? ['--bare'] : []),
    ...(template === null ? [] : [`--template=${template}`]),
    ...(separate_git_dir === null ? [] : [`--separate-git-dir=${separate_git_dir}`]),
    ...(shared === null || shared === false ? [] : [`--shared=${sharing(shared)}`]),
  ];
  const place = inHome(cwd, options.user);
  return gitText(['init', ...flags, ...gitOptionArgs(opts), '--', place], runOptions('/', options));
};

/** Returns a mode for git, which accepts only octal modes that begin with 0. */
const sharing = (shared: string | number | true): string =>
  /^[1-7]\d*$/.test(String(shared)) ? `0${shared}` : String(shared).toLowerCase();

/**
 * Adds files to the index.
 *
 * @param cwd the repository
 * @param filename the file or folder
 *
 * @example tsalt-ssh '*' git.add /srv/app .
 */
export const add = async (
  cwd: string,
  filename: string,
  { opts = '', ...options }: WorkOptions = {},
): Promise<string> =>
  gitText(['add', '--verbose', ...gitOptionArgs(opts), '--', filename], runOptions(cwd, options));

/**
 * Removes files from the working tree and from the index.
 *
 * @param cwd the repository
 * @param filename the file or folder
 *
 * @example tsalt-ssh '*' git.rm /srv/app old.conf
 */
export const rm = async (
  cwd: string,
  filename: string,
  { opts = '', ...options }: WorkOptions = {},
): Promise<string> =>
  gitText(['rm', ...gitOptionArgs(opts), '--', filename], runOptions(cwd, options));

/**
 * Commits.
 *
 * @param cwd the repository
 * @param message the message
 * @param filename only this file
 *
 * @example tsalt-ssh '*' git.commit /srv/etc 'Before the upgrade' opts='-a'
 */
export const commit = async (
  cwd: string,
  message: string,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    filename = null,
    ...options
  }: WorkOptions & { filename?: string | null } = {},
): Promise<string> =>
  gitText(
    [
      'commit',
      ...gitOptionArgs(opts),
      `--message=${message}`,
      ...(filename ? ['--', filename] : []),
    ],
    runOptions(cwd, { git_opts, user, password, ...options }),
  );

/**
 * Makes, moves or deletes branches: `git branch` with these options.
 *
 * @param cwd the repository
 * @param name the branch
 *
 * @example tsalt-ssh '*' git.branch /srv/app fix opts='-d'
 */
export const branch = async (
  cwd: string,
  name: string | null = null,
  { opts = '', ...options }: WorkOptions = {},
): Promise<boolean> => {
  const named = name === null ? [] : [plainArg(name, 'branch')];
  await git(['branch', ...gitOptionArgs(opts), ...named], runOptions(cwd, options));
  return true;
};

/**
 * Creates a tag.
 *
 * @param cwd the repository
 * @param name the tag
 * @param ref the commit to tag
 * @param message makes an annotated tag
 *
 * @example tsalt-ssh '*' git.tag /srv/app v1.2 ref=main
 */
export const tag = async (
  cwd: string,
  name: string,
  {
    ref = 'HEAD',
    message = null,
    opts = '',
    ...options
  }: { ref?: string; message?: string | null } & WorkOptions = {},
): Promise<string> => {
  const words = gitOptionArgs(opts).filter(word => !['-a', '--annotate'].includes(word));
  if (words.some(word => word === '-m' || word.includes('--message')))
    throw new SaltInvocationError('Tag messages must be passed in the "message" argument');
  const deletes = words.some(word => ['-d', '--delete'].includes(word));
  return gitText(
    [
      'tag',
      ...words,
      ...(message === null ? [] : [`--message=${message}`]),
      plainArg(name, 'tag'),
      ...(deletes ? [] : [plainArg(ref, 'ref')]),
    ],
    runOptions(cwd, options),
  );
};

/**
 * Merges a revision into the branch that is checked out.
 *
 * @param cwd the repository
 * @param rev the revision; by default, the upstream branch
 *
 * @example tsalt-ssh '*' git.merge /srv/app rev=upstream/main
 */
export const merge = async (
  cwd: string,
  {
    rev = null,
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    ...options
  }: { rev?: string | null } & WorkOptions & { identity?: string | null } = {},
): Promise<string> =>
  gitText(
    ['merge', ...gitOptionArgs(opts), ...(rev ? [plainArg(rev, 'rev')] : [])],
    runOptions(cwd, { git_opts, user, password, identity, ...options }),
  );

/**
 * Stashes changes, or restores them.
 *
 * @param cwd the repository
 * @param action `save`, `pop`, `list`, `drop` …
 *
 * @example tsalt-ssh '*' git.stash /srv/app pop
 */
export const stash = async (
  cwd: string,
  action = 'save',
  { opts = '', ...options }: WorkOptions = {},
): Promise<string> =>
  gitText(['stash', plainArg(action, 'action'), ...gitOptionArgs(opts)], runOptions(cwd, options));

/**
 * Discards changes in the working tree.
 *
 * @param cwd the repository
 * @param path the file or folder; by default, everything
 *
 * @example tsalt-ssh '*' git.discard_local_changes /srv/app etc/app.conf
 */
export const discard_local_changes = async (
  cwd: string,
  path = '.',
  options: Base = {},
): Promise<string> => {
  const { stdout, stderr } = await git(['checkout', '--', path], runOptions(cwd, options));
  return `${stderr}${stdout}`.trim();
};

/**
 * Rebases the current branch onto a revision.
 *
 * @param cwd the repository
 * @param rev the revision
 *
 * @example tsalt-ssh '*' git.rebase /srv/app upstream/main
 */
export const rebase = async (
  cwd: string,
  rev = 'master',
  { opts = '', ...options }: WorkOptions = {},
): Promise<string> => {
  const flags = gitOptionArgs(opts);
  if (flags.some(flag => flag === '-i' || flag === '--interactive'))
    throw new SaltInvocationError('Interactive rebases are not supported');
  const revs = gitOptionArgs(rev).map(word => plainArg(word, 'rev'));
  return gitText(['rebase', ...flags, ...revs], runOptions(cwd, options));
};

/**
 * Packs the files of a revision into an archive.
 *
 * @param cwd the repository
 * @param output the archive; its name determines the format
 * @param rev the revision
 * @param prefix prefix of each path; by default, the name of the directory; '' for none
 * @param format `tar`, `zip`, `tar.gz`, if the name does not determine it
 *
 * @example tsalt-ssh '*' git.archive /srv/app /tmp/app.tar.gz rev=v1.2
 */
export const archive = async (
  cwd: string,
  output: string,
  {
    rev = 'HEAD',
    prefix = null,
    git_opts = '',
    user = null,
    password = null,
    format = null,
    ...options
  }: { rev?: string; prefix?: string | null; format?: string | null } & GitOpts & Base = {},
): Promise<boolean> => {
  const before = prefix ?? `${basename(inHome(cwd, user))}/`;
  const flags = [
    ...(before === '' ? [] : [`--prefix=${before}`]),
    ...(format === null ? [] : [`--format=${format}`]),
    `--output=${inHome(output, user)}`,
  ];
  await git(
    ['archive', ...flags, plainArg(rev, 'rev')],
    runOptions(cwd, { git_opts, user, password, ...options }),
  );
  return true;
};
