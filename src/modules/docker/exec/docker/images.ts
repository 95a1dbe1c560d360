import { CommandExecutionError, type Plain, type PlainDict } from '../../../api.ts';
import { textDict } from '../../docker-network-body.ts';
import { docker, dockerWith, inspect } from '../../docker-run.ts';
import { hiddenArgs } from '../../docker-secrets.ts';

export const __func_alias__ = { tag_: 'tag' };

/** Returns `name:tag`; like docker, the default tag is `latest`. */
const full = (image: string): string =>
  image.includes('@') || /:[^/]+$/.test(image) ? image : `${image}:latest`;

type RegistryOptions = {
  /** refused: that is a setting of the engine */
  insecure_registry?: boolean;
  /** accepted, but has no effect */
  api_response?: boolean;
  /** accepted, but has no effect */
  client_timeout?: number | null;
};

const checkRegistry = ({ insecure_registry }: RegistryOptions): void => {
  if (insecure_registry)
    throw new CommandExecutionError(
      'docker does not take insecure_registry: name the registry under insecure-registries in /etc/docker/daemon.json.',
    );
};

/**
 * Returns docker's information about an image.
 *
 * @param name the image
 * @example tsalt-ssh '*' docker.inspect_image nginx:1.25
 */
export const inspect_image = async (name: string): Promise<PlainDict> => {
  const found = await inspect('image', full(name));
  if (found) return found;
  throw new CommandExecutionError(`Image '${name}' does not exist`);
};

/**
 * Returns the id of an image; false if it is not present.
 *
 * @param name the image
 * @example tsalt-ssh '*' docker.resolve_image_id nginx
 */
export const resolve_image_id = async (name: string): Promise<string | false> =>
  String((await inspect('image', full(name)))?.Id ?? '') || false;

/**
 * Returns the tags of all images.
 *
 * @example tsalt-ssh '*' docker.list_tags
 */
export const list_tags = async (): Promise<string[]> =>
  (await docker('images', '--format={{.Repository}}:{{.Tag}}'))
    .split('\n')
    .filter(line => line !== '' && !line.includes('<none>'))
    .sort();

/**
 * Fetches an image from a registry.
 *
 * @param image the image
 * @example tsalt-ssh '*' docker.pull nginx:1.25
 */
export const pull = async (
  image: string,
  options: RegistryOptions = {},
): Promise<{ Id: string; Status: string }> => {
  checkRegistry(options);
  const before = await resolve_image_id(image);
  await docker('pull', '--quiet', full(image));
  const Id = String(await resolve_image_id(image));
  return { Id, Status: before === Id ? 'Already_Pulled' : 'Pulled' };
};

/**
 * Loads images from a file that `docker save` wrote. Returns docker's output.
 *
 * @param path the file
 * @param repository the new name of the image
 * @param tag and this tag
 * @example tsalt-ssh '*' docker.load /srv/app.tar repository=app tag=1.0
 */
export const load = async (
  path: string,
  { repository = null, tag = null }: { repository?: string | null; tag?: string | null } = {},
): Promise<string> => {
  const said = (await docker('load', '--quiet', `--input=${path}`)).trim();
  const [, image] = /^Loaded image(?: ID)?: (\S+)/m.exec(said) ?? [];
  if (repository && image) await docker('tag', '--', image, `${repository}:${tag ?? 'latest'}`);
  return said;
};

/**
 * Adds a tag to an image.
 *
 * @param name the image
 * @param repository the further name
 * @param tag its tag
 * @param force accepted for compatibility: docker always moves a tag
 * @example tsalt-ssh '*' docker.tag app:1.0 registry.example.com/app tag=1.0
 */
export const tag_ = async (
  name: string,
  repository: string,
  tag = 'latest',
  { force: _force = false }: { force?: boolean } = {},
): Promise<true> => {
  await docker('tag', '--', full(name), `${repository}:${tag}`);
  return true;
};

/**
 * Sends an image to its registry.
 *
 * @param image the image
 * @example tsalt-ssh '*' docker.push registry.example.com/app:1.0
 */
export const push = async (image: string, options: RegistryOptions = {}): Promise<string> => {
  checkRegistry(options);
  return (await docker('push', '--', full(image))).trim();
};

/**
 * Builds an image.
 *
 * @param path the folder with its Dockerfile
 * @param repository the image's name
 * @param tag the image's tag
 * @param dockerfile another name of the Dockerfile
 * @param cache false: use no layer built before
 * @param rm false: keep the intermediate containers
 * @param api_response accepted, but has no effect
 * @param buildargs values of the Dockerfile's ARGs
 * @example tsalt-ssh '*' docker.build /srv/app repository=app tag=1.0
 */
export const build = async (
  path: string,
  {
    repository = null,
    tag = 'latest',
    cache = true,
    rm = true,
    api_response: _ = false,
    dockerfile = null,
    buildargs = null,
  }: {
    repository?: string | null;
    tag?: string;
    cache?: boolean;
    rm?: boolean;
    api_response?: boolean;
    dockerfile?: string | null;
    buildargs?: Plain;
  } = {},
): Promise<{ Id: string; Image?: string }> => {
  const Image = repository ? `${repository}:${tag}` : undefined;
  const { words, env } = hiddenArgs(textDict(buildargs) ?? {});
  const { stdout } = await dockerWith(
    { env },
    ...['build', '--quiet'],
    ...(Image ? [`--tag=${Image}`] : []),
    ...(dockerfile
      ? [`--file=${dockerfile.startsWith('/') ? dockerfile : `${path}/${dockerfile}`}`]
      : []),
    ...(cache ? [] : ['--no-cache']),
    ...(rm ? [] : ['--rm=false']),
    ...words,
    '--',
    path,
  );
  return { Id: stdout.trim(), ...(Image ? { Image } : {}) };
};

/**
 * Removes images.
 *
 * @param names the images
 * @param force true: also while a stopped container needs it
 * @example tsalt-ssh '*' docker.rmi nginx:1.25
 */
export const rmi = async (
  names: string | string[],
  { force = false }: { force?: boolean } = {},
): Promise<string[]> => {
  const all = Array.isArray(names) ? names : [names];
  const text = await docker('rmi', ...(force ? ['--force'] : []), ...all.map(full));
  return text.split('\n').filter(line => line !== '');
};
