/** Custom grains from the host's grains file, the roster and the configuration. */

import { messageOf } from '../../../protocol/error.ts';
import { isPlainDict } from '../../../protocol/plain.ts';
import { __opts__, getLogger, type PlainDict } from '../../api.ts';
import { readGrainsFile } from '../grains-file.ts';

const log = getLogger('grains');

/**
 * Returns the host's own grains file (`/etc/salt/grains`), overridden by `grains:` of roster and
 * configuration.
 */
export const config = async (): Promise<PlainDict> => ({ ...(await fromFile()), ...fromOptions() });

const fromFile = async (): Promise<PlainDict> => {
  try {
    return await readGrainsFile();
  } catch (error) {
    warn(messageOf(error));
    return {};
  }
};

const fromOptions = (): PlainDict => {
  try {
    const grains: unknown = __opts__.grains;
    return isPlainDict(grains) ? grains : {};
  } catch {
    return {}; // there are no options before the first job
  }
};

const warn = (message: string): void => {
  try {
    log.warning(message);
  } catch {
    // grains may be gathered before there is a run to log to
  }
};
