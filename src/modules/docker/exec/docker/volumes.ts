import { plainStr } from '../../../_shared/text/python-text.ts';
import type { Plain, PlainDict } from '../../../api.ts';
import { askEngine } from '../../docker-engine.ts';
import { textDict } from '../../docker-network-body.ts';
import { docker, inspect } from '../../docker-run.ts';

/**
 * Returns docker's information about a volume; null if it does not exist.
 *
 * @param name the volume
 * @example tsalt-ssh '*' docker.inspect_volume data
 */
export const inspect_volume = async (name: string): Promise<PlainDict | null> =>
  (await inspect('volume', name)) ?? null;

/**
 * Returns the existing volumes with docker's information about each: `{Volumes: […], Warnings: …}`.
 *
 * @param filters only those: as `{dangling: true, label: [role=web]}`
 * @example tsalt-ssh '*' docker.volumes
 */
export const volumes = async (filters: PlainDict | null = null): Promise<PlainDict> => {
  const only = Object.entries(filters ?? {}).map(([key, value]) => [
    key,
    [value].flat().map(one => (typeof one === 'boolean' ? String(one) : plainStr(one))),
  ]);
  const query = encodeURIComponent(JSON.stringify(Object.fromEntries(only)));
  return (await askEngine('GET', `/volumes?filters=${query}`, {})) as PlainDict;
};

/**
 * Creates a volume and returns docker's information about it.
 *
 * @param name the volume
 * @param driver its driver
 * @param driver_opts options of the driver: a dict, a list of dicts or of `name=value`
 * @example tsalt-ssh '*' docker.create_volume data driver=local
 */
export const create_volume = async (
  name: string,
  { driver = null, driver_opts = null }: { driver?: string | null; driver_opts?: Plain } = {},
): Promise<PlainDict | null> => {
  const DriverOpts = textDict(driver_opts);
  await askEngine('POST', '/volumes/create', {
    Name: name,
    ...(driver ? { Driver: driver } : {}),
    ...(DriverOpts ? { DriverOpts } : {}),
  });
  return inspect_volume(name);
};

/**
 * Removes a volume.
 *
 * @param name the volume
 * @example tsalt-ssh '*' docker.remove_volume data
 */
export const remove_volume = async (name: string): Promise<true> => {
  await docker('volume', 'rm', '--', name);
  return true;
};
