/** Docker containers. */
import {
  __opts__,
  type Plain,
  type PlainDict,
  SaltInvocationError,
  type StateReturn,
} from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { createWords, madeOf, madeOfLabel } from '../lib/docker-options.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';
import { repackDictList, toList } from '../lib/values.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.create') || [false, 'docker is not installed.'];

/**
 * A container runs, made of this image and these settings; one made otherwise is replaced. All of
 * Salt's arguments that `docker create` knows are taken: `binds`, `port_bindings`, `environment`,
 * `labels`, `restart_policy`, `command`, `user`, `cap_add`, `log_driver` … The settings a container
 * was made of are kept as a hash in its label `tsalt.made-of`.
 *
 * @param name the container
 * @param image the image
 * @param start false: make it, and do not start it
 * @param force true: replace it even when nothing differs
 * @param shutdown_timeout seconds until the one that is replaced is killed
 * @param networks networks to connect it with
 * @param watch_action what a change of something watched does: `force` replaces it, or the signal SIGHUP, HUP …
 * @example
 * web:
 *   docker_container.running:
 *     - image: nginx:1.25
 *     - port_bindings: ['8080:80']
 *     - binds: ['/srv/www:/usr/share/nginx/html:ro']
 *     - restart_policy: unless-stopped
 */
export const running = async (
  name: string,
  {
    image = null,
    start = true,
    force = false,
    shutdown_timeout = null,
    networks = null,
    watch_action = 'force',
    send_signal = false,
    ...settings
  }: {
    image?: string | null;
    start?: boolean;
    force?: boolean;
    shutdown_timeout?: number | null;
    networks?: Plain;
    watch_action?: string;
    send_signal?: boolean;
    [argument: string]: Plain | undefined;
  } = {},
): Promise<StateReturn> => {
  if (!image) return failed(name, "The 'image' argument is required");
  try {
    const nets = networkNames(networks);
    const own = settings as PlainDict;
    const there: boolean = await salt('docker.exists')(name);
    const had = there ? ((await salt('docker.inspect_container')(name)) as PlainDict) : undefined;
    const imageId: string | false = await salt('docker.resolve_image_id')(image);
    const hash = madeOf(createWords(name, image, own), String(imageId));
    const sameContainer = had !== undefined && labelOf(had) === hash && !force;
    const state: string = there ? await salt('docker.state')(name) : 'absent';
    const missing = nets.filter(net => !sameContainer || !joined(had).includes(net));
    if (sameContainer && missing.length === 0 && (state === 'running' || !start) && !send_signal)
      return unchanged(name, `Container '${name}' is already configured as specified`);
    const changes: PlainDict = {
      ...(sameContainer ? {} : { container_id: { [there ? 'replaced' : 'added']: name } }),
      ...(missing.length > 0 ? { networks: { added: missing } } : {}),
      ...((!sameContainer || state !== 'running') && start
        ? { state: { old: there ? state : null, new: 'running' } }
        : {}),
      ...(sameContainer && send_signal ? { signal: 'HUP' } : {}),
    };
    if (__opts__.test)
      return would(
        name,
        sameContainer
          ? 'Container would be started'
          : `Container '${name}' would be ${there ? 'replaced' : 'created'}`,
        changes,
      );
    if (imageId === false) await salt('docker.pull')(image);
    if (!sameContainer) {
      const id = imageId === false ? await salt('docker.resolve_image_id')(image) : imageId;
      await replace(name, image, own, {
        there,
        state,
        timeout: shutdown_timeout,
        label: madeOf(createWords(name, image, own), String(id)),
      });
    }
    for (const net of missing) await salt('docker.connect_container_to_network')(name, net);
    if (start && (!sameContainer || state !== 'running')) await salt('docker.start')(name);
    if (sameContainer && send_signal)
      await salt('docker.signal')(name, watch_action === 'force' ? 'HUP' : watch_action);
    return changed(
      name,
      sameContainer
        ? `Container '${name}' was started`
        : `${there ? 'Replaced' : 'Created'} container '${name}'`,
      changes,
    );
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/** The old one steps aside until the new one is made: a mistake leaves it as it was. */
const replace = async (
  name: string,
  image: string,
  settings: PlainDict,
  old: { there: boolean; state: string; timeout: number | null; label: string },
): Promise<void> => {
  const aside = `${name}-tsalt-old`;
  const { label, labels, ...rest } = settings;
  const given = labels ?? label ?? [];
  const listed = Array.isArray(given) && given.every(item => typeof item === 'string');
  const all = listed
    ? [...(given as string[]), `${madeOfLabel}=${old.label}`]
    : typeof given === 'string'
      ? [...toList(given), `${madeOfLabel}=${old.label}`]
      : { ...repackDictList(given), [madeOfLabel]: old.label };
  if (old.there) {
    if (old.state === 'running') await salt('docker.stop')(name, { timeout: old.timeout });
    await salt('docker.rename')(name, aside);
  }
  try {
    await salt('docker.create')(image, name, { ...rest, labels: all });
  } catch (error) {
    if (old.there) {
      await salt('docker.rename')(aside, name);
      if (old.state === 'running') await salt('docker.start')(name);
    }
    throw error;
  }
  if (old.there) await salt('docker.rm')(aside, { force: true });
};

const labelOf = (container: PlainDict): string | undefined => {
  const { Labels } = (container.Config ?? {}) as { Labels?: Record<string, string> | null };
  return Labels?.[madeOfLabel];
};

const joined = (container: PlainDict): string[] => {
  const { Networks } = (container.NetworkSettings ?? {}) as { Networks?: PlainDict | null };
  return Object.keys(Networks ?? {});
};

const networkNames = (networks: Plain): string[] => {
  if (networks === null) return [];
  if (!Array.isArray(networks)) return toList(networks);
  return networks.map(item => {
    if (typeof item === 'string') return item;
    throw new SaltInvocationError(
      'docker_container.running takes networks by name only, without settings for each.',
    );
  });
};

/**
 * Containers do not run.
 *
 * @param name the container
 * @param containers several of them
 * @param shutdown_timeout seconds until they are killed
 * @param unpause true: also those that are paused
 * @param error_on_absent false: one that is not there does not run either
 * @example
 * web:
 *   docker_container.stopped
 */
export const stopped = async (
  name: string,
  {
    containers = null,
    shutdown_timeout = null,
    unpause = false,
    error_on_absent = true,
  }: {
    containers?: string[] | null;
    shutdown_timeout?: number | null;
    unpause?: boolean;
    error_on_absent?: boolean;
  } = {},
): Promise<StateReturn> => {
  const targets = (containers ?? [name]).map(String);
  try {
    const states = new Map<string, string[]>();
    for (const target of targets) {
      const there: boolean = await salt('docker.exists')(target);
      const state: string = there ? await salt('docker.state')(target) : 'absent';
      states.set(state, [...(states.get(state) ?? []), target]);
    }
    const { absent: gone = [], paused = [], running: live = [] } = Object.fromEntries(states);
    const errors = [
      ...(error_on_absent && gone.length > 0
        ? [`The following container(s) are absent: ${gone.join(', ')}`]
        : []),
      ...(!unpause && paused.length > 0
        ? [`The following container(s) are paused: ${paused.join(', ')}`]
        : []),
    ];
    if (errors.length > 0) return failed(name, errors.join('. '));
    const due = [...live, ...paused];
    if (due.length === 0) {
      const who =
        targets.length === 1 ? `Container '${targets[0]}' is` : 'All specified containers are';
      return unchanged(name, `${who} ${gone.length > 0 ? 'absent or ' : ''}not running`);
    }
    if (__opts__.test)
      return would(name, `The following container(s) will be stopped: ${due.join(', ')}`);
    const changes: PlainDict = {};
    for (const target of due)
      changes[target] = await salt('docker.stop')(target, { timeout: shutdown_timeout, unpause });
    return changed(name, `The following container(s) were stopped: ${due.join(', ')}`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * A container is not there.
 *
 * @param name the container
 * @param force true: also when it runs
 * @example
 * web:
 *   docker_container.absent:
 *     - force: true
 */
export const absent = async (
  name: string,
  { force = false }: { force?: boolean } = {},
): Promise<StateReturn> => {
  try {
    if (!(await salt('docker.exists')(name)))
      return unchanged(name, `Container '${name}' does not exist`);
    const state: string = await salt('docker.state')(name);
    if (state !== 'stopped' && !force)
      return failed(name, 'Container is running, set force to True to forcibly remove it');
    if (__opts__.test) return would(name, `Container '${name}' will be removed`);
    const removed = await salt('docker.rm')(name, { force });
    const how = state === 'stopped' ? 'Successfully' : 'Forcibly';
    return changed(name, `${how} removed container '${name}'`, { removed });
  } catch (error) {
    return failed(name, `Failed to remove container '${name}': ${messageOf(error)}`);
  }
};

/**
 * Something that a container watches has changed.
 *
 * @param name the container
 */
export const mod_watch = async (
  name: string,
  { sfun = null, ...options }: { sfun?: string | null; [argument: string]: Plain | undefined } = {},
): Promise<StateReturn> => {
  if (sfun === 'running')
    return (options.watch_action ?? 'force') === 'force'
      ? running(name, { ...options, force: true })
      : running(name, { ...options, send_signal: true, force: false });
  if (sfun === 'stopped') return stopped(name, options as Parameters<typeof stopped>[1]);
  return failed(name, `watch requisite is not implemented for ${sfun}`);
};
