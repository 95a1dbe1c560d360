import { log } from '../api.ts';
import { hashFor, type SambaAccount } from './pdbedit-accounts.ts';

/** The desired account; fields that are left out are not changed. */
export type DesiredAccount = {
  /** its password; it is not passed in a command line */
  password?: string | null;
  /** true: the password is an NT hash */
  password_hashed?: boolean;
  /** its domain */
  domain?: string | null;
  /** path of its profile */
  profile?: string | null;
  /** its logon script */
  script?: string | null;
  /** letter of the drive of its home directory */
  drive?: string | null;
  /** its home directory */
  homedir?: string | null;
  /** its full name */
  fullname?: string | null;
  /** a description */
  account_desc?: string | null;
  /**
   * flags: `N` no password needed, `D` disabled, `H` home directory needed, `L` locks itself, `X`
   * the password does not expire
   */
  account_control?: string | null;
  /** has no effect, as in Salt */
  machine_sid?: string | null;
  /** its SID, or the last part of it */
  user_sid?: string | number | null;
  /** true: it may log in at any hour */
  reset_login_hours?: boolean;
  /** true: forget failed logins */
  reset_bad_password_count?: boolean;
};

export type AccountPlan = {
  /** The hash of the password, when the account has another one. */
  readonly hash?: string | undefined;
  readonly fields: { readonly [field: string]: string };
  /** Options that reset something. */
  readonly resets: readonly string[];
};

const fieldOf = {
  domain: 'domain',
  fullname: 'full name',
  account_desc: 'account desc',
  homedir: 'home directory',
  drive: 'homedir drive',
  profile: 'profile path',
  script: 'logon script',
} as const;

/** The desired fields that an account lacks; all of them for a new account. */
export const planAccount = (have: SambaAccount | undefined, wish: DesiredAccount): AccountPlan => {
  const fields: { [field: string]: string } = {};
  for (const [argument, field] of Object.entries(fieldOf)) {
    const wanted = wish[argument as keyof typeof fieldOf];
    if (wanted !== null && wanted !== undefined && have?.[field] !== String(wanted))
      fields[field] = String(wanted);
  }
  const sid = wish.user_sid ?? null;
  if (sid !== null && !hasSid(have, String(sid))) fields['user sid'] = String(sid);
  const flags = wish.account_control ?? null;
  if (flags !== null && settable(have?.['account flags'] ?? '') !== settable(flags))
    fields['account flags'] = `[${settable(flags)}]`;
  const hash = wish.password ? hashFor(wish.password, wish.password_hashed ?? false) : undefined;
  return {
    hash: hash === have?.['nt hash'] ? undefined : hash,
    fields,
    resets: have ? resetsFor(have, wish) : [],
  };
};

/** A whole SID, or its last part. */
const hasSid = (have: SambaAccount | undefined, sid: string): boolean => {
  const there = have?.['user sid'] ?? '';
  return there === sid || there.endsWith(`-${sid}`);
};

/** The flags that pdbedit sets, of `[UX         ]` or `nx`, in one order. */
const settable = (flags: string): string => {
  const letters = [...new Set(flags.toUpperCase().replace(/[[\] ]/g, ''))];
  const unknown = letters.filter(letter => !'NDHLXUWIT'.includes(letter));
  if (unknown.length > 0)
    log.warning(`account_control has no flag ${unknown.join(', ')}; it is left out.`);
  return letters
    .filter(letter => 'NDHLX'.includes(letter))
    .sort()
    .join('');
};

const resetsFor = (have: SambaAccount, wish: DesiredAccount): string[] => [
  ...(wish.reset_login_hours && !/^F*$/.test(have['logon hours'] ?? '')
    ? ['--logon-hours-reset']
    : []),
  ...(wish.reset_bad_password_count && Number(have['bad password count'] ?? 0) !== 0
    ? ['--bad-password-count-reset']
    : []),
];

export const isNothing = ({ hash, fields, resets }: AccountPlan): boolean =>
  hash === undefined && Object.keys(fields).length === 0 && resets.length === 0;
