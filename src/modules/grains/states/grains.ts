/** Manages grains of the host. */
import { isPlainDict } from '../../../protocol/plain.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { plainRepr, plainStr } from '../../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

/** Marks a grain that does not exist, to distinguish it from one that is null. */
const absentMark = '\0absent';

const grain = async (name: string): Promise<Plain | undefined> => {
  const value: Plain = await salt('grains.get')(name, absentMark);
  return value === absentMark ? undefined : value;
};

const same = (left: Plain | undefined, right: Plain): boolean =>
  left !== undefined && plainRepr(left) === plainRepr(right);

const pathOf = (name: string, delimiter: string): string => name.split(delimiter).join(':');

/**
 * Makes sure that a grain exists, whatever its value.
 *
 * @param name the grain or path
 * @param delimiter the separator of the path
 * @example
 * roles:
 *   grains.exists
 */
export const exists = async (
  name: string,
  { delimiter = ':' }: { delimiter?: string } = {},
): Promise<StateReturn> =>
  (await grain(pathOf(name, delimiter))) === undefined
    ? failed(name, 'Grain does not exist')
    : unchanged(name, 'Grain exists');

/**
 * Makes sure that a grain has this value, which is stored in the host's grains file.
 *
 * @param name the grain or path
 * @param value its value
 * @param delimiter the separator of the path
 * @param force true: a dict or list may be replaced
 * @example
 * datacenter:
 *   grains.present:
 *     - value: ams1
 */
export const present = async (
  name: string,
  { value, delimiter = ':', force = false }: { value: Plain; delimiter?: string; force?: boolean },
): Promise<StateReturn> => {
  const path = pathOf(name, delimiter);
  const now = await grain(path);
  if (same(now, value)) return unchanged(path, 'Grain is already set');
  if (__opts__.test)
    return now === undefined
      ? would(path, `Grain ${path} is set to be added`, { new: path })
      : would(path, `Grain ${path} is set to be changed`, { changed: { [path]: value } });
  const done: { comment: string; changes: PlainDict; result: boolean } = await salt('grains.set')(
    path,
    value,
    { force },
  );
  return done.result && Object.keys(done.changes).length > 0
    ? changed(path, `Set grain ${path} to ${plainStr(value)}`, done.changes)
    : { name: path, ...done };
};

/**
 * Makes sure that a list grain contains these values.
 *
 * @param name the grain or path
 * @param value a value, or a list of them
 * @param delimiter the separator of the path
 * @example
 * roles:
 *   grains.list_present:
 *     - value: web
 */
export const list_present = async (
  name: string,
  { value, delimiter = ':' }: { value: Plain; delimiter?: string },
): Promise<StateReturn> => {
  const path = pathOf(name, delimiter);
  const now = (await grain(path)) ?? [];
  const shown = plainStr(value);
  if (!Array.isArray(now) && now !== null && now !== '')
    return failed(path, `Grain ${path} is not a valid list`);
  const list = Array.isArray(now) ? now : [];
  const missing = (Array.isArray(value) ? value : [value]).filter(
    one => !list.some(other => same(other, one)),
  );
  if (missing.length === 0) return unchanged(path, `Value ${shown} is already in grain ${path}`);
  if (__opts__.test)
    return list.length > 0
      ? would(path, `Value ${shown} is set to be appended to grain ${path}`, { new: list })
      : would(path, `Grain ${path} is set to be added`, { new: list });
  const result: Plain = await salt('grains.append')(path, missing, { convert: true });
  return isPlainDict(result)
    ? changed(path, `Append value ${shown} to grain ${path}`, { new: result })
    : failed(path, `Failed append value ${shown} to grain ${path}`);
};

/**
 * Makes sure that a list grain contains none of these values.
 *
 * @param name the grain or path
 * @param value a value, or a list of them
 * @param delimiter the separator of the path
 * @example
 * roles:
 *   grains.list_absent:
 *     - value: db
 */
export const list_absent = async (
  name: string,
  { value, delimiter = ':' }: { value: Plain; delimiter?: string },
): Promise<StateReturn> => {
  const path = pathOf(name, delimiter);
  const now = await grain(path);
  if (now === undefined || now === null || (Array.isArray(now) && now.length === 0))
    return unchanged(path, `Grain ${path} does not exist`);
  if (!Array.isArray(now)) return failed(path, `Grain ${path} is not a valid list`);
  const comments: string[] = [];
  const deleted: Plain[] = [];
  for (const one of Array.isArray(value) ? value : [value]) {
    const shown = plainStr(one);
    if (!now.some(other => same(other, one))) {
      comments.push(`Value ${shown} is absent from grain ${path}`);
      continue;
    }
    deleted.push(one);
    if (!__opts__.test) await salt('grains.remove')(path, one);
    comments.push(
      __opts__.test
        ? `Value ${shown} in grain ${path} is set to be deleted`
        : `Value ${shown} was deleted from grain ${path}`,
    );
  }
  const comment = comments.join('\n');
  if (deleted.length === 0) return unchanged(path, comment);
  return __opts__.test ? would(path, comment, { deleted }) : changed(path, comment, { deleted });
};

/**
 * Makes sure that a grain has no value, or does not exist.
 *
 * @param name the grain or path
 * @param destructive true: remove it; false: set it to null
 * @param delimiter the separator of the path
 * @param force true: a dict or list may be removed
 * @example
 * rack:
 *   grains.absent:
 *     - destructive: true
 */
export const absent = async (
  name: string,
  {
    destructive = false,
    delimiter = ':',
    force = false,
  }: { destructive?: boolean; delimiter?: string; force?: boolean } = {},
): Promise<StateReturn> => {
  const path = pathOf(name, delimiter);
  const now = await grain(path);
  if (now === undefined || (now === null && !destructive))
    return unchanged(path, now === undefined ? `Grain ${path} does not exist` : '');
  const comment = destructive
    ? [`Grain ${path} is set to be deleted`, `Grain ${path} was deleted`]
    : [
        `Value for grain ${path} is set to be deleted (None)`,
        `Value for grain ${path} was set to None`,
      ];
  const changes: PlainDict = destructive ? { deleted: path } : { grain: path, value: null };
  if (__opts__.test) return would(path, comment[0] ?? '', changes);
  const done: { comment: string; changes: PlainDict; result: boolean } = await salt('grains.set')(
    path,
    null,
    { destructive, force },
  );
  return done.result ? changed(path, comment[1] ?? '', changes) : { name: path, ...done };
};

/**
 * Makes sure that an existing list grain contains a value.
 *
 * @param name the grain or path
 * @param value the value
 * @param convert true: turn a grain that is not a list into a list
 * @param delimiter the separator of the path
 * @example
 * roles:
 *   grains.append:
 *     - value: web
 */
export const append = async (
  name: string,
  {
    value,
    convert = false,
    delimiter = ':',
  }: { value: Plain; convert?: boolean; delimiter?: string },
): Promise<StateReturn> => {
  const path = pathOf(name, delimiter);
  const now = await grain(path);
  const shown = plainStr(value);
  if (now === undefined) return failed(path, `Grain ${path} does not exist`);
  if (!Array.isArray(now) && !convert) return failed(path, `Grain ${path} is not a valid list`);
  if (Array.isArray(now) && now.some(one => same(one, value)))
    return unchanged(path, `Value ${shown} is already in the list for grain ${path}`);
  if (__opts__.test)
    return would(
      path,
      Array.isArray(now)
        ? `Value ${shown} in grain ${path} is set to be added`
        : `Grain ${path} is set to be converted to list and value ${shown} will be added`,
      { added: value },
    );
  await salt('grains.append')(path, value, { convert: true });
  return changed(path, `Value ${shown} was added to grain ${path}`, { added: value });
};
