import { isDeepStrictEqual } from 'node:util';
import { isPlainDict } from '../../../../protocol/plain.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __low__, type Plain, type StateReturn } from '../../../api.ts';
import { accumulators } from '../../accumulators.ts';

/**
 * Collects text for the template or the block of another file state, which uses it as
 * `accumulator[name]`.
 *
 * @param name name of the accumulator
 * @param filename path of the file whose state uses it
 * @param text one string or several; a template can also use dicts and lists
 * @param require_in the file state that uses the text
 * @param watch_in the file state that uses the text, as a `watch_in`
 * @unknown ignored
 *
 * @example
 * backends:
 *   file.accumulated:
 *     - filename: /etc/haproxy.cfg
 *     - text: server web1 10.0.0.11:80
 *     - require_in:
 *       - file: /etc/haproxy.cfg
 */
export const accumulated = async (
  name: string,
  filename: string,
  text: Plain,
  {
    require_in = null,
    watch_in = null,
  }: { require_in?: Plain[] | null; watch_in?: Plain[] | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!name) return failed(ret, 'Must provide name to file.accumulated');
  if (text === null) return failed(ret, 'No text supplied for accumulator');
  const users = [...(require_in ?? []), ...(watch_in ?? [])];
  if (!users.some(isFile))
    return failed(ret, `Orphaned accumulator ${name} in ${__low__.__sls__}:${__low__.__id__}`);
  const texts = Array.isArray(text) ? text : [text];
  const all = accumulators();
  const ofFile = all[filename] ?? {};
  all[filename] = ofFile;
  const collected = ofFile[name] ?? [];
  ofFile[name] = collected;
  const added = texts.filter(item => !collected.some(known => isDeepStrictEqual(known, item)));
  collected.push(...added);
  return added.length === 0
    ? ret
    : { ...ret, comment: `Accumulator ${name} for file ${filename} was charged by text` };
};

/** Whether a requisite is one to a file: `{file: …}`. */
const isFile = (user: Plain): boolean =>
  isPlainDict(user) ? Object.hasOwn(user, 'file') : String(user).includes('file');
