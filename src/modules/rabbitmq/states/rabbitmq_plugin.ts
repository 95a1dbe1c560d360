/** Plugins of RabbitMQ. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { rabbitmqHere } from '../rabbitmq-run.ts';

export const __virtual__ = rabbitmqHere;

type RunAs = { runas?: string | null };

/**
 * A plugin of RabbitMQ is enabled.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example
 * rabbitmq_management:
 *   rabbitmq_plugin.enabled
 */
export const enabled = async (name: string, { runas = null }: RunAs = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (await salt('rabbitmq.plugin_is_enabled')(name, { runas }))
      return unchanged(name, `Plugin '${name}' is already enabled.`);
    const changes = { old: '', new: name };
    if (__opts__.test) return would(name, `Plugin '${name}' is set to be enabled.`, changes);
    await salt('rabbitmq.enable_plugin')(name, { runas });
    return changed(name, `Plugin '${name}' was enabled.`, changes);
  });

/**
 * A plugin of RabbitMQ is disabled.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example
 * rabbitmq_management:
 *   rabbitmq_plugin.disabled
 */
export const disabled = async (name: string, { runas = null }: RunAs = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('rabbitmq.plugin_is_enabled')(name, { runas })))
      return unchanged(name, `Plugin '${name}' is already disabled.`);
    const changes = { old: name, new: '' };
    if (__opts__.test) return would(name, `Plugin '${name}' is set to be disabled.`, changes);
    await salt('rabbitmq.disable_plugin')(name, { runas });
    return changed(name, `Plugin '${name}' was disabled.`, changes);
  });
