/** Manages which program a generic command name points to, with `update-alternatives`. */

import { failed, newReturn } from '../../_shared/states/returns.ts';
import { isPathToCome } from '../../_shared/states/to-come.ts';
import { __opts__, __salt__, type StateReturn, untyped } from '../../api.ts';

const ask = async (fun: string, ...args: unknown[]): Promise<string> =>
  (await untyped(__salt__)[`alternatives.${fun}`]?.(...args)) || '';

/**
 * Makes sure that a path is registered as an alternative of a name.
 *
 * @param name the name
 * @param link the link that users see
 * @param path the path
 * @param priority the highest one wins in auto mode
 *
 * @example
 * editor:
 *   alternatives.install:
 *     - link: /usr/bin/editor
 *     - path: /usr/bin/vim
 *     - priority: 50
 */
export const install = async (
  name: string,
  link: string,
  path: string,
  priority: number | string,
): Promise<StateReturn> => {
  const ret = { ...newReturn(name), link, path, priority };
  if (await ask('check_exists', name, path))
    return { ...ret, comment: `Alternative ${path} for ${name} is already registered` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      comment: `Alternative will be set for ${name} to ${path} with priority ${priority}`,
    };
  const out = await ask('install', name, link, path, priority);
  if (!(await ask('check_exists', name, path)))
    return failed(ret, `Alternative for ${name} not installed: ${out}`);
  const comment = (await ask('check_installed', name, path))
    ? `Alternative for ${name} set to path ${path} with priority ${priority}`
    : `Alternative ${path} for ${name} registered with priority ${priority} and not set to default`;
  return { ...ret, changes: { name, link, path, priority }, comment };
};

/**
 * Makes sure that a path is not an alternative of a name.
 *
 * @param name the name
 * @param path the path
 *
 * @example
 * editor:
 *   alternatives.remove:
 *     - path: /usr/bin/nano
 */
export const remove = async (name: string, path: string): Promise<StateReturn> => {
  const ret = { ...newReturn(name), path };
  if (await ask('check_exists', name, path)) {
    if (__opts__.test)
      return { ...ret, result: null, comment: `Alternative for ${name} will be removed` };
    await ask('remove', name, path);
    const current = await ask('show_current', name);
    return current
      ? {
          ...ret,
          changes: { path: current },
          comment: `Alternative for ${name} removed. Falling back to path ${current}`,
        }
      : { ...ret, comment: `Alternative for ${name} removed` };
  }
  const current = await ask('show_current', name);
  return current
    ? { ...ret, comment: `Alternative for ${name} is set to it's default path ${current}` }
    : failed(ret, `Alternative for ${name} doesn't exist`);
};

/**
 * Makes sure that a name is in auto mode: it points to the path with the highest priority.
 *
 * @param name the name
 *
 * @example
 * editor:
 *   alternatives.auto: []
 */
export const auto = async (name: string): Promise<StateReturn> => {
  const ret = newReturn(name);
  const isAuto = async (): Promise<boolean> =>
    (await ask('display', name)).split('\n')[0]?.endsWith(' auto mode') === true;
  if (await isAuto()) return { ...ret, comment: `${name} already in auto mode` };
  if (__opts__.test) return { ...ret, result: null, comment: `${name} will be put in auto mode` };
  const said = await ask('auto', name);
  return (await isAuto()) ? { ...ret, changes: { result: said } } : failed(ret, said);
};

/**
 * Makes sure that a name points to a registered path.
 *
 * @param name the name
 * @param path the path
 *
 * @example
 * editor:
 *   alternatives.set:
 *     - path: /usr/bin/vim
 */
export const set = async (name: string, path: string): Promise<StateReturn> => {
  const ret = { ...newReturn(name), path };
  if ((await ask('show_current', name)) === path)
    return { ...ret, comment: `Alternative for ${name} already set to ${path}` };
  const will = `Alternative for ${name} will be set to path ${path}`;
  if (isPathToCome(path)) return { ...ret, result: null, comment: will };
  if (!(await ask('check_exists', name, path)))
    return failed(ret, `Alternative ${path} for ${name} doesn't exist`);
  if (__opts__.test) return { ...ret, result: null, comment: will };
  await ask('set', name, path);
  const current = await ask('show_current', name);
  return current === path
    ? {
        ...ret,
        changes: { path: current },
        comment: `Alternative for ${name} set to path ${current}`,
      }
    : failed(ret, `Alternative for ${name} not updated`);
};
