/** Sets of addresses, networks and ports for iptables. */
import { __opts__, type Plain, type StateReturn } from '../api.ts';
import { hasFunction, salt } from '../lib/call.ts';
import { failOnError } from '../lib/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('ipset.new_set') || [false, 'ipset is not installed.'];

type SetOptions = {
  family?: string;
  comment?: boolean;
  counters?: boolean;
  skbinfo?: boolean;
  forceadd?: boolean;
  range?: string | number;
  netmask?: string | number;
  timeout?: string | number;
  hashsize?: string | number;
  maxelem?: string | number;
  markmask?: string | number;
  size?: string | number;
};

/**
 * A set is there. One that is there already stays as it is.
 *
 * @param name the set
 * @param set_type its type, `hash:ip`, `hash:net`, `bitmap:port`, `list:set` …
 * @param family `ipv4` or `ipv6`
 * @param comment true: entries may have a comment
 * @param counters true: packets and bytes are counted
 * @param skbinfo true: entries may set marks and queues
 * @param forceadd true: where it is full an entry goes for a new one
 * @param range of a bitmap: `10.0.0.0/16`, `1-1024`
 * @param netmask the networks of addresses are kept, of this length
 * @param timeout seconds that entries stay, when they say no other
 * @param hashsize how large it is at first
 * @param maxelem how many entries it takes
 * @param markmask which bits of a mark count
 * @param size of a list: how many sets it takes
 * @unknown ignored
 * @example
 * blocked:
 *   ipset.set_present:
 *     - set_type: hash:net
 *     - comment: true
 */
export const set_present = async (
  name: string,
  set_type: string,
  { family = 'ipv4', ...options }: SetOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (await salt('ipset.check_set')(name))
      return unchanged(name, `ipset set ${name} already exists for ${family}`);
    if (__opts__.test) return would(name, `ipset set ${name} would be added for ${family}`);
    await salt('ipset.new_set')(name, set_type, { family, ...options });
    return changed(name, `ipset set ${name} created successfully for ${family}`, { locale: name });
  });

/**
 * A set is not there. One that a rule of iptables names cannot go.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * blocked:
 *   ipset.set_absent
 */
export const set_absent = async (
  name: string,
  { family = 'ipv4' }: { family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('ipset.check_set')(name)))
      return unchanged(name, `ipset set ${name} for ${family} is already absent`);
    if (__opts__.test) return would(name, `ipset set ${name} for ${family} would be removed`);
    await salt('ipset.flush')(name);
    await salt('ipset.delete_set')(name);
    return changed(name, `ipset set ${name} deleted successfully for family ${family}`, {
      locale: name,
    });
  });

type EntryOptions = {
  set_name: string;
  entry?: Plain;
  family?: string;
  comment?: string;
  nomatch?: boolean;
  timeout?: string | number;
  packets?: string | number;
  bytes?: string | number;
  skbmark?: string;
  skbprio?: string;
  skbqueue?: string | number;
};

/** An entry may have commas in it. */
const entriesOf = (entry: Plain): string[] =>
  [entry]
    .flat()
    .filter(one => one !== null && one !== '')
    .map(String);

/** An entry with the comment that all of the state's have, unless it has its own. */
const commented = (entry: string, comment: string | undefined): string =>
  comment === undefined || /\scomment\s/.test(entry)
    ? entry
    : `${entry} comment ${JSON.stringify(comment)}`;

/**
 * Entries are in a set.
 *
 * @param name any name
 * @param set_name the set
 * @param entry the entry, or several, each with its own options behind it
 * @param family `ipv4` or `ipv6`
 * @param comment a comment
 * @param nomatch true: an exception from a larger network
 * @param timeout seconds that it stays
 * @param packets what is counted of it so far
 * @param bytes what is counted of it so far
 * @param skbmark the mark it gives, `0x1/0xff`
 * @param skbprio the class it gives, `1:10`
 * @param skbqueue the queue it gives
 * @unknown ignored
 * @example
 * the lab:
 *   ipset.present:
 *     - set_name: blocked
 *     - entry:
 *       - 192.0.2.0/24
 *       - 198.51.100.7 comment "one machine"
 *     - comment: all of the lab
 */
export const present = async (
  name: string,
  { set_name, entry = null, family = 'ipv4', comment, ...options }: EntryOptions,
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const entries = entriesOf(entry).map(one => commented(one, comment));
    if (entries.length === 0) return failed(name, 'ipset entry must be specified');
    const comments: string[] = [];
    let isChanged = false;
    for (const one of entries)
      if (await salt('ipset.check')(set_name, one))
        comments.push(`entry for ${one} already in set ${set_name} for ${family}\n`);
      else {
        isChanged = true;
        if (!__opts__.test) await salt('ipset.add')(set_name, one, options);
        comments.push(
          `entry ${one} ${__opts__.test ? 'would be ' : ''}added to set ${set_name} for family ${family}\n`,
        );
      }
    return answer(name, comments, isChanged);
  });

/**
 * Entries are not in a set.
 *
 * @param name any name
 * @param set_name the set
 * @param entry the entry, or several
 * @param entries accepted for compatibility
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * the lab:
 *   ipset.absent:
 *     - set_name: blocked
 *     - entry: 192.0.2.0/24
 */
export const absent = async (
  name: string,
  {
    set_name,
    entry = null,
    entries: _entries = null,
    family = 'ipv4',
  }: { set_name: string; entry?: Plain; entries?: Plain; family?: string },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const unwanted = entriesOf(entry);
    if (unwanted.length === 0) return failed(name, 'ipset entry must be specified');
    const comments: string[] = [];
    let isChanged = false;
    for (const one of unwanted)
      if (!(await salt('ipset.check')(set_name, one)))
        comments.push(`ipset entry for ${one} not present in set ${set_name} for ${family}\n`);
      else {
        isChanged = true;
        if (!__opts__.test) await salt('ipset.delete')(set_name, one);
        comments.push(
          `ipset entry ${one} ${__opts__.test ? 'would be ' : ''}removed from set ${set_name} for ${family}\n`,
        );
      }
    return answer(name, comments, isChanged);
  });

const answer = (name: string, comments: readonly string[], isChanged: boolean): StateReturn => {
  const comment = comments.join('');
  if (!isChanged) return unchanged(name, comment);
  return __opts__.test ? would(name, comment) : changed(name, comment, { locale: name });
};

/**
 * A set is emptied, each time the state runs.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * blocked:
 *   ipset.flush
 */
export const flush = async (
  name: string,
  { family = 'ipv4' }: { family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('ipset.check_set')(name)))
      return failed(name, `ipset set ${name} does not exist for ${family}`);
    if (__opts__.test)
      return would(name, `ipset entries in set ${name} for ${family} would be flushed`);
    await salt('ipset.flush')(name);
    return changed(name, `Flushed ipset entries from set ${name} for ${family}`, { locale: name });
  });
