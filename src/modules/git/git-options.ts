import { expandUser } from '../_shared/files/file-paths.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { CommandExecutionError } from '../api.ts';
import { type GitOptions, loginTo } from './git-run.ts';

/** The options that every git function accepts. */
export type Base = {
  /** run as this user */
  user?: string | null;
  /** has no effect: only needed on Windows */
  password?: string | null;
  /** has no effect: a failure is an error, and is not logged separately */
  ignore_retcode?: boolean;
  /** only UTF-8 output is supported; other encodings are refused */
  output_encoding?: string | null;
};

/** Options of git itself, before its command. */
export type GitOpts = {
  /** options of git itself, as a string or a list: `-c core.abbrev=12` */
  git_opts?: string | string[];
};

/** Options of a command of git. */
export type Opts = {
  /** further options, as a string or a list */
  opts?: string | string[];
};

/** The options of functions that may have to log in to a remote. */
export type GitLogin = {
  /** private key, or keys, to log in with: paths on the host, or `salt://` */
  identity?: string | string[] | null;
  /** name to log in with, over https */
  https_user?: string | null;
  /** its password */
  https_pass?: string | null;
  /** saltenv of keys in the file roots */
  saltenv?: string;
};

/** Splits options given as a string or a list into words. */
export const gitOptionArgs = (opts: string | string[] | undefined): string[] =>
  Array.isArray(opts) ? opts.map(String) : splitCommandArgs(opts ?? '');

/** Returns the options for running git; `url` is the repository that it logs in to. */
export const runOptions = (
  cwd: string | undefined,
  given: Base & GitOpts & GitLogin,
  url?: string,
): GitOptions => {
  const { user, identity, https_user, https_pass } = given;
  refuseEncoding(given.output_encoding ?? null);
  return {
    cwd: cwd === undefined ? undefined : inHome(cwd, user),
    user,
    before: gitOptionArgs(given.git_opts),
    identity: [identity ?? []].flat(),
    saltenv: given.saltenv,
    ...(https_user || https_pass ? { login: loginTo(url ?? '', https_user, https_pass) } : {}),
  };
};

/** Refuses any output encoding but UTF-8. */
export const refuseEncoding = (output_encoding: string | null): void => {
  if (output_encoding !== null && !/^utf[-_]?8$/i.test(output_encoding))
    throw new CommandExecutionError(
      `'output_encoding: ${output_encoding}' is not supported: git's output is read as UTF-8`,
    );
};

/** Resolves a relative path below the home of the user who runs git. */
export const inHome = (path: string, user: string | null | undefined): string => {
  if (path.startsWith('/')) return path;
  return expandUser(path.startsWith('~') ? path : `~${user ?? ''}/${path}`);
};
