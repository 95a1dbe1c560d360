/** Plugins of RabbitMQ. */

import { salt } from '../../_shared/states/call.ts';
import { ensure, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

type RunAs = {
  /** the account to run rabbitmq-plugins as */
  runas?: string | null;
};

/**
 * A plugin of RabbitMQ is enabled.
 *
 * @param name the plugin
 * @example
 * rabbitmq_management:
 *   rabbitmq_plugin.enabled
 */
export const enabled = async (name: string, { runas = null }: RunAs = {}): Promise<StateReturn> =>
  ensurePlugin(name, true, runas);

/**
 * A plugin of RabbitMQ is disabled.
 *
 * @param name the plugin
 * @example
 * rabbitmq_management:
 *   rabbitmq_plugin.disabled
 */
export const disabled = async (name: string, { runas = null }: RunAs = {}): Promise<StateReturn> =>
  ensurePlugin(name, false, runas);

const ensurePlugin = (
  name: string,
  isWanted: boolean,
  runas: string | null,
): Promise<StateReturn> => {
  const word = isWanted ? 'enable' : 'disable';
  return ensure(name, {
    read: () => salt('rabbitmq.plugin_is_enabled')(name, { runas }),
    plan: isEnabled =>
      isEnabled === isWanted
        ? `Plugin '${name}' is already ${word}d.`
        : {
            would: `Plugin '${name}' is set to be ${word}d.`,
            done: `Plugin '${name}' was ${word}d.`,
            changes: isWanted ? { old: '', new: name } : { old: name, new: '' },
          },
    apply: () => salt(`rabbitmq.${word}_plugin`)(name, { runas }),
  });
};
