import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import {
  type Base,
  type GitOpts,
  gitOptionArgs,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { git, gitText, plainArg } from '../../git-run.ts';

/**
 * Returns the best common ancestor of commits.
 *
 * @param cwd the repository
 * @param refs the commits, as a list or separated by commas
 * @param octopus of all of them, as for a merge of many
 * @param is_ancestor return true or false: whether the first of two commits is an ancestor of the second
 * @param independent return the commits that cannot be reached from any other
 * @param fork_point where a branch left this ref, which may have been rewound since
 * @param all return a list of all best ancestors
 *
 * @example tsalt-ssh '*' git.merge_base /srv/app refs=main,fix
 */
export const merge_base = async (
  cwd: string,
  refs: string | string[] | null = null,
  {
    octopus = false,
    is_ancestor = false,
    independent = false,
    fork_point = null,
    opts = '',
    git_opts = '',
    all = false,
    ...options
  }: {
    octopus?: boolean;
    is_ancestor?: boolean;
    independent?: boolean;
    fork_point?: string | null;
    all?: boolean;
  } & Opts &
    GitOpts &
    Base = {},
): Promise<string | string[] | boolean> => {
  if ([octopus, is_ancestor, independent, fork_point].filter(Boolean).length > 1)
    throw new SaltInvocationError(
      "Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted",
    );
  if (all && (independent || is_ancestor || fork_point))
    throw new SaltInvocationError(
      "The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'",
    );
  const commits = toList(refs).map(ref => plainArg(ref, 'ref'));
  if (is_ancestor && commits.length !== 2)
    throw new SaltInvocationError("Two refs/commits are required if 'is_ancestor' is True");
  const kind = [
    ...(all ? ['--all'] : []),
    ...(octopus ? ['--octopus'] : []),
    ...(is_ancestor ? ['--is-ancestor'] : []),
    ...(independent ? ['--independent'] : []),
    ...(fork_point ? ['--fork-point', plainArg(fork_point, 'ref')] : []),
  ];
  const args = ['merge-base', ...gitOptionArgs(opts), ...kind, ...commits];
  const how = runOptions(cwd, { git_opts, ...options });
  if (is_ancestor) return (await git(args, { ...how, ignore: true })).code === 0;
  const found = (await gitText(args, how)).split('\n').filter(Boolean);
  return all ? found : (found[0] ?? '');
};

/**
 * Returns the result that merging two commits would have, as text.
 *
 * @param cwd the repository
 * @param ref1 a commit
 * @param ref2 another
 * @param base their common ancestor; by default, the best one
 *
 * @example tsalt-ssh '*' git.merge_tree /srv/app HEAD upstream/main
 */
export const merge_tree = async (
  cwd: string,
  ref1: string,
  ref2: string,
  base: string | null = null,
  options: Base = {},
): Promise<string> => {
  const from = base ?? String(await merge_base(cwd, [ref1, ref2], options));
  return gitText(
    ['merge-tree', ...[from, ref1, ref2].map(ref => plainArg(ref, 'ref'))],
    runOptions(cwd, options),
  );
};

/**
 * Returns the differences between commits, the index and the working tree.
 *
 * @param cwd the repository
 * @param item1 a commit
 * @param item2 another
 * @param no_index compare two paths that need not be in a repository
 * @param cached compare the index
 * @param paths only these, as a list or separated by commas
 *
 * @example tsalt-ssh '*' git.diff /srv/app v1.0 v1.1 paths=etc
 */
export const diff = async (
  cwd: string,
  item1: string | null = null,
  item2: string | null = null,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    no_index = false,
    cached = false,
    paths = null,
    output_encoding = null,
  }: Opts &
    GitOpts &
    Base & { no_index?: boolean; cached?: boolean; paths?: string | string[] | null } = {},
): Promise<string> => {
  if (no_index && cached)
    throw new CommandExecutionError("The 'no_index' and 'cached' options cannot be used together");
  const commits = no_index ? [] : cached ? [item1] : [item1, item2];
  const given = commits.filter(item => item !== null).map(item => plainArg(item, 'revision'));
  const kind = no_index ? ['--no-index'] : cached ? ['--cached'] : [];
  const args = ['diff', ...gitOptionArgs(opts), ...kind, ...given, '--', ...toList(paths)];
  const how = runOptions(cwd, { git_opts, user, password, output_encoding });
  // With --no-index, an exit status of 1 means that there are differences.
  return (await git(args, { ...how, ignore: no_index })).stdout.replace(/\n$/, '');
};

/**
 * Returns the ref that a symbolic ref points to, or makes it point to another.
 *
 * @param cwd the repository
 * @param ref the symbolic ref: `HEAD`
 * @param value the new target: `refs/heads/main`
 *
 * @example tsalt-ssh '*' git.symbolic_ref /srv/app HEAD
 */
export const symbolic_ref = async (
  cwd: string,
  ref: string,
  value: string | null = null,
  { opts = '', ...options }: Opts & GitOpts & Base = {},
): Promise<string> => {
  const flags = gitOptionArgs(opts);
  if (value !== null && flags.some(flag => flag === '-d' || flag === '--delete'))
    throw new SaltInvocationError(
      'Value cannot be set for symbolic ref if -d/--delete is included in opts',
    );
  const words = [ref, ...(value === null ? [] : [value])].map(word => plainArg(word, 'ref'));
  return gitText(['symbolic-ref', ...flags, ...words], runOptions(cwd, options));
};
