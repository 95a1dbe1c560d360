/** Manages Apache configuration files from data. */

import { messageOf } from '../../../protocol/error.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { followLinks } from '../../_shared/safe-fs/open-parent.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('apache.config') || [false, 'apache is not installed.'];

/**
 * Manages an Apache configuration file from data. `this` holds the argument of a section. If a
 * directive or a section occurs more than once in a section, write that section as a list.
 *
 * @param name the file
 * @param config the directives, in order
 * @example
 * /etc/apache2/sites-available/example.com.conf:
 *   apache.configfile:
 *     - config:
 *       - VirtualHost:
 *           this: '*:80'
 *           ServerName: example.com
 *           DocumentRoot: /srv/web
 *           Directory:
 *             this: /srv/web
 *             Require: all granted
 */
export const configfile = async (name: string, config: PlainDict[]): Promise<StateReturn> =>
  failOnError(name, async () => {
    const wanted: string = await salt('apache.config')(name, config, false);
    const current = readOr(name) ?? '';
    if (wanted.trim() === current.trim()) return unchanged(name, 'Configuration is up to date.');
    const changes = { old: current, new: wanted };
    if (__opts__.test) return would(name, 'Configuration will update.', changes);
    try {
      writeAtomic(followLinks(name), `${wanted}\n`);
    } catch (error) {
      return failed(name, `Failed to create apache configuration: ${messageOf(error)}`);
    }
    return changed(name, 'Successfully created configuration.', changes);
  });
