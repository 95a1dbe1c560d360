import { isDeepStrictEqual } from 'node:util';
import { salt } from '../../../_shared/states/call.ts';
import { toList } from '../../../_shared/states/values.ts';
import type { Plain, PlainDict } from '../../../api.ts';

type Difference = { old: Plain; new: Plain };

const isEmpty = (value: Plain | undefined): boolean =>
  !value || (typeof value === 'object' && Object.keys(value).length === 0);

/** Sorts lists whose order does not matter. */
const sorted = (item: string, value: Plain): Plain =>
  ['Env', 'Links', 'Ulimits'].includes(item) && Array.isArray(value)
    ? value.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
    : value;

/** Removes the container's name from links, which contain it. */
const withoutName = (item: string, value: Plain, name: string): Plain =>
  item === 'Links' && Array.isArray(value)
    ? value.map(link => String(link).replace(`/${name}/`, '/'))
    : value;

const differing = (keys: Iterable<string>, pick: (key: string) => Difference | undefined) => {
  const found: { [key: string]: Difference } = {};
  for (const key of new Set(keys)) {
    const difference = pick(key);
    if (difference) found[key] = difference;
  }
  return found;
};

/**
 * Returns the differences between the settings of two containers: `{Config: {Env: {old, new}},
 * HostConfig: {…}}`.
 *
 * @param first the one
 * @param second the other
 * @param ignore settings to leave out: a list, or a string separated by commas
 * @example tsalt-ssh '*' docker.compare_containers web web2 ignore=Hostname
 */
export const compare_containers = async (
  first: string,
  second: string,
  ignore: string | string[] | null = null,
): Promise<PlainDict> => {
  const [one, other]: PlainDict[] = [
    await salt('docker.inspect_container')(first),
    await salt('docker.inspect_container')(second),
  ];
  const left = toList(ignore);
  const ret: PlainDict = {};
  for (const part of ['Config', 'HostConfig']) {
    const [mine = {}, theirs = {}] = [one?.[part], other?.[part]] as (PlainDict | undefined)[];
    const images = await idsOf(mine.Image, theirs.Image);
    const found = differing([...Object.keys(mine), ...Object.keys(theirs)], item => {
      if (left.includes(item)) return undefined;
      const pair =
        item === 'Image'
          ? images
          : {
              old: sorted(item, withoutName(item, mine[item] ?? null, first)),
              new: sorted(item, withoutName(item, theirs[item] ?? null, second)),
            };
      const byTruth = item === 'OomKillDisable' || pair.old === null || pair.new === null;
      const isSame = byTruth
        ? isEmpty(pair.old) === isEmpty(pair.new)
        : isDeepStrictEqual(pair.old, pair.new);
      return isSame ? undefined : pair;
    });
    if (Object.keys(found).length > 0) ret[part] = found;
  }
  return ret;
};

/** Old name of `docker.compare_containers`. */
export const compare_container = compare_containers;

const idsOf = async (one: Plain = null, other: Plain = null): Promise<Difference> => {
  if (one === null || other === null) return { old: one, new: other };
  const [before, after]: PlainDict[] = [
    await salt('docker.inspect_image')(one),
    await salt('docker.inspect_image')(other),
  ];
  return { old: before?.Id ?? null, new: after?.Id ?? null };
};

/**
 * Returns the differences between the settings of two networks.
 *
 * @param first the one
 * @param second the other
 * @param ignore keys to leave out: a list, or a string separated by commas
 * @example tsalt-ssh '*' docker.compare_networks inside outside
 */
export const compare_networks = async (
  first: string,
  second: string,
  ignore: string | string[] = 'Name,Id,Created,Containers',
): Promise<PlainDict> => {
  const [one = {}, other = {}]: PlainDict[] = [
    await salt('docker.inspect_network')(first),
    await salt('docker.inspect_network')(second),
  ];
  const left = toList(ignore);
  const found: PlainDict = differing([...Object.keys(one), ...Object.keys(other)], item =>
    left.includes(item) || item === 'IPAM' || item === 'Options'
      ? undefined
      : pairOf(one[item], other[item]),
  );
  for (const item of ['IPAM', 'Options'].filter(key => !left.includes(key))) {
    const [mine, theirs] = [one[item] ?? {}, other[item] ?? {}] as [PlainDict, PlainDict];
    const inner = differing([...Object.keys(mine), ...Object.keys(theirs)], key =>
      key === 'com.docker.network.bridge.name' ? undefined : pairOf(mine[key], theirs[key]),
    );
    if (Object.keys(inner).length > 0) found[item] = inner;
  }
  return found;
};

const pairOf = (one: Plain = null, other: Plain = null): Difference | undefined =>
  (isEmpty(one) && isEmpty(other)) || isDeepStrictEqual(one, other)
    ? undefined
    : { old: one, new: other };
