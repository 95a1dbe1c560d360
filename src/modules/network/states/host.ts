/** Names in the hosts file. */

import { isIP } from 'node:net';
import { messageOf } from '../../../protocol/error.ts';
import { warn } from '../../_shared/files/file-checks.ts';
import { type Description, describedState } from '../../_shared/states/describe.ts';
import { failed, inPlan, newReturn } from '../../_shared/states/returns.ts';
import { refuseNewlines } from '../../_shared/text/one-line.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../api.ts';

type Hosts = Record<string, { aliases: string[]; comment?: string }>;

/**
 * Adds a name to addresses in the hosts file.
 *
 * @param name the name
 * @param ip one address or several
 * @param comment a comment behind them
 * @param clean take the name from all other addresses
 *
 * @example
 * db1:
 *   host.present:
 *     - ip: 10.0.0.1
 */
export const present = async (
  name: string,
  ip: string | string[],
  { comment = '', clean = false }: { comment?: string; clean?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const wanted = [ip].flat();
  try {
    refuseNewlines({ name, ip, comment });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const hosts = (await __salt__['hosts.list_hosts']?.()) as Hosts;
  const { test } = __opts__;
  const lines: string[] = [];
  const note = (kind: string, address: string, value: string): void => {
    const group = (ret.changes[kind] ?? {}) as PlainDict;
    ret.changes[kind] = { ...group, [address]: [value] };
  };
  if (test) ret.result = true;
  for (const address of wanted.filter(each => isIP(each) === 0)) {
    ret.result = false;
    lines.push(`Invalid IP Address for ${name} (${address})`);
  }
  const known = (address: string): boolean => hosts[address]?.aliases.includes(name) ?? false;
  const additions = wanted.filter(each => isIP(each) > 0 && !known(each));
  const others = Object.keys(hosts).filter(each => !wanted.includes(each) && known(each));
  if (!clean)
    for (const address of others)
      warn(
        ret,
        `Host ${name} present for IP address ${address}. To get rid of this warning, either run this state with 'clean' set to True to remove ${name} from ${address}, or add ${address} to the 'ip' argument.`,
      );
  const removals = clean ? others : [];
  const comments = comment
    ? wanted.filter(each => isIP(each) > 0 && hosts[each]?.comment !== comment)
    : [];
  for (const address of wanted.filter(each => known(each) && !comments.includes(each)))
    lines.push(`Host ${name} (${address}) already present`);
  for (const address of additions) {
    if (!test) await __salt__['hosts.add_host']?.(address, name);
    lines.push(
      test ? `Host ${name} (${address}) would be added` : `Added host ${name} (${address})`,
    );
    note('added', address, name);
  }
  for (const address of comments) {
    if (!test) await __salt__['hosts.set_comment']?.(address, comment);
    lines.push(
      test
        ? `Comment for ${address} (${comment}) would be added`
        : `Set comment for host ${address} (${comment})`,
    );
    note('comment_added', address, comment);
  }
  for (const address of removals) {
    if (!test) await __salt__['hosts.rm_host']?.(address, name);
    lines.push(
      test ? `Host ${name} (${address}) would be removed` : `Removed host ${name} (${address})`,
    );
    note('removed', address, name);
  }
  if (test && ret.result && Object.keys(ret.changes).length > 0) ret.result = null;
  return { ...ret, comment: lines.join('\n') };
};

/**
 * Takes a name from addresses in the hosts file.
 *
 * @param name the name
 * @param ip one address or several
 *
 * @example
 * db1:
 *   host.absent:
 *     - ip: 10.0.0.1
 */
export const absent = async (name: string, ip: string | string[]): Promise<StateReturn> => {
  const ret = newReturn(name);
  const lines: string[] = [];
  for (const address of [ip].flat()) {
    if (!(await __salt__['hosts.has_pair']?.(address, name)))
      lines.push(`Host ${name} (${address}) already absent`);
    else if (__opts__.test) {
      ret.result = null;
      ret.changes = inPlan({ host: name });
      lines.push(`Host ${name} (${address}) needs to be removed`);
    } else {
      await __salt__['hosts.rm_host']?.(address, name);
      ret.changes = { host: name };
      lines.push(`Removed host ${name} (${address})`);
    }
  }
  return { ...ret, comment: lines.join('\n') };
};

/**
 * Sets the names of an address in the hosts file; its other names are removed.
 *
 * @param name the address
 * @param hostnames one name or several
 *
 * @example
 * 10.0.0.1:
 *   host.only:
 *     - hostnames: [db1, db1.example.com]
 */
export const only = async (name: string, hostnames: string | string[]): Promise<StateReturn> => {
  const ret = newReturn(name);
  try {
    refuseNewlines({ name, hostnames });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const names: string[] = (await __salt__['hosts.get_alias']?.(name)) ?? [];
  const old = names.join(' ');
  const wanted = [hostnames]
    .flat()
    .map(each => each.trim())
    .join(' ');
  if (old === wanted) return { ...ret, comment: `IP address ${name} already set to "${wanted}"` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: inPlan({ [name]: { old, new: wanted } }),
      comment: `Would change ${name} from "${old}" to "${wanted}"`,
    };
  if (!(await __salt__['hosts.set_host']?.(name, wanted)))
    return failed(ret, `hosts.set_host failed to change ${name} from "${old}" to "${wanted}"`);
  return {
    ...ret,
    changes: { [name]: { old, new: wanted } },
    comment: `successfully changed ${name} from "${old}" to "${wanted}"`,
  };
};

/** All names of the hosts file with their addresses. */
export const describe = async (): Promise<Description> => {
  const hosts = (await __salt__['hosts.list_hosts']?.()) as Hosts;
  const addresses = new Map<string, string[]>();
  for (const [ip, { aliases }] of Object.entries(hosts))
    if (isIP(ip) > 0)
      for (const name of aliases)
        addresses.set(name, [...new Set([...(addresses.get(name) ?? []), ip])]);
  return Object.fromEntries(
    [...addresses].map(([name, ips]) => {
      const [comment, ...others] = new Set(ips.map(ip => hosts[ip]?.comment));
      return [
        name,
        describedState('host.present', {
          ip: ips.length === 1 ? ips[0] : ips,
          comment: comment && others.length === 0 ? comment : undefined,
        }),
      ];
    }),
  );
};
