/** Accounts of Samba in its password database. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { type DesiredAccount, isNothing, planAccount } from '../desired-account.ts';
import type { SambaAccount } from '../pdbedit-accounts.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('pdbedit.create') || [false, 'pdbedit is not installed.'];

type Accounts = { [login: string]: SambaAccount };

/**
 * Samba does not have this account.
 *
 * @param name the account
 * @example
 * wash:
 *   pdbedit.absent
 */
export const absent = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const names: string[] = await salt('pdbedit.list')(false);
    if (!names.includes(name)) return unchanged(name, `account ${name} is absent`);
    const changes = { [name]: 'deleted' };
    if (__opts__.test) return would(name, `account ${name} would be deleted`, changes);
    const done: PlainDict = await salt('pdbedit.delete')(name);
    return done[name] === 'deleted' ? changed(name, '', changes) : failed(name, String(done[name]));
  });

/**
 * Samba has this account, as it is described here. What is left out stays as it is; without a
 * password no account is added. The system must know the user.
 *
 * @param name the account
 * @example
 * kaylee:
 *   pdbedit.managed:
 *     - password: '{{ pillar.samba.kaylee }}'
 *     - drive: 'X:'
 */
export const managed = async (name: string, options: DesiredAccount = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const before = ((await salt('pdbedit.list')(true, true)) as Accounts)[name];
    if (!before && !options.password)
      return failed(name, `account ${name} is absent; give a password to add it`);
    const plan = planAccount(before, options);
    if (before && isNothing(plan)) return unchanged(name, '');
    if (__opts__.test)
      return would(name, `account ${name} would be ${before ? 'updated' : 'created'}`, {
        [name]: before ? planned(before, plan) : 'created',
      });
    const done = String((await salt('pdbedit.modify')(name, options))[name]);
    if (done === 'created') return changed(name, '', { [name]: done });
    if (done === 'unchanged') return unchanged(name, '');
    if (done !== 'updated') return failed(name, done);
    const after = ((await salt('pdbedit.list')(true, true)) as Accounts)[name] ?? {};
    return changed(name, '', { [name]: differences(before ?? {}, after) });
  });

const planned = (
  before: SambaAccount,
  { hash, fields, resets }: ReturnType<typeof planAccount>,
): PlainDict =>
  differences(before, {
    ...before,
    ...fields,
    ...(hash === undefined ? {} : { 'nt hash': hash }),
    ...(resets.includes('--logon-hours-reset') ? { 'logon hours': 'F'.repeat(42) } : {}),
    ...(resets.includes('--bad-password-count-reset') ? { 'bad password count': '0' } : {}),
  });

/** The fields that differ; of hashes it is only reported that they do. */
const differences = (before: SambaAccount, after: SambaAccount): PlainDict =>
  Object.fromEntries(
    [...new Set([...Object.keys(after), ...Object.keys(before)])]
      .filter(field => before[field] !== after[field])
      .map(field => [
        field,
        field.endsWith(' hash')
          ? { old: '<redacted>', new: '<redacted>' }
          : { old: before[field] ?? '', new: after[field] ?? '' },
      ]),
  );

/**
 * Alias of `pdbedit.managed`.
 *
 * @param name the account
 * @param account_control flags, see `pdbedit.managed`
 * @example
 * kaylee:
 *   pdbedit.present:
 *     - password: '{{ pillar.samba.kaylee }}'
 */
export const present = async (name: string, options: DesiredAccount = {}): Promise<StateReturn> =>
  managed(name, options);
