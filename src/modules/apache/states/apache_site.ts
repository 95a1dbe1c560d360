/**
 * Manages Apache's sites with Debian's tools.
 *
 * @platform Debian
 */

import { hasFunction } from '../../_shared/states/call.ts';
import type { StateReturn } from '../../api.ts';
import { keepApache } from '../apache-state.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('apache.a2enmod') || [false, 'apache2 is not installed.'];

/**
 * Makes sure that a site is enabled. Apache is not reloaded; use `service.running` with a `watch`
 * for that.
 *
 * @param name its name
 * @example
 * example.com:
 *   apache_site.enabled:
 *     - watch_in:
 *       - service: apache2
 */
export const enabled = async (name: string): Promise<StateReturn> =>
  keepApache(name, 'site', 'enabled');

/**
 * Makes sure that a site is disabled.
 *
 * @param name its name
 * @example
 * example.com:
 *   apache_site.disabled: []
 */
export const disabled = async (name: string): Promise<StateReturn> =>
  keepApache(name, 'site', 'disabled');
