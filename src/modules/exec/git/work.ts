import { SaltInvocationError } from '../../api.ts';
import { type Common, git, gitText, plainWord } from '../../lib/git-run.ts';
import { splitWords } from '../../lib/words.ts';

/**
 * Checks a revision out.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param force discard local changes
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.checkout /srv/app v1.2
 */
export const checkout = async (
  cwd: string,
  rev: string | null = null,
  { force = false, opts = '', user = null }: Common & { force?: boolean; opts?: string } = {},
): Promise<string> => {
  if (!rev && !opts)
    throw new SaltInvocationError("'rev' argument is required unless -b or -B in opts");
  const args = ['checkout', ...(force ? ['--force'] : []), ...splitWords(opts)];
  return (
    await git([...args, ...(rev ? [plainWord(rev, 'rev')] : []), '--'], { cwd, user })
  ).stderr.trim();
};

/**
 * Resets a branch, as `git reset`.
 *
 * @param cwd the repository
 * @param opts its options and the revision, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.reset /srv/app opts='--hard origin/main'
 */
export const reset = async (
  cwd: string,
  { opts = '', user = null }: Common & { opts?: string } = {},
): Promise<string> => gitText(['reset', ...splitWords(opts)], { cwd, user });

type WorkOptions = Common & { opts?: string };

/**
 * Makes an empty repository.
 *
 * @param cwd where
 * @param bare without a working tree
 * @param template folder whose files are copied into it
 * @param separate_git_dir where the repository itself is to be
 * @param shared who may write: `group`, `all`, `umask`, or a mode in octal digits
 * @param opts further options, as text
 * @param user run as this user
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
    user = null,
  }: WorkOptions & {
    bare?: boolean;
    template?: string | null;
    separate_git_dir?: string | null;
    shared?: string | number | boolean | null;
  } = {},
): Promise<string> =>
  gitText(
    [
      'init',
      ...(bare ? ['--bare'] : []),
      ...(template === null ? [] : [`--template=${template}`]),
      ...(separate_git_dir === null ? [] : [`--separate-git-dir=${separate_git_dir}`]),
      ...(shared === null || shared === false ? [] : [`--shared=${sharing(shared)}`]),
      ...splitWords(opts),
      '--',
      cwd,
    ],
    { user },
  );

/** A mode as git wants it: it takes only one that begins with 0. */
const sharing = (shared: string | number | true): string =>
  /^[1-7]\d*$/.test(String(shared)) ? `0${shared}` : String(shared).toLowerCase();

/**
 * Takes files into the next commit.
 *
 * @param cwd the repository
 * @param filename the file or folder
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.add /srv/app .
 */
export const add = async (
  cwd: string,
  filename: string,
  { opts = '', user = null }: WorkOptions = {},
): Promise<string> =>
  gitText(['add', '--verbose', ...splitWords(opts), '--', filename], { cwd, user });

/**
 * Takes files away, from the working tree and from the next commit.
 *
 * @param cwd the repository
 * @param filename the file or folder
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.rm /srv/app old.conf
 */
export const rm = async (
  cwd: string,
  filename: string,
  { opts = '', user = null }: WorkOptions = {},
): Promise<string> => gitText(['rm', ...splitWords(opts), '--', filename], { cwd, user });

/**
 * Commits.
 *
 * @param cwd the repository
 * @param message the message
 * @param opts further options, as text
 * @param filename only this file
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.commit /srv/etc 'Before the upgrade' opts='-a'
 */
export const commit = async (
  cwd: string,
  message: string,
  { opts = '', filename = null, user = null }: WorkOptions & { filename?: string | null } = {},
): Promise<string> =>
  gitText(
    ['commit', ...splitWords(opts), `--message=${message}`, ...(filename ? ['--', filename] : [])],
    { cwd, user },
  );

/**
 * Makes, moves or deletes branches: `git branch` with these options.
 *
 * @param cwd the repository
 * @param name the branch
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.branch /srv/app fix opts='-d'
 */
export const branch = async (
  cwd: string,
  name: string | null = null,
  { opts = '', user = null }: WorkOptions = {},
): Promise<boolean> => {
  const named = name === null ? [] : [plainWord(name, 'branch')];
  await git(['branch', ...splitWords(opts), ...named], { cwd, user });
  return true;
};

/**
 * Makes a tag.
 *
 * @param cwd the repository
 * @param name the tag
 * @param ref what it stands for
 * @param message makes an annotated tag
 * @param opts further options, as text
 * @param user run as this user
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
    user = null,
  }: WorkOptions & { ref?: string; message?: string | null } = {},
): Promise<string> =>
  gitText(
    [
      'tag',
      ...splitWords(opts),
      ...(message === null ? [] : [`--message=${message}`]),
      plainWord(name, 'tag'),
      plainWord(ref, 'ref'),
    ],
    { cwd, user },
  );

/**
 * Merges a revision into the branch that is checked out.
 *
 * @param cwd the repository
 * @param rev the revision; the upstream branch when left out
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.merge /srv/app rev=upstream/main
 */
export const merge = async (
  cwd: string,
  { rev = null, opts = '', user = null }: WorkOptions & { rev?: string | null } = {},
): Promise<string> =>
  gitText(['merge', ...splitWords(opts), ...(rev ? [plainWord(rev, 'rev')] : [])], { cwd, user });

/**
 * Puts changes aside, or takes them back.
 *
 * @param cwd the repository
 * @param action `save`, `pop`, `list`, `drop` …
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.stash /srv/app pop
 */
export const stash = async (
  cwd: string,
  action = 'save',
  { opts = '', user = null }: WorkOptions = {},
): Promise<string> =>
  gitText(['stash', plainWord(action, 'action'), ...splitWords(opts)], { cwd, user });
