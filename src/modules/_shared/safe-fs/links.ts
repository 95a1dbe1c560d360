import { currentLow } from '../../api.ts';
import { uidOf, userName } from '../files/owner-names.ts';
import type { ForeignLink } from './open-parent.ts';
import { RefusedPath } from './refused.ts';

/**
 * Refuses links of other accounts, but for those of one account that lead to what is its own: it
 * could have put that in the link's place. A state that names a user is for no other account. The
 * state argument `unsafe_symlinks` allows all of them.
 *
 * @param links the links that were followed, none of them root's
 * @param shown where they led
 * @param owners the owners of the directory there and of the entry in it
 * @throws RefusedPath
 */
export const refuseForeignLinks = (
  links: readonly ForeignLink[],
  shown: string,
  owners: readonly number[],
): void => {
  const low = currentLow();
  if (low?.unsafe_symlinks === true) return;
  const [first] = links;
  if (first === undefined) return;
  const { keeper, path, target } = first;
  const isOwn =
    keeper > 0 &&
    links.every(link => link.keeper === keeper) &&
    owners.every(uid => uid === keeper);
  if (isOwn && isFor(low?.user ?? low?.owner, keeper)) return;
  const who = keeper > 0 ? `user ${userName(keeper)}` : 'other users';
  throw new RefusedPath(
    `${path} -> ${target}: ${who} can change this symlink, and it leads to ${shown}. As root it is not followed. If it is meant, add "unsafe_symlinks: True" to the state.`,
  );
};

const isFor = (user: unknown, keeper: number): boolean =>
  typeof user === 'string' || typeof user === 'number'
    ? user === '' || uidOf(user) === keeper
    : true;
