import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { makeTempFolder, removeTemp } from '../../../_shared/files/temporary.ts';
import { chmod } from '../../../_shared/safe-fs/promises.ts';
import { fetchScript } from '../../../_shared/sources/fetch-script.ts';
import { CommandExecutionError, type Plain } from '../../../api.ts';
import { docker } from '../../docker-run.ts';
import { run_all } from './runs.ts';

type ScriptOptions = {
  saltenv?: string;
  args?: string | null;
  template?: string | null;
  exec_driver?: string | null;
  stdin?: string | null;
  python_shell?: boolean;
  output_loglevel?: string;
  ignore_retcode?: boolean;
  use_vt?: boolean;
  keep_env?: Plain;
};

/**
 * Copies a script into a running container and runs it there. Returns `pid`, `retcode`, `stdout` and
 * `stderr`. The copy is removed afterwards.
 *
 * @param name the container
 * @param source `salt://…`, a URL or a path on the host
 * @param saltenv the environment to fetch it from
 * @param args arguments for the script, words as a shell reads them
 * @param template render it on the control node first, with this renderer
 * @param stdin text for its standard input
 * @param exec_driver accepted, but has no effect: it is always docker's own exec
 * @param python_shell accepted, but has no effect
 * @param output_loglevel accepted, but has no effect
 * @param ignore_retcode true: a status other than 0 does not make the call fail
 * @param use_vt accepted, but has no effect
 * @param keep_env accepted, but has no effect: the container's own environment counts
 * @example tsalt-ssh '*' docker.script web salt://scripts/warm-up.sh
 */
export const script = async (
  name: string,
  source: string,
  options: ScriptOptions = {},
): Promise<{
  pid: number;
  retcode: number;
  stdout: string;
  stderr: string;
  cache_error?: boolean;
}> => {
  const { saltenv = 'base', args = null, template = null, stdin = null } = options;
  const folder = makeTempFolder('tsalt-script-');
  const there = `/tmp/tsalt-${randomUUID()}${extname(source.split('?')[0] ?? '')}`;
  try {
    const path = join(folder, 'script');
    if (!(await fetchScript(source, path, { saltenv, template })))
      return { pid: 0, retcode: 1, stdout: '', stderr: '', cache_error: true };
    await chmod(path, 0o700);
    await docker('cp', '--', path, `${name}:${there}`);
    try {
      return await run_all(name, args ? `${there} ${args}` : there, { stdin });
    } finally {
      await docker('exec', '--', name, 'rm', '-f', there);
    }
  } finally {
    removeTemp(folder);
  }
};

/**
 * Runs a script like `docker.script` and returns only its exit status.
 *
 * @param name the container
 * @param source `salt://…`, a URL or a path on the host
 * @example tsalt-ssh '*' docker.script_retcode web salt://scripts/check.sh
 */
export const script_retcode = async (
  name: string,
  source: string,
  options: ScriptOptions = {},
): Promise<number> => (await script(name, source, options)).retcode;

const refused = (fun: string): never => {
  throw new CommandExecutionError(
    `docker.${fun} would run Salt inside a container, which has no part of it: make the container a host of the roster (transport: container), or build the image from a Dockerfile.`,
  );
};

/**
 * Refused: a container has no part of this that could run a function.
 *
 * @example tsalt-ssh '*' docker.call web test.ping
 */
export const call = async (..._args: Plain[]): Promise<never> => refused('call');

/**
 * Refused: a container has no part of this that could apply states.
 *
 * @example tsalt-ssh '*' docker.apply web
 */
export const apply = async (..._args: Plain[]): Promise<never> => refused('apply');

/**
 * Refused: a container has no part of this that could apply states.
 *
 * @example tsalt-ssh '*' docker.sls web nginx
 */
export const sls = async (..._args: Plain[]): Promise<never> => refused('sls');

/**
 * Refused: a container has no part of this that could apply states.
 *
 * @example tsalt-ssh '*' docker.highstate web
 */
export const highstate = async (..._args: Plain[]): Promise<never> => refused('highstate');

/**
 * Refused: an image is built from a Dockerfile, by `docker.build`.
 *
 * @example tsalt-ssh '*' docker.sls_build shop base=debian:12 mods=shop
 */
export const sls_build = async (..._args: Plain[]): Promise<never> => refused('sls_build');
