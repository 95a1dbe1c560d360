import { repackDictList, toList } from '../_shared/states/values.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { listOption, many, type OptionReader, one, pairs } from './docker-options.ts';

export type Networks = { readonly [name: string]: PlainDict };

/** Returns networks by name with their settings. Like Salt, accepts a string, a list or a dict. */
export const networksOf = (given: Plain | undefined): Networks => {
  if (given === null || given === undefined) return {};
  const all: { [name: string]: PlainDict } = {};
  for (const item of typeof given === 'object' ? [given].flat() : toList(given))
    if (typeof item !== 'object' || item === null) all[String(item)] = {};
    else
      for (const [name, settings] of Object.entries(item)) {
        all[name] = repackDictList(settings as Plain);
        connectArgs(all[name]);
      }
  return all;
};

/** The arguments of `docker network connect` for Salt's settings of a network. */
export const connectArgs = (settings: PlainDict): string[] =>
  Object.entries(settings).flatMap(([key, value]) => {
    const option = Object.hasOwn(connections, key) ? connections[key] : undefined;
    if (!option) throw new SaltInvocationError(`A container's network does not take ${key}.`);
    return option[1](option[0], value);
  });

const connections: Readonly<Record<string, readonly [string, OptionReader]>> = {
  aliases: ['alias', many],
  driver_opt: ['driver-opt', listOption],
  ipv4_address: ['ip', one],
  ipv6_address: ['ip6', one],
  link_local_ips: ['link-local-ip', many],
  links: ['link', pairs(':')],
};
