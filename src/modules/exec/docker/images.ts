import { CommandExecutionError, type PlainDict } from '../../api.ts';
import { docker, inspect } from '../../lib/docker-run.ts';

/** `name:tag`; without a tag it is `latest`, as docker reads it. */
const full = (image: string): string =>
  image.includes('@') || /:[^/]+$/.test(image) ? image : `${image}:latest`;

/**
 * All that docker knows of an image.
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
 * The id of an image; false when it is not here.
 *
 * @param name the image
 * @example tsalt-ssh '*' docker.resolve_image_id nginx
 */
export const resolve_image_id = async (name: string): Promise<string | false> =>
  String((await inspect('image', full(name)))?.Id ?? '') || false;

/**
 * The images with their tags.
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
export const pull = async (image: string): Promise<{ Id: string; Status: string }> => {
  const before = await resolve_image_id(image);
  await docker('pull', '--quiet', full(image));
  const Id = String(await resolve_image_id(image));
  return { Id, Status: before === Id ? 'Already_Pulled' : 'Pulled' };
};

/**
 * Takes images out of a file that `docker save` wrote.
 *
 * @param path the file
 * @example tsalt-ssh '*' docker.load /srv/app.tar
 */
export const load = async (path: string): Promise<string> =>
  (await docker('load', '--quiet', `--input=${path}`)).trim();

/**
 * Builds an image.
 *
 * @param path the folder with its Dockerfile
 * @param repository the image's name
 * @param tag the image's tag
 * @param dockerfile another name of the Dockerfile
 * @param cache false: use no layer built before
 * @example tsalt-ssh '*' docker.build /srv/app repository=app tag=1.0
 */
export const build = async (
  path: string,
  {
    repository = null,
    tag = 'latest',
    dockerfile = null,
    cache = true,
  }: {
    repository?: string | null;
    tag?: string;
    dockerfile?: string | null;
    cache?: boolean;
  } = {},
): Promise<{ Id: string; Image?: string }> => {
  const Image = repository ? `${repository}:${tag}` : undefined;
  const Id = await docker(
    ...['build', '--quiet'],
    ...(Image ? [`--tag=${Image}`] : []),
    ...(dockerfile
      ? [`--file=${dockerfile.startsWith('/') ? dockerfile : `${path}/${dockerfile}`}`]
      : []),
    ...(cache ? [] : ['--no-cache']),
    '--',
    path,
  );
  return { Id: Id.trim(), ...(Image ? { Image } : {}) };
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
