import { keyLocation } from '../data/values/read.ts';
import { type Dict, isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { secretRosterKeys } from './keys.ts';
import type { Layer } from './roster.ts';

/** Keys that run a program of this machine, or send one of its files to a host. */
const local = ['ssh_pre_hook', 'ssh_pre_flight'];

const transports = ['ssh2', 'openssh'];

/** Options that pass the user's credentials to a host, or name a socket of this machine. */
const credentials = /^(?:-o\s*)?(?:gssapidelegatecredentials|identityagent)\b/i;

/**
 * Refuses values that other programs wrote (a Terraform state, an Ansible inventory) from external
 * data: they must not name a program, file or store of this machine. An inventory, which people
 * write, may declare that a host is this machine or a container on it (`ansible_connection`); a
 * state may not.
 * @throws TsaltError `roster-outside`
 */
export const checkOutside = (id: string, { dict, file, outside }: Layer): void => {
  const isSource = (key: string): boolean => {
    const value = dict.get(key) ?? null;
    return isDict(value) || (typeof value === 'string' && value.startsWith('sdb://'));
  };
  const key = [
    ...local.filter(name => dict.has(name)),
    ...secretRosterKeys.filter(isSource),
    ...(outside === 'state' ? here(dict) : []),
  ][0];
  if (key === undefined) return;
  throw new TsaltError(
    'roster-outside',
    `The roster entry '${id}' must not set '${key}' there: it would reach this machine: a program, a file, a store or a service of it.`,
    {
      at: keyLocation(file, dict, key),
      hint: 'Set it in a roster of your own, or in roster_defaults.',
    },
  );
};

/**
 * Returns keys by which states would run on this machine, or a host would reach its network or
 * credentials.
 */
const here = (dict: Dict): string[] => {
  const options = [dict.get('ssh_options') ?? null].flat();
  return [
    ...(transports.includes(String(dict.get('transport') ?? 'ssh2')) ? [] : ['transport']),
    ...(dict.has('remote_port_forwards') ? ['remote_port_forwards'] : []),
    ...(options.some(option => credentials.test(String(option).trim())) ? ['ssh_options'] : []),
  ];
};
