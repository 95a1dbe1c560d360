import { __opts__ } from '../../api.ts';
import { exists } from '../files/file-paths.ts';
import { uidOf } from '../files/owner-names.ts';

/**
 * Whether this is a prediction, and the user is not there: on a new machine an earlier state may be
 * about to add the account, so nothing can be asked as this user yet.
 */
export const isUserToCome = (user: string | number | null | undefined): boolean =>
  Boolean(__opts__.test) &&
  user !== null &&
  user !== undefined &&
  user !== '' &&
  uidOf(user) === undefined;

/** Whether a missing path may be made by an earlier state: in test mode only. */
export const isPathToCome = (path: string | null | undefined): boolean =>
  Boolean(__opts__.test) && Boolean(path) && !exists(String(path));
