/**
 * Accounts of Samba in its password database.
 *
 * @depends pdbedit
 */

import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError } from '../../api.ts';
import { type DesiredAccount, isNothing, planAccount } from '../desired-account.ts';
import { ntHash } from '../nt-hash.ts';
import {
  addLocked,
  hashFor,
  listAccounts,
  runPdbedit,
  type SambaAccount,
  setFields,
  setHash,
  setPassword,
} from '../pdbedit-accounts.ts';

export const __func_alias__ = { list_: 'list', delete_: 'delete' };

export const __virtual__ = (): true | [false, string] =>
  which('pdbedit') !== undefined || [false, 'pdbedit is not installed.'];

/**
 * The NT hash of a password.
 *
 * @param password the password
 * @example tsalt-ssh '*' pdbedit.generate_nt_hash my_passwd
 */
export const generate_nt_hash = async (password: string): Promise<string> => ntHash(password);

/**
 * The accounts, with all about them.
 *
 * @param verbose false: only their names
 * @param hashes true: with the hashes of their passwords
 * @example tsalt-ssh '*' pdbedit.list
 */
export const list_ = async (
  verbose = true,
  hashes = false,
): Promise<string[] | { [login: string]: SambaAccount }> => {
  const all = await listAccounts(verbose && hashes);
  return verbose ? all : Object.keys(all);
};

/**
 * One account; empty when there is none.
 *
 * @param login the account
 * @param hashes true: with the hashes of its password
 * @example tsalt-ssh '*' pdbedit.get kaylee
 */
export const get = async (login: string, hashes = false): Promise<SambaAccount> =>
  (await listAccounts(hashes))[login] ?? {};

/**
 * Deletes an account.
 *
 * @param login the account
 * @example tsalt-ssh '*' pdbedit.delete wash
 */
export const delete_ = async (login: string): Promise<{ [login: string]: string }> => {
  if (!Object.hasOwn(await listAccounts(), login)) return { [login]: 'absent' };
  return told(login, async () => {
    await runPdbedit(['--delete', `--user=${login}`]);
    return 'deleted';
  });
};

/**
 * Adds an account, or sets the password of one that is there. The system must know the user.
 *
 * @param login the account
 * @param password its password; it is not passed in a command line
 * @param password_hashed true: the password is an NT hash
 * @param machine_account true: the account of a machine, whose password is not set
 * @example tsalt-ssh '*' pdbedit.create river 1sw4ll0w3d4bug
 */
export const create = async (
  login: string,
  password: string,
  password_hashed = false,
  machine_account = false,
): Promise<{ [login: string]: string }> => {
  const accounts = await listAccounts(true);
  if (machine_account) {
    const isThere = Object.hasOwn(accounts, `${login.replace(/\$$/, '')}$`);
    if (isThere) return { [login]: 'unchanged' };
    return told(login, async () => {
      await runPdbedit(['--create', `--user=${login}`, '--machine']);
      return 'created';
    });
  }
  return told(login, () => givePassword(login, password, password_hashed, accounts[login]));
};

const givePassword = async (
  login: string,
  password: string,
  isHash: boolean,
  have: SambaAccount | undefined,
): Promise<string> => {
  const hash = hashFor(password, isHash);
  if (have?.['nt hash'] === hash) return 'unchanged';
  if (!isHash) await setPassword(login, password, have);
  else {
    if (!have) await addLocked(login);
    await setHash(login, hash, have ?? (await get(login, true)));
  }
  return have ? 'updated' : 'created';
};

/**
 * Changes an account; with a password, adds it where it is missing.
 *
 * @param login the account
 * @example tsalt-ssh '*' pdbedit.modify inara fullname='Inara Serra'
 */
export const modify = async (
  login: string,
  options: DesiredAccount = {},
): Promise<{ [login: string]: string }> => {
  const have = (await listAccounts(true))[login];
  const { password, password_hashed = false } = options;
  if (!have && !password) return { [login]: 'absent' };
  return told(login, async () => {
    const done = password
      ? await givePassword(login, password, password_hashed, have)
      : 'unchanged';
    const current = have && done === 'unchanged' ? have : await get(login, true);
    const plan = planAccount(current, { ...options, password: null });
    if (isNothing(plan)) return done;
    await setFields(login, plan.fields, plan.resets);
    return done === 'created' ? done : 'updated';
  });
};

/** Returns what was done, or why it was not. */
const told = async (
  login: string,
  work: () => Promise<string>,
): Promise<{ [login: string]: string }> => {
  try {
    return { [login]: await work() };
  } catch (error) {
    if (error instanceof CommandExecutionError) return { [login]: error.message };
    throw error;
  }
};
