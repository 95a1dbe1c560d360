/** Manages Docker containers. */
import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { repackDictList, toList } from '../../../_shared/states/values.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { type Networks, networksOf } from '../../docker-networks.ts';
import { createArgs, madeOf, madeOfLabel } from '../../docker-options.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.create') || [false, 'docker is not installed.'];

/**
 * Makes sure that a container runs with this image and these settings. If it was created with
 * others, it is replaced. Accepts all of Salt's arguments that `docker create` supports: `binds`,
 * `port_bindings`, `environment`, `labels`, `restart_policy`, `command`, `user`, `cap_add`,
 * `log_driver` … A hash of the container's settings is stored in its label `tsalt.made-of`.
 *
 * @param name the container
 * @param image the image
 * @param start false: make it, and do not start it
 * @param force true: replace it even when nothing differs
 * @param shutdown_timeout seconds until the one that is replaced is killed
 * @param networks networks to connect it with, and no others; with settings: `- front: {ipv4_address: 10.1.0.9, aliases: [db]}`
 * @param watch_action the reaction to a change of a watched state: `force` replaces the container, a signal name (SIGHUP, HUP …) sends that signal
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
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's docker_container.running, in its order
): Promise<StateReturn> => {
  if (!image) return failed(name, "The 'image' argument is required");
  try {
    const settingsOfNets = networksOf(networks);
    const nets = Object.keys(settingsOfNets);
    const own = settings as PlainDict;
    const there: boolean = await salt('docker.exists')(name);
    const had = there ? ((await salt('docker.inspect_container')(name)) as PlainDict) : undefined;
    const imageId: string | false = await salt('docker.resolve_image_id')(image);
    const hash = madeOf(createArgs(name, image, own), keyOf(imageId, settingsOfNets));
    const sameContainer = had !== undefined && labelOf(had) === hash && !force;
    const state: string = there ? await salt('docker.state')(name) : 'absent';
    const missing = nets.filter(net => !sameContainer || !joined(had).includes(net));
    const extra = networks === null || !sameContainer ? [] : others(had, nets);
    const isThere = sameContainer && missing.length + extra.length === 0;
    if (isThere && (state === 'running' || !start) && !send_signal)
      return unchanged(name, `Container '${name}' is already configured as specified`);
    const changes: PlainDict = {
      ...(sameContainer ? {} : { container_id: { [there ? 'replaced' : 'added']: name } }),
      ...(missing.length + extra.length > 0
        ? { networks: { ...named('added', missing), ...named('removed', extra) } }
        : {}),
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
        label: madeOf(createArgs(name, image, own), keyOf(id, settingsOfNets)),
      });
    }
    for (const net of missing)
      await salt('docker.connect_container_to_network')(name, net, settingsOfNets[net]);
    if (networks !== null)
      for (const net of others(await salt('docker.inspect_container')(name), nets))
        await salt('docker.disconnect_container_from_network')(name, net);
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

/** Renames the old container until the new one is created: after an error, the old one is unchanged. */
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

/**
 * Returns the networks that the container must be disconnected from; the host's own network cannot
 * be left.
 */
const others = (container: PlainDict, nets: readonly string[]): string[] =>
  joined(container).filter(net => !nets.includes(net) && net !== 'host' && net !== 'none');

const named = (key: string, names: string[]): PlainDict =>
  names.length > 0 ? { [key]: names } : {};

/** The definition of a container apart from its arguments: its image and networks. */
const keyOf = (imageId: string | false, networks: Networks): string =>
  Object.values(networks).some(settings => Object.keys(settings).length > 0)
    ? `${imageId} ${JSON.stringify(networks)}`
    : String(imageId);
