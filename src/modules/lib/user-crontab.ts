import { salt } from './call.ts';
import { type Crontab, parseCrontab } from './crontab.ts';
import { isUserToCome } from './to-come.ts';

/** A user's crontab; an empty one in a prediction where the user is yet to come. */
export const tabOf = async (user: string): Promise<Crontab> =>
  isUserToCome(user) ? parseCrontab('') : await salt('cron.list_tab')(user);
