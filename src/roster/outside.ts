import { placeOf } from '../data/read.ts';
import { isDict } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { secretKeys } from './keys.ts';
import type { Layer } from './roster.ts';

/** Keys that run a program of this machine, or send one of its files away. */
const local = ['ssh_pre_hook', 'ssh_pre_flight'];

/**
 * What other programs wrote (a state of Terraform, an inventory of Ansible) holds values that
 * came from elsewhere: they may name no program, no file and no store of this machine.
 * @throws TsaltError `roster-outside`
 */
export const checkOutside = (id: string, { dict, file }: Layer): void => {
  const isSource = (key: string): boolean => {
    const value = dict.get(key) ?? null;
    return isDict(value) || (typeof value === 'string' && value.startsWith('sdb://'));
  };
  const key = [...local.filter(name => dict.has(name)), ...secretKeys.filter(isSource)][0];
  if (key === undefined) return;
  throw new TsaltError(
    'roster-outside',
    `The roster entry '${id}' must not set '${key}' there: it would reach a program, a file or a store of this machine.`,
    {
      at: placeOf(file, dict, key),
      hint: 'Set it in a roster of your own, or in roster_defaults.',
    },
  );
};
