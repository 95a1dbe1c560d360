import { createHash } from 'node:crypto';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import { oneLine } from './text.ts';

/** Hosts that had an equal error. */
type Group = { readonly first: string; readonly others: Set<string>; readonly text: string };

/** Limit of errors that are compared with other hosts: their number depends on the hosts. */
const mostGroups = 1000;

/** Hosts that are named one by one. */
const mostNamed = 20;

/** Errors and warnings that several hosts share: the first is printed, the others are counted. */
export class SharedErrors {
  readonly #groups = new Map<string, Group>();

  /**
   * Records an error of a host.
   *
   * @param error the text to compare; see `neutralText`
   * @param text the error on one line
   * @returns whether another host had the same error before, so that it need not be printed
   */
  add(host: string, error: string, text = ''): boolean {
    const key = createHash('sha256').update(neutralText(host, error)).digest('base64');
    const group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size < mostGroups)
        this.#groups.set(key, { first: host, others: new Set(), text: text.slice(0, 200) });
      return false;
    }
    if (group.first === host) return false;
    group.others.add(host);
    return true;
  }

  /** Returns what was not printed: errors with the host that printed them, and the others. */
  left(): { readonly text: string; readonly first: string; readonly others: string }[] {
    return [...this.#groups.values()]
      .filter(({ others }) => others.size > 0)
      .map(({ text, first, others }) => ({ text, first: oneLine(first), others: names(others) }));
  }
}

/** Removes from an error what differs between hosts: the host's own id, and its address after it. */
export const neutralText = (host: string, text: string): string =>
  text.replaceAll(host, '\0').replaceAll(addressAfterId, '\0');

const addressAfterId = /\0 \([^\s()]+:\d+\)/g;

const names = (hosts: ReadonlySet<string>): string => {
  const count = hosts.size === 1 ? '1 more host' : `${hosts.size} more hosts`;
  return `${count}: ${hostList(hosts)}`;
};

/** Names hosts on one line; of many, the first. */
export const hostList = (hosts: ReadonlySet<string>): string => {
  const sorted = [...hosts].sort().map(oneLine);
  const rest = sorted.length - mostNamed;
  const listed = sorted.slice(0, mostNamed).join(', ');
  return `${listed}${rest > 0 ? ` … and ${rest} more` : ''}`;
};

/**
 * Returns the error of a host whose output is only an error: it was not reached, or nothing
 * compiled.
 */
export const errorOf = ({ failure, states, value, problems }: HostResult): string | undefined => {
  if (states !== undefined) return undefined;
  if (failure !== undefined) return failure.message;
  return problems !== undefined && problems.length > 0
    ? JSON.stringify([value, problems])
    : undefined;
};

/** Whether a line of the log may be left out when another host has the same. */
export const isShareable = ({ level, host }: RunEvent & { type: 'log' }): boolean =>
  host !== undefined && ['warning', 'error', 'critical'].includes(level);
