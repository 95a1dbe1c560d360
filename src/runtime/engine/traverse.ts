/** Salt's `traverse_dict_and_list`: `a:b:0`, list items by number or by the first dict that has the key. */
export const traversePlain = (data: unknown, path: string, delimiter = ':'): unknown => {
  let at: unknown = data;
  for (const key of path.split(delimiter)) {
    at = Array.isArray(at) ? intoList(at, key) : own(at, key);
    if (at === undefined) return undefined;
  }
  return at;
};

const intoList = (list: readonly unknown[], key: string): unknown =>
  /^-?\d+$/.test(key)
    ? list.at(Number(key))
    : list.map(item => own(item, key)).find(item => item !== undefined);

const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
