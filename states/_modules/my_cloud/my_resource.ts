/**
 * A resource of an HTTP API under Idem's contract `auto_state`: these five functions are all
 * there is, the states `my_cloud.my_resource.present`, `.absent` and `.describe` come of them.
 * The option `my_cloud.url` says where the API is.
 *
 * @maturity example
 */
import { __opts__, CommandExecutionError, ctx, log, type PlainDict } from 'tsalt-ssh/module';

export const __contracts__ = ['auto_state', 'soft_fail'];
export const __func_alias__ = { list_: 'list', delete_: 'delete' };

type Answer<T> = { result: boolean; comment: string; ret: T };

const done = <T>(ret: T, comment = ''): Answer<T> => ({ result: true, comment, ret });

/** One request to the API; the answer's body, or undefined where the API says 404. */
const request = async (method: string, path: string, body?: PlainDict): Promise<unknown> => {
  const url = new URL(path, String(__opts__['my_cloud.url']));
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, ...init });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new CommandExecutionError(`${method} ${url}: HTTP ${response.status}`);
  return response.json();
};

const pathOf = (name: string): string => `resources/${encodeURIComponent(name)}`;

/**
 * Describes one resource; an empty dictionary when there is none.
 *
 * @param name the resource
 */
export const get = async (name: string): Promise<Answer<PlainDict>> =>
  done(((await request('GET', pathOf(name))) ?? {}) as PlainDict);

/** Describes all resources by name. */
export const list_ = async (): Promise<Answer<PlainDict>> =>
  done((await request('GET', 'resources')) as PlainDict);

/**
 * Creates a resource that does not exist.
 *
 * @param name the resource
 * @param size how large it is to be
 * @param tags labels for it
 */
export const create = async (
  name: string,
  { size = 1, tags = {} }: { size?: number; tags?: Record<string, string> } = {},
): Promise<Answer<null>> => {
  await request('PUT', pathOf(name), { size, tags });
  return done(null, `Created '${name}'`);
};

/**
 * Changes a resource that exists; what is not given stays as it was.
 *
 * @param name the resource
 * @param size how large it is to be
 * @param tags labels for it
 */
export const update = async (
  name: string,
  { size, tags }: { size?: number; tags?: Record<string, string> } = {},
): Promise<Answer<null>> => {
  const before = ctx.before as { size: number; tags: Record<string, string> };
  log.debug(`${name} was`, before);
  await request('PUT', pathOf(name), { size: size ?? before.size, tags: tags ?? before.tags });
  return done(null, `Updated '${name}'`);
};

/**
 * Deletes a resource that exists.
 *
 * @param name the resource
 */
export const delete_ = async (name: string): Promise<Answer<null>> => {
  await request('DELETE', pathOf(name));
  return done(null, `Deleted '${name}'`);
};
