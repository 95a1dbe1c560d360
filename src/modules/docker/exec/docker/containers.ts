/** Manages Docker containers, images, networks and volumes with the docker program. */

import { which } from '../../../_shared/commands/which.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import { createArgs } from '../../docker-options.ts';
import { docker, dockerWith, inspect } from '../../docker-run.ts';
import { withHidden } from '../../docker-secrets.ts';

export const __virtualname__ = 'docker';
export const __virtual__ = (): string | [false, string] =>
  which('docker') !== undefined ? 'docker' : [false, 'docker is not installed.'];

const lines = (text: string): string[] => text.split('\n').filter(line => line !== '');

/**
 * Returns the names of the containers.
 *
 * @param all true: also those that do not run
 * @example tsalt-ssh '*' docker.list_containers all=True
 */
export const list_containers = async ({ all = false }: { all?: boolean } = {}): Promise<string[]> =>
  lines(await docker('ps', '--format={{.Names}}', ...(all ? ['--all'] : [])))
    .flatMap(line => line.split(','))
    .sort();

/**
 * Returns docker's information about a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.inspect_container web
 */
export const inspect_container = async (name: string): Promise<PlainDict> => {
  const found = await inspect('container', name);
  if (found) return found;
  throw new CommandExecutionError(`Container '${name}' does not exist`);
};

/**
 * Whether a container is there.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.exists web
 */
export const exists = async (name: string): Promise<boolean> =>
  (await inspect('container', name)) !== undefined;

/**
 * Returns the state of a container: `running`, `paused` or `stopped`.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.state web
 */
export const state = async (name: string): Promise<string> => {
  const { State } = await inspect_container(name);
  const { Running, Paused } = (State ?? {}) as { Running?: boolean; Paused?: boolean };
  return Paused ? 'paused' : Running ? 'running' : 'stopped';
};

/**
 * Makes a container and does not start it.
 *
 * @param image the image
 * @param name the container
 * @param start true: start it
 * @example tsalt-ssh '*' docker.create nginx:1.25 name=web port_bindings=80:80
 */
export const create = async (
  image: string,
  name: string,
  { start: startIt = false, ...settings }: { start?: boolean; [argument: string]: unknown } = {},
): Promise<{ Id: string; Name: string; Started?: boolean }> => {
  const words = createArgs(name, image, settings as PlainDict);
  const made = await withHidden(words, (open, input) => dockerWith(input, 'create', ...open));
  const Id = made.stdout.trim();
  if (startIt) await docker('start', '--', name);
  return { Id, Name: name, ...(startIt ? { Started: true } : {}) };
};

const moved = async (
  name: string,
  work: () => Promise<unknown>,
): Promise<{ result: true; state: { old: string; new: string } }> => {
  const old = await state(name);
  await work();
  return { result: true, state: { old, new: await state(name) } };
};

/**
 * Starts a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.start web
 */
export const start = async (name: string) => moved(name, () => docker('start', '--', name));

/**
 * Starts a container again.
 *
 * @param name the container
 * @param timeout seconds until it is killed
 * @example tsalt-ssh '*' docker.restart web
 */
export const restart = async (name: string, { timeout = 10 }: { timeout?: number } = {}) =>
  moved(name, () => docker('restart', `--time=${Number(timeout)}`, '--', name));

/**
 * Stops a container.
 *
 * @param name the container
 * @param timeout seconds until it is killed; its own when not given
 * @param unpause true: resume a paused container first
 * @example tsalt-ssh '*' docker.stop web
 */
export const stop = async (
  name: string,
  { timeout = null, unpause: go = false }: { timeout?: number | null; unpause?: boolean } = {},
) =>
  moved(name, async () => {
    if (go && (await state(name)) === 'paused') await docker('unpause', '--', name);
    await docker('stop', ...(timeout === null ? [] : [`--time=${Number(timeout)}`]), '--', name);
  });

/**
 * Sends a signal to a container.
 *
 * @param name the container
 * @param signal the signal
 * @example tsalt-ssh '*' docker.signal web HUP
 */
export const signal = async (name: string, signal = 'HUP'): Promise<true> => {
  await docker('kill', `--signal=${signal}`, '--', name);
  return true;
};

/**
 * Removes a container and returns its id.
 *
 * @param name the container
 * @param force true: also if it is running
 * @param volumes true: with its anonymous volumes
 * @example tsalt-ssh '*' docker.rm web
 */
export const rm = async (
  name: string,
  { force = false, volumes = false }: { force?: boolean; volumes?: boolean } = {},
): Promise<string[]> => {
  const { Id } = await inspect_container(name);
  await docker('rm', ...(force ? ['--force'] : []), ...(volumes ? ['--volumes'] : []), '--', name);
  return [String(Id)];
};

/**
 * Renames a container.
 *
 * @param name the container
 * @param new_name its new name
 * @example tsalt-ssh '*' docker.rename web old-web
 */
export const rename = async (name: string, new_name: string): Promise<true> => {
  await docker('rename', '--', name, new_name);
  return true;
};

/**
 * Kills a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.kill web
 */
export const kill = async (name: string) => moved(name, () => docker('kill', '--', name));

/**
 * Pauses the processes of a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.pause web
 */
export const pause = async (name: string) => moved(name, () => docker('pause', '--', name));

/**
 * Resumes the processes of a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.unpause web
 */
export const unpause = async (name: string) => moved(name, () => docker('unpause', '--', name));

/**
 * Returns the process id of a container on the host; 0 if it does not run.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.pid web
 */
export const pid = async (name: string): Promise<number> => {
  const { State } = await inspect_container(name);
  return Number((State as PlainDict | undefined)?.Pid ?? 0);
};
