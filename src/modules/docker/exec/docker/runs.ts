import { runCommand } from '../../../_shared/commands/run-command.ts';
import { salt } from '../../../_shared/states/call.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../../../api.ts';
import { connectArgs, networksOf } from '../../docker-networks.ts';
import { createArgs } from '../../docker-options.ts';
import { docker, dockerWith, inspect } from '../../docker-run.ts';
import { withHidden } from '../../docker-secrets.ts';

type LogOptions = {
  stdout?: boolean;
  stderr?: boolean;
  timestamps?: boolean;
  tail?: number | string;
  since?: number | string | null;
  until?: number | string | null;
  follow?: boolean;
};

/**
 * Returns the output of a container.
 *
 * @param name the container
 * @param stdout false: without its standard output
 * @param stderr false: without its errors
 * @param timestamps true: each line with its time
 * @param tail return at most this many lines
 * @param since only from then on: seconds since 1970, a date, or `10m`
 * @param until only until then
 * @param follow true: wait until the container has ended
 * @example tsalt-ssh '*' docker.logs web tail=20
 */
export const logs = async (
  name: string,
  {
    stdout = true,
    stderr = true,
    timestamps = false,
    tail = 'all',
    since = null,
    until = null,
    follow = false,
  }: LogOptions = {},
): Promise<string> => {
  const told = await dockerWith(
    {},
    ...['logs', `--tail=${tail}`],
    ...(timestamps ? ['--timestamps'] : []),
    ...(since === null ? [] : [`--since=${since}`]),
    ...(until === null ? [] : [`--until=${until}`]),
    ...(follow ? ['--follow'] : []),
    ...['--', name],
  );
  return `${stdout ? told.stdout : ''}${stderr ? told.stderr : ''}`;
};

/**
 * Waits until a container has ended and returns its exit status.
 *
 * @param name the container
 * @param ignore_already_stopped true: it is not an error if it has already ended
 * @param fail_on_exit_status true: a status other than 0 is
 * @example tsalt-ssh '*' docker.wait job
 */
export const wait = async (
  name: string,
  {
    ignore_already_stopped = false,
    fail_on_exit_status = false,
  }: { ignore_already_stopped?: boolean; fail_on_exit_status?: boolean } = {},
): Promise<{ result: boolean; exit_status: number; state: { old: string; new: string } }> => {
  const old: string = await salt('docker.state')(name);
  const exit_status = Number(await docker('wait', '--', name));
  const isWrong =
    (old === 'stopped' && !ignore_already_stopped) || (fail_on_exit_status && exit_status !== 0);
  return { result: !isWrong, exit_status, state: { old, new: 'stopped' } };
};

/**
 * Creates a container, runs it, and returns its output and exit status.
 *
 * @param image the image
 * @param name the container
 * @param bg true: do not wait for it
 * @param replace true: remove one of that name first
 * @param force true: also if that container is running
 * @param networks networks to connect it with
 * @param auto_remove true: remove it after it has ended
 * @example tsalt-ssh '*' docker.run_container builder:1 command=/build.sh
 */
export const run_container = async (
  image: string,
  {
    name = null,
    bg = false,
    replace = false,
    force = false,
    networks = null,
    auto_remove = false,
    stdout = true,
    stderr = true,
    timestamps = false,
    tail = 'all',
    since = null,
    until = null,
    ...settings
  }: Omit<LogOptions, 'follow'> & {
    name?: string | null;
    bg?: boolean;
    replace?: boolean;
    force?: boolean;
    networks?: Plain;
    auto_remove?: boolean;
    [argument: string]: unknown;
  } = {},
): Promise<PlainDict> => {
  const words = createArgs(name, image, { ...settings, auto_remove: auto_remove && bg });
  const replaced = name === null ? null : await makeWay(name, replace, force);
  const started = Date.now();
  const Id = (
    await withHidden(words, (open, input) => dockerWith(input, 'create', ...open))
  ).stdout.trim();
  const found = await inspect('container', Id);
  const ret: PlainDict = {
    Id,
    Name: String(found?.Name ?? name).replace(/^\//, ''),
    ...(replaced ? { Replaces: replaced } : {}),
  };
  try {
    for (const [net, conf] of Object.entries(networksOf(networks)))
      await docker('network', 'connect', ...connectArgs(conf), '--', net, Id);
    await docker('start', '--', Id);
  } catch (error) {
    if (auto_remove) await docker('rm', '--force', '--', Id);
    throw error;
  }
  if (bg) return ret;
  ret.ExitCode = Number(await docker('wait', '--', Id));
  ret.Time_Elapsed = (Date.now() - started) / 1000;
  ret.Logs = await logs(Id, { stdout, stderr, timestamps, tail, since, until });
  if (auto_remove) await docker('rm', '--', Id);
  return ret;
};

const makeWay = async (name: string, replace: boolean, force: boolean): Promise<Plain> => {
  if (!(await inspect('container', name))) return null;
  if (replace) return salt('docker.rm')(name, { force });
  throw new CommandExecutionError(
    `Container '${name}' exists. Run with replace=True to remove the existing container`,
  );
};

type InsideOptions = {
  /** accepted, but has no effect: it is always docker's own exec */
  exec_driver?: string | null;
  /** text for its standard input */
  stdin?: string | null;
  /** accepted, but has no effect: no shell reads the words */
  python_shell?: boolean;
  /** accepted, but has no effect */
  output_loglevel?: string;
  /** true: a status other than 0 does not make the call fail */
  ignore_retcode?: boolean;
  /** accepted, but has no effect */
  use_vt?: boolean;
  /** accepted, but has no effect: the container's own environment counts */
  keep_env?: Plain;
  /** the container's account to run as */
  user?: string | null;
};

/**
 * Runs a command in a container that runs: `pid`, `retcode`, `stdout` and `stderr`.
 *
 * @param name the container
 * @param cmd the command, words as a shell reads them, without a shell
 * @example tsalt-ssh '*' docker.run_all web 'nginx -t'
 */
export const run_all = async (
  name: string,
  cmd: string,
  options: InsideOptions = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const { stdin = null, user = null } = options;
  const { pid, code, stdout, stderr } = await runCommand(
    [
      ...(['docker', 'exec'] as const),
      ...(stdin === null ? [] : ['--interactive']),
      ...(user ? [`--user=${user}`] : []),
      ...['--', name],
      ...splitCommandArgs(cmd),
    ],
    { plainLocale: true, cwd: '/', ...(stdin === null ? {} : { stdin }) },
  );
  const text = (all: string): string => all.replace(/\n+$/, '');
  return { pid, retcode: code, stdout: text(stdout), stderr: text(stderr) };
};

/**
 * Runs a command in a running container and returns its output.
 *
 * @param name the container
 * @param cmd the command
 * @example tsalt-ssh '*' docker.run web 'ls /etc'
 */
export const run = async (name: string, cmd: string, options: InsideOptions = {}) => {
  const { stdout, stderr } = await run_all(name, cmd, options);
  return [stdout, stderr].filter(text => text !== '').join('\n');
};

/**
 * Runs a command in a running container and returns its stdout.
 *
 * @param name the container
 * @param cmd the command
 * @example tsalt-ssh '*' docker.run_stdout web 'cat /etc/hostname'
 */
export const run_stdout = async (name: string, cmd: string, options: InsideOptions = {}) =>
  (await run_all(name, cmd, options)).stdout;

/**
 * Runs a command in a running container and returns its stderr.
 *
 * @param name the container
 * @param cmd the command
 * @example tsalt-ssh '*' docker.run_stderr web 'nginx -t'
 */
export const run_stderr = async (name: string, cmd: string, options: InsideOptions = {}) =>
  (await run_all(name, cmd, options)).stderr;

/**
 * Runs a command in a running container and returns its exit status.
 *
 * @param name the container
 * @param cmd the command
 * @example tsalt-ssh '*' docker.retcode web 'test -e /ready'
 */
export const retcode = async (name: string, cmd: string, options: InsideOptions = {}) =>
  (await run_all(name, cmd, options)).retcode;
