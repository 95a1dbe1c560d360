import type { Plain, PlainDict, StateReturn } from '../../api.ts';
import { accumulators } from '../../lib/accumulators.ts';
import { textList } from '../../lib/python-text.ts';
import { failed, newReturn } from '../../lib/returns.ts';

/**
 * Collects text for the template or the block of another file state: as `accumulator[name]`.
 *
 * @param name name of the accumulator
 * @param filename path of the file whose state uses it
 * @param text one text or several
 * @param require_in the requisite to the file state that uses it
 * @param watch_in the same, as a watch
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
  text: string | string[],
  {
    require_in: _require = null,
    watch_in: _watch = null,
  }: { require_in?: PlainDict[] | null; watch_in?: PlainDict[] | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!name) return failed(ret, 'Must provide name to file.accumulated');
  const texts = textList(text as Plain);
  const all = accumulators();
  const ofFile = all[filename] ?? {};
  all[filename] = ofFile;
  const collected = ofFile[name] ?? [];
  ofFile[name] = collected;
  const added = texts.filter(item => !collected.includes(item));
  collected.push(...added);
  return added.length === 0
    ? ret
    : { ...ret, comment: `Accumulator ${name} for file ${filename} was charged by text` };
};
