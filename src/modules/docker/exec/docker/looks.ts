import { isPlainDict } from '../../../../protocol/plain.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';
import { askEngine } from '../../docker-engine.ts';
import { listResponse, named, shownImages, sizeText } from '../../docker-results.ts';
import { docker, inspect as inspectOne } from '../../docker-run.ts';
import { inspect_image } from './images.ts';

export const __func_alias__ = { ps_: 'ps' };

const get = async (path: string): Promise<unknown> => askEngine('GET', path, {});

const part = (name: string): string => encodeURIComponent(name);

/**
 * Returns the containers by id, with docker's information about each.
 *
 * @param filters only those: as `{label: [role=web], status: exited}`
 * @param all true: also those that do not run
 * @param verbose true: with all that docker knows, as `Info`
 * @example tsalt-ssh '*' docker.ps all=True
 */
export const ps_ = async ({
  filters = null,
  all = false,
  verbose = false,
}: {
  filters?: PlainDict | null;
  all?: boolean;
  verbose?: boolean;
} = {}): Promise<PlainDict> => {
  const only = Object.entries(filters ?? {}).map(([key, value]) => [
    key,
    [value].flat().map(String),
  ]);
  const query = only.length > 0 ? `&filters=${part(JSON.stringify(Object.fromEntries(only)))}` : '';
  const found = listResponse(await get(`/containers/json?all=1${query}`));
  const running = found.filter(({ Status }) => /^up /i.test(String(Status)));
  const rest = all ? found.filter(one => !running.includes(one)) : [];
  const list = named([...running, ...rest]);
  if (verbose)
    for (const [id, one] of Object.entries(list))
      (one as PlainDict).Info = (await inspectOne('container', id)) ?? null;
  return list;
};

/**
 * Returns the images by id, with docker's information about each.
 *
 * @param verbose true: with all that docker knows, as `Info`
 * @param all true: also those without a tag, and layers
 * @example tsalt-ssh '*' docker.images
 */
export const images = async ({
  verbose = false,
  all = false,
}: {
  verbose?: boolean;
  all?: boolean;
} = {}): Promise<PlainDict> => {
  const found = listResponse(await get(`/images/json?all=${all ? 1 : 0}`));
  const list = shownImages(found, all);
  if (verbose)
    for (const [id, one] of Object.entries(list)) (one as PlainDict).Info = await inspect_image(id);
  return list;
};

/**
 * Returns docker's information about a container, an image, a volume or a network of this name.
 *
 * @param name the name
 * @example tsalt-ssh '*' docker.inspect web
 */
export const inspect = async (name: string): Promise<PlainDict> => {
  for (const kind of ['container', 'image', 'volume', 'network'] as const) {
    const found = await inspectOne(kind, name);
    if (found) return found;
  }
  throw new CommandExecutionError(`Error 404: No such image/container/volume/network: ${name}`);
};

/**
 * Returns the tag of an image, or its id if it has none; false if it is not present.
 *
 * @param name the image
 * @param all true: all its tags, as a list
 * @example tsalt-ssh '*' docker.resolve_tag nginx all=True
 */
export const resolve_tag = async (
  name: string,
  { all = false }: { all?: boolean } = {},
): Promise<string | string[] | false> => {
  const found = await inspectOne('image', name);
  if (!found) return false;
  const tags = (found.RepoTags ?? []) as string[];
  const known = tags.length > 0 ? tags : [String(found.Id)];
  return all ? known : (known[0] ?? false);
};

/**
 * Returns the files that changed in a container: lists of paths, `Changed`, `Added` and `Deleted`.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.diff web
 */
export const diff = async (name: string): Promise<PlainDict> => {
  const kinds = ['Changed', 'Added', 'Deleted'];
  const answer: { [kind: string]: Plain[] } = {};
  for (const { Kind, Path } of listResponse(await get(`/containers/${part(name)}/changes`))) {
    const kind = kinds[Number(Kind)] ?? 'Unknown';
    answer[kind] = [...(answer[kind] ?? []), Path ?? null];
  }
  return answer;
};

/**
 * Returns the build history of an image, beginning with the first step.
 *
 * @param name the image
 * @param quiet true: the commands only
 * @example tsalt-ssh '*' docker.history nginx:1.25
 */
export const history = async (name: string, quiet = false): Promise<Plain[]> => {
  const steps = listResponse(await get(`/images/${part(name)}/history`)).toReversed();
  const shown = steps.map(({ CreatedBy, Created, ...rest }) => ({
    ...rest,
    Time_Created_Epoch: Created ?? null,
    Command: String(CreatedBy ?? '').replace(/^\/bin\/sh -c (?:#\(nop\) )?/, '') || 'FROM scratch',
    Size_Human: sizeText(Number(rest.Size ?? 0)),
  }));
  return quiet ? shown.map(({ Command }) => Command) : shown;
};

/**
 * Returns the host addresses of a container's ports: `{80/tcp: [{HostIp, HostPort}]}`.
 *
 * @param name the container; with `*` or `?` several, by name
 * @param private_port only this one, as `80` or `80/udp`
 * @example tsalt-ssh '*' docker.port web 80/tcp
 */
export const port = async (
  name: string,
  private_port: string | number | null = null,
): Promise<PlainDict> => {
  const [, number, protocol] = /^(\d+)(?:\/(tcp|udp))?$/i.exec(String(private_port ?? 0)) ?? [];
  if (number === undefined)
    throw new SaltInvocationError(
      `Invalid private_port '${private_port}'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)`,
    );
  const isAsked = (one: string): boolean =>
    private_port === null ||
    (protocol ? one === `${number}/${protocol.toLowerCase()}` : one.startsWith(`${number}/`));
  const portsOf = async (container: string): Promise<PlainDict> => {
    const found = await inspectOne('container', container);
    if (!found) throw new CommandExecutionError(`Container '${container}' does not exist`);
    const { Ports } = (found.NetworkSettings ?? {}) as { Ports?: PlainDict };
    return Object.fromEntries(Object.entries(Ports ?? {}).filter(([one]) => isAsked(one)));
  };
  if (!/[*?[]/.test(name)) return portsOf(name);
  const pattern = new RegExp(
    `^${name
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
  const all = (await docker('ps', '--all', '--format={{.Names}}')).split('\n');
  const answer: PlainDict = {};
  for (const one of all.filter(each => each !== '' && pattern.test(each)))
    answer[one] = await portsOf(one);
  return answer;
};

/**
 * Returns the processes of a container.
 *
 * @param name the container
 * @example tsalt-ssh '*' docker.top web
 */
export const top = async (name: string): Promise<PlainDict[]> => {
  const { Titles, Processes } = (await get(`/containers/${part(name)}/top`)) as {
    Titles: string[];
    Processes: string[][];
  };
  return Processes.map(process =>
    Object.fromEntries(Titles.map((title, at) => [title, process[at] ?? ''])),
  );
};

/**
 * Returns the ids of an image's layers, beginning with the first.
 *
 * @param name the image
 * @example tsalt-ssh '*' docker.layers nginx:1.25
 */
export const layers = async (name: string): Promise<string[]> =>
  (await docker('history', '--quiet', '--', name)).split('\n').filter(Boolean).toReversed();

/**
 * Returns the ids of images that have no tag and are not the base of another image.
 *
 * @param prune true: remove them
 * @param force true: also while a stopped container needs one
 * @example tsalt-ssh '*' docker.dangling prune=True
 */
export const dangling = async (prune = false, force = false): Promise<Plain> => {
  const ids = (await docker('images', '--quiet', '--filter=dangling=true')).split('\n');
  const found = [...new Set(ids.filter(Boolean))];
  if (!prune) return found;
  const answer: PlainDict = {};
  for (const id of found)
    try {
      const said = await docker('rmi', ...(force ? ['--force'] : []), '--', id);
      answer[id] = { Removed: said.split('\n').filter(Boolean) };
    } catch (error) {
      answer[id] = { Comment: (error as Error).message, Removed: false };
    }
  return answer;
};

/**
 * Returns the containers and images that depend on an image.
 *
 * @param name the image
 * @example tsalt-ssh '*' docker.depends nginx:1.25
 */
export const depends = async (
  name: string,
): Promise<{ Containers: string[]; Images: string[] }> => {
  const { Id } = await inspect_image(name);
  const all = listResponse(await get('/containers/json?all=1'));
  const parts = listResponse(await get('/images/json?all=1'));
  return {
    Containers: all
      .filter(({ ImageID }) => ImageID === Id)
      .flatMap(({ Names }) => (Names as string[]).map(one => one.replace(/^\//, ''))),
    Images: parts.filter(({ ParentId }) => ParentId === Id).map(one => String(one.Id).slice(0, 12)),
  };
};

/**
 * Returns the names of the containers in a network.
 *
 * @param name the network
 * @param verbose true: a dict with their addresses
 * @example tsalt-ssh '*' docker.connected front
 */
export const connected = async (name: string, verbose = false): Promise<string[] | PlainDict> => {
  const found = await inspectOne('network', name);
  if (!found) throw new CommandExecutionError(`Network '${name}' does not exist`);
  const list: PlainDict = {};
  for (const [Id, one] of Object.entries((found.Containers ?? {}) as PlainDict))
    if (isPlainDict(one) && one.Name !== undefined) {
      const { Name, ...rest } = one;
      list[String(Name)] = { ...rest, Id };
    }
  return verbose ? list : Object.keys(list);
};

/**
 * Searches Docker Hub for images.
 *
 * @param name the search term
 * @param official true: only official ones
 * @param trusted true: only those that Docker Hub builds
 * @example tsalt-ssh '*' docker.search centos official=True
 */
export const search = async (
  name: string,
  official = false,
  trusted = false,
): Promise<PlainDict> => {
  const found = listResponse(await get(`/images/search?term=${part(name)}`));
  if (found.length === 0)
    throw new CommandExecutionError(`No images matched the search string '${name}'`);
  const wanted = found.filter(
    one => (!official && !trusted) || (official && one.is_official) || (trusted && one.is_trusted),
  );
  return Object.fromEntries(
    wanted.map(({ name: image, description, is_official, is_trusted, star_count, ...rest }) => [
      String(image),
      {
        Description: description ?? '',
        Official: is_official ?? false,
        Trusted: is_trusted ?? false,
        Stars: star_count ?? 0,
        ...rest,
      },
    ]),
  );
};
