import { execFileSync } from 'node:child_process';
import { TsaltError } from '../protocol/error.ts';

/** The owners whose files this run trusts. */
export type Owners = {
  readonly uids: ReadonlySet<number>;
  /** Files of any user, and world-writable ones. */
  readonly anyone: boolean;
};

const variable = 'TSALT_TRUST_OWNER';

let chosen: Owners | undefined;

/**
 * Applies the value of `--trust-owner`: user names or numbers separated by commas, or `anyone`.
 * Their files are then trusted like the caller's.
 *
 * @throws TsaltError `usage-value` for a user that does not exist
 */
export const trustOwners = (names: string): void => {
  chosen = ownersOf(names, '--trust-owner');
};

/**
 * Returns the users whose files are trusted: root, the caller, and those of `--trust-owner` or
 * TSALT_TRUST_OWNER.
 */
export const owners = (): Owners => {
  chosen ??= ownersOf(process.env[variable] ?? '', variable);
  return chosen;
};

const ownersOf = (names: string, option: string): Owners => {
  const words = names
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '');
  const users = words.filter(word => word !== 'anyone');
  return {
    uids: new Set([0, process.geteuid?.() ?? 0, ...users.map(user => uidOf(user, option))]),
    anyone: users.length < words.length,
  };
};

const uidOf = (user: string, option: string): number => {
  if (/^\d{1,10}$/.test(user)) return Number(user);
  try {
    if (!/^\w[\w.-]*$/.test(user)) throw new Error('this is not a name');
    // `id` also knows the users of directories such as LDAP.
    return Number(execFileSync('id', ['-u', '--', user], { stdio: 'pipe' }).toString());
  } catch (cause) {
    throw new TsaltError('usage-value', `There is no user '${user}' on this machine.`, {
      hint: `${option} takes names or numbers of users with commas between, or 'anyone'.`,
      cause,
    });
  }
};
