/**
 * Sends events to the control node. Without a daemon there is no event bus: the control node logs
 * each event with its host, `--out ndjson` prints it, and `salt.wait_for_event` of an
 * orchestration waits for it.
 */
import {
  __grains__,
  __opts__,
  getContext,
  getLogger,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../api.ts';

const log = getLogger('event');

/**
 * Sends an event.
 * @param tag the tag, as a path: `myco/web/ready`
 * @param data details
 * @param preload refused: it is for a master's own protocol
 * @param with_env variables of the environment, by name
 * @param with_grains grains, by name, or true for all
 * @param with_pillar refused: pillar stays out of logs
 * @param with_env_opts saltenv and pillarenv
 */
export const send = (
  tag: string,
  {
    data = null,
    preload = null,
    with_env = false,
    with_grains = false,
    with_pillar = false,
    with_env_opts = false,
    ...more
  }: SendOptions = {},
): boolean => {
  if (preload !== null || with_pillar)
    throw new SaltInvocationError(
      'The arguments "preload" and "with_pillar" of event.send are not supported: events are lines of a log, and pillar stays out of them.',
    );
  const chosen = (
    wanted: boolean | string | string[],
    all: { readonly [name: string]: unknown },
  ): PlainDict =>
    Object.fromEntries(
      Object.entries(all).filter(
        ([name]) => wanted === true || (Array.isArray(wanted) && wanted.includes(name)),
      ),
    ) as PlainDict;
  const extra: PlainDict = {
    ...more,
    ...(with_env ? { environ: chosen(with_env, process.env) } : {}),
    ...(with_grains ? { grains: chosen(with_grains, { ...__grains__ }) } : {}),
    ...(with_env_opts ? { saltenv: __opts__.saltenv, pillarenv: __opts__.pillarenv ?? null } : {}),
  };
  if (Object.keys(extra).length === 0) return fire(data, tag);
  const own = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { data };
  return fire({ ...own, ...extra }, tag);
};

type SendOptions = {
  data?: Plain;
  preload?: Plain;
  with_env?: boolean | string[];
  with_grains?: boolean | string[];
  with_pillar?: boolean | string[];
  with_env_opts?: boolean;
  [key: string]: Plain | undefined;
};

/**
 * Sends an event. Like `event.send`, with the arguments in the order of Salt's older function.
 * @param data details
 * @param tag the tag, as a path
 */
export const fire = (data: Plain, tag: string): boolean => {
  log.info(`${tag} ${JSON.stringify(data)}`);
  getContext().event?.({ tag, data });
  return true;
};

/**
 * Sends an event. Like `event.send`, because the control node is the only listener.
 * @param data details
 * @param tag the tag, as a path
 * @param preload refused: it is for a master's own protocol
 */
export const fire_master = (
  data: Plain,
  tag: string,
  { preload = null }: { preload?: Plain } = {},
): boolean => {
  if (preload !== null)
    throw new SaltInvocationError(
      'The argument "preload" of event.fire_master is not supported: it is for a master\'s own protocol.',
    );
  return fire(data, tag);
};
