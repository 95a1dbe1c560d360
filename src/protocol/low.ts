import type { Plain } from './plain.ts';

/**
 * A low chunk as the host receives it: state module, function, name and arguments, flat, with
 * Salt's own keys (`__id__`, `__sls__`, `__env__`, `order`, requisites resolved to lists).
 */
export type LowChunk = {
  state: string;
  fun: string;
  name: Plain;
  __id__: string;
  __sls__: string;
  __env__: string;
  order: number;
  [argument: string]: Plain;
};

/** Salt's tag of a chunk: `state_|-id_|-name_|-fun` (salt.utils.state.gen_tag). */
export const lowTag = (low: {
  state: unknown;
  __id__: unknown;
  name: unknown;
  fun: unknown;
}): string => `${low.state}_|-${low.__id__}_|-${nameText(low.name)}_|-${low.fun}`;

/** Returns the name as Python formats the YAML value. */
const nameText = (name: unknown): string => {
  if (name === null) return 'None';
  if (typeof name === 'boolean') return name ? 'True' : 'False';
  return String(name);
};
