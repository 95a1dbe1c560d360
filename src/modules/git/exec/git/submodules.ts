import { SaltInvocationError } from '../../../api.ts';
import {
  type Base,
  type GitLogin,
  type GitOpts,
  gitOptionArgs,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { loginUrl } from '../../git-remotes.ts';
import { gitText, plainArg } from '../../git-run.ts';

type Submodule = Opts & GitOpts & Base & GitLogin;

/**
 * Runs `git submodule` with this command in a repository.
 *
 * @param cwd the repository
 * @param command `add`, `status`, `init`, `update`, `sync` …
 * @param init refused: write `--init` into `opts`
 *
 * @example tsalt-ssh '*' git.submodule /srv/app update opts='--init --recursive'
 */
export const submodule = async (
  cwd: string,
  command: string,
  {
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    identity = null,
    init = false,
    ...login
  }: { init?: boolean } & Submodule = {},
): Promise<string> => {
  if (init)
    throw new SaltInvocationError(
      "The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in the 'opts' argument and set 'command' to 'update'.",
    );
  const how = { git_opts, user, password, identity, ...login };
  return gitText(
    ['submodule', plainArg(command, 'command'), ...gitOptionArgs(opts)],
    runOptions(cwd, how, await loginUrl(cwd, how)),
  );
};

/**
 * Updates all submodules of a repository recursively to the commits that it records for them.
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.submodule_update /srv/app
 */
export const submodule_update = async (
  cwd: string,
  { opts = '', ...options }: Submodule = {},
): Promise<string> =>
  submodule(cwd, 'update', {
    ...options,
    opts: ['--init', '--recursive', ...gitOptionArgs(opts)],
  });
