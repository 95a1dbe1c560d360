import { salt } from '../_shared/states/call.ts';
import { isUserToCome } from '../_shared/states/to-come.ts';
import { CommandExecutionError } from '../api.ts';
import { type Crontab, parseCrontab } from './crontab.ts';

/** Returns a user's crontab; an empty one in test mode if the user is still to be created. */
export const tabOf = async (user: string): Promise<Crontab> =>
  isUserToCome(user) ? parseCrontab('') : await salt('cron.list_tab')(user);

/** Returns the outcome of a change to a crontab, or the error message if it failed. */
export const crontabError = async (change: () => Promise<string>): Promise<string> => {
  try {
    return await change();
  } catch (error) {
    if (error instanceof CommandExecutionError) return error.message;
    throw error;
  }
};
