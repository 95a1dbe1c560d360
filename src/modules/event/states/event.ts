/**
 * Sends events, which appear as lines of the control node's log.
 */

import { isPlainDict } from '../../../protocol/plain.ts';
import { failed } from '../../_shared/states/returns.ts';
import {
  __grains__,
  __opts__,
  __salt__,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../api.ts';

type SendOptions = {
  data?: Plain;
  preload?: Plain;
  with_env?: boolean | string[];
  with_grains?: boolean | string[];
  with_pillar?: boolean | string[];
  show_changed?: boolean;
  [key: string]: Plain | undefined;
};

/**
 * Sends an event. Further arguments are added to its data.
 *
 * @param name its tag
 * @param data details
 * @param preload has no effect without an event bus
 * @param with_env not supported, as `with_pillar`
 * @param with_grains true: with all grains; or with those of a list
 * @param with_pillar not supported: an event is a line of a log, where secrets do not belong
 * @param show_changed report it as a change
 *
 * @example
 * myco/web/ready:
 *   event.send:
 *     - data:
 *         version: 1.2
 */
export const send = async (
  name: string,
  {
    data = null,
    preload: _preload = null,
    with_env = false,
    with_grains = false,
    with_pillar = false,
    show_changed = true,
    ...more
  }: SendOptions = {},
): Promise<StateReturn> => {
  const secret = with_pillar ? 'with_pillar' : with_env ? 'with_env' : undefined;
  if (secret !== undefined)
    return failed(
      name,
      `'${secret}' is not supported: an event is a line of the control node's log. Put the values to send into 'data'.`,
    );
  const changes = show_changed ? { tag: name, data } : {};
  if (__opts__.test) return { name, changes, result: null, comment: 'Event would have been fired' };
  const added = { ...(with_grains ? { grains: grainsFor(with_grains) } : {}), ...more };
  const told =
    Object.keys(added).length > 0 ? { ...added, ...(isPlainDict(data) ? data : {}) } : data;
  const result = (await __salt__['event.send'](name, { data: told as Plain })) === true;
  return { name, changes, result, comment: 'Event fired' };
};

const grainsFor = (wanted: true | string[]): PlainDict =>
  Object.fromEntries(
    Object.entries({ ...__grains__ } as PlainDict).filter(
      ([key]) => wanted === true || wanted.includes(key),
    ),
  );

/**
 * Sends the event when a watched state changed; does nothing otherwise.
 *
 * @param name its tag
 *
 * @example
 * myco/web/ready:
 *   event.wait:
 *     - data: {version: 1.2}
 *     - watch:
 *       - file: /etc/myco.conf
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const wait = (name: string, {}: { [key: string]: Plain } = {}): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment: '',
});

/** Sends the event: called by the engine with the arguments of the state that watches. */
export const mod_watch = (
  name: string,
  { sfun: _sfun, ...options }: SendOptions & { sfun?: string } = {},
): Promise<StateReturn> => send(name, options);

/** Alias of `event.send`. */
export const fire_master = send;
