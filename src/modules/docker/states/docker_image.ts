/** Manages Docker images. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type Plain, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.pull') || [false, 'docker is not installed.'];

/**
 * Makes sure that an image is present: pulled from its registry, built, or loaded from a file.
 *
 * @param name the image, optionally with its tag
 * @param tag its tag; `build` and `load` need one
 * @param build a folder with a Dockerfile to build it from
 * @param load a file that `docker save` wrote, also `salt://`
 * @param force true: fetch, build or load it again
 * @param dockerfile another name of the Dockerfile
 * @param insecure_registry refused: that is a setting of the engine
 * @param client_timeout accepted, but has no effect
 * @param sls refused: an image is built from a Dockerfile
 * @unknown ignored
 * @example
 * nginx:
 *   docker_image.present:
 *     - tag: '1.25'
 */
export const present = async (
  name: string,
  {
    tag = null,
    build = null,
    load = null,
    force = false,
    dockerfile = null,
    insecure_registry = false,
    client_timeout: _timeout = null,
    sls = null,
  }: {
    tag?: string | number | null;
    build?: string | null;
    load?: string | null;
    force?: boolean;
    dockerfile?: string | null;
    insecure_registry?: boolean;
    client_timeout?: number | null;
    sls?: Plain;
  } = {},
): Promise<StateReturn> => {
  if (sls !== null)
    return failed(
      name,
      'docker_image.present cannot build an image by sls: write a Dockerfile and name its folder in build.',
    );
  if (insecure_registry)
    return failed(
      name,
      'docker_image.present does not take insecure_registry: name the registry under insecure-registries in /etc/docker/daemon.json.',
    );
  if (build && load) return failed(name, "Only one of 'build', 'load', or 'sls' is permitted.");
  if ((build || load) && tag === null)
    return failed(
      name,
      "The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used.",
    );
  const image = fullName(name, tag);
  try {
    const before: string | false = await salt('docker.resolve_image_id')(image);
    if (before && !force) return unchanged(name, `Image ${image} already present`);
    const deed = build ? 'built' : load ? 'loaded' : 'pulled';
    if (__opts__.test)
      return would(
        name,
        `Image ${image} will be ${deed}`,
        inPlan({ [image]: { old: before || null, new: deed } }),
      );
    if (build) {
      const cut = image.lastIndexOf(':');
      const options = { repository: image.slice(0, cut), tag: image.slice(cut + 1), dockerfile };
      await salt('docker.build')(build, options);
    } else if (load) {
      const path = load.includes('://') ? await __salt__['cp.cache_file'](load) : load;
      if (!path) return failed(name, `Image file ${load} was not found`);
      await salt('docker.load')(path, { repository: name, tag: String(tag) });
    } else await salt('docker.pull')(image);
    const after: string | false = await salt('docker.resolve_image_id')(image);
    if (!after) return failed(name, `Image ${image} is still not here after it was ${deed}`);
    if (before === after)
      return unchanged(name, `Image ${image} was ${deed}, but there were no changes`);
    return changed(name, `Image ${image} was ${deed}`, {
      [image]: { old: before || null, new: after },
    });
  } catch (error) {
    return failed(name, `Encountered error with ${image}: ${messageOf(error)}`);
  }
};

const fullName = (name: string, tag: string | number | null): string =>
  tag !== null
    ? `${name}:${tag}`
    : name.includes('@') || /:[^/]+$/.test(name)
      ? name
      : `${name}:latest`;

/**
 * Makes sure that images are not present.
 *
 * @param name the image
 * @param images several of them
 * @param force true: also while a stopped container needs it
 * @example
 * nginx:1.19:
 *   docker_image.absent
 */
export const absent = async (
  name: string,
  { images = null, force = false }: { images?: string[] | null; force?: boolean } = {},
): Promise<StateReturn> => {
  const targets = images ?? [name];
  try {
    const here: string[] = [];
    for (const image of targets) if (await salt('docker.resolve_image_id')(image)) here.push(image);
    if (here.length === 0)
      return unchanged(
        name,
        targets.length === 1
          ? `Image ${targets[0]} is not present`
          : 'All specified images are not present',
      );
    if (__opts__.test)
      return would(
        name,
        `The following image(s) will be removed: ${here.join(', ')}`,
        inPlan({ removed: here }),
      );
    const removed = await salt('docker.rmi')(here, { force });
    return changed(name, `The following image(s) were removed: ${here.join(', ')}`, { removed });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Pulls, builds or loads an image again after a watched state changed.
 *
 * @param name the image
 */
export const mod_watch = async (
  name: string,
  { sfun = null, ...options }: { sfun?: string | null; [argument: string]: Plain | undefined } = {},
): Promise<StateReturn> =>
  sfun === 'present'
    ? present(name, { ...(options as Parameters<typeof present>[1]), force: true })
    : failed(name, `watch requisite is not implemented for ${sfun}`);
