import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { backward, declaredIn, forward, moduleOf, referencesOf } from './high.ts';

/** Resolves `.common` in the SLS `web.nginx` to `web.common`. */
const absoluteSls = (relative: string, sls: string): string => {
  const [, dots = '', rest = ''] = /^(\.+)(.*)$/s.exec(relative) ?? [];
  const parts = sls.split('.');
  if (dots.length > parts.length)
    throw new TypeError(`'${relative}' goes beyond the top level of '${sls}'`);
  return [...parts.slice(0, parts.length - dots.length), rest].join('.');
};

/**
 * Resolves `.id` in the SLS `web.nginx` to `web.nginx::id`, and `.other::id` to `web.other::id`.
 */
const absoluteId = (id: string, sls: string): string => {
  if (id.includes('::')) return absoluteSls(id, sls);
  const whole = absoluteSls(id, `${sls}.`);
  const dot = whole.lastIndexOf('.');
  return dot < 0 ? whole : `${whole.slice(0, dot)}::${whole.slice(dot + 1)}`;
};

/** Resolves includes and excludes that begin with a dot, relative to this SLS. */
export const absoluteIncludes = (data: Dict, sls: string, saltenv: string): void => {
  const includes = data.get('include');
  if (Array.isArray(includes))
    includes.forEach((item, index) => {
      const [pair] = isDict(item) ? item : [];
      const [env, name] = pair ?? [saltenv, item];
      if (typeof name === 'string' && name.startsWith('.'))
        includes[index] = new Map([[env, absoluteSls(name, sls)]]);
    });
  const excludes = data.get('exclude');
  for (const item of Array.isArray(excludes) ? excludes : []) {
    const name = isDict(item) ? item.get('sls') : undefined;
    if (isDict(item) && typeof name === 'string' && name.startsWith('.'))
      item.set('sls', absoluteSls(name, sls));
  }
};

const renamed = [...forward, ...backward, 'use', 'use_in'];

/**
 * Adds the name of the SLS to ids that begin with a dot and to references to them; the `name` of
 * such a state stays the part after the dot. Renamed states come last, as in Salt.
 */
export const absoluteIds = (data: Dict, sls: string, isExtend = false): void => {
  const extend = data.get('extend');
  if (!isExtend && isDict(extend ?? null)) absoluteIds(extend as Dict, sls, true);
  for (const { args } of declaredIn(data))
    for (const { item, key, value } of referencesOf(args, renamed))
      if (typeof value === 'string' && value.startsWith('.')) item.set(key, absoluteId(value, sls));
  for (const [key, states] of [...data]) {
    const id = String(key);
    if (!id.startsWith('.')) continue;
    const fresh = absoluteId(id, sls);
    if (data.has(fresh))
      throw new TypeError(`the id '${id}' cannot become '${fresh}': there is one of that name`);
    if (isDict(states)) for (const [name, args] of states) nameIt(String(name), args, id.slice(1));
    data.set(fresh, states);
    data.delete(key);
  }
};

const nameIt = (state: string, args: Data, name: string): void => {
  if (moduleOf(state) === 'stateconf' || !Array.isArray(args)) return;
  const hasName = args.some(arg => isDict(arg) && arg.keys().next().value === 'name');
  if (!hasName) args.unshift(new Map([['name', name]]));
};
