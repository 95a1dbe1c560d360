/** Sets of addresses, networks and ports that firewall rules refer to. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('ipset.version') || [false, 'ipset module could not be loaded'];

type Option = number | string | null;

/**
 * Makes sure that a set of this name exists. An existing set is not changed, whatever its type.
 *
 * @param name the set
 * @param set_type its type, as `hash:ip`, `hash:net`, `bitmap:port` or `list:set`
 * @param family `ipv4` or `ipv6`
 * @param comment entries may have comments
 * @param range the range of a `bitmap:…`: `192.168.0.0/16`, `1-1024`
 * @param netmask store networks of this length
 * @param timeout seconds after which entries go; 0: never, unless the entry has its own
 * @param counters count packets and bytes
 * @param skbinfo entries may set mark, priority and queue
 * @param hashsize the hash's size at first
 * @param maxelem how many entries there may be
 * @param markmask the mask of marks of a `hash:ip,mark`
 * @param size how many sets a `list:set` may have
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
  family = 'ipv4',
  {
    comment = false,
    range = null,
    netmask = null,
    timeout = null,
    counters = false,
    skbinfo = false,
    hashsize = null,
    maxelem = null,
    markmask = null,
    size = null,
  }: {
    comment?: Plain;
    range?: string | null;
    netmask?: Option;
    timeout?: Option;
    counters?: boolean;
    skbinfo?: boolean;
    hashsize?: Option;
    maxelem?: Option;
    markmask?: Option;
    size?: Option;
  } = {},
): Promise<StateReturn> => {
  if ((await salt('ipset.check_set')(name, family)) === true)
    return unchanged(name, `ipset set ${name} already exists for ${family}`);
  const changes = { locale: name };
  if (__opts__.test) return would(name, `ipset set ${name} would be added for ${family}`, changes);
  const options = { range, netmask, timeout, counters, skbinfo, hashsize, maxelem, markmask, size };
  const done = await salt('ipset.new_set')(name, set_type, family, comment, options);
  return done === true
    ? changed(name, `ipset set ${name} created successfully for ${family}`, changes)
    : failed(name, `Failed to create set ${name} for ${family}: ${done}`);
};

/**
 * Makes sure that a set does not exist.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * blocked:
 *   ipset.set_absent: []
 */
export const set_absent = async (name: string, family = 'ipv4'): Promise<StateReturn> => {
  if ((await salt('ipset.check_set')(name, family)) !== true)
    return unchanged(name, `ipset set ${name} for ${family} is already absent`);
  const changes = { locale: name };
  if (__opts__.test)
    return would(name, `ipset set ${name} for ${family} would be removed`, changes);
  if (!(await salt('ipset.flush')(name, family)))
    return failed(name, `Failed to flush set ${name} for ${family}`);
  const done = await salt('ipset.delete_set')(name, family);
  return done === true
    ? changed(name, `ipset set ${name} deleted successfully for family ${family}`, changes)
    : failed(name, `Failed to delete set ${name} for ${family}: ${done}`);
};

/**
 * Makes sure that a set contains entries.
 *
 * @param name a name for the state
 * @param entry an entry or several, each with options behind it where it has some:
 *   `192.0.2.1 timeout 30`
 * @param family `ipv4` or `ipv6`
 * @param set_name the set
 * @param timeout seconds after which they go
 * @param comment a comment on them
 * @param packets initial value of the packet counter
 * @param bytes initial value of the byte counter
 * @param skbmark mark for packets that match
 * @param skbprio priority for them
 * @param skbqueue queue for them
 * @unknown ignored
 * @example
 * spammers:
 *   ipset.present:
 *     - set_name: blocked
 *     - entry: [192.0.2.0/24, 198.51.100.7]
 *     - comment: spam
 */
export const present = async (
  name: string,
  entry: string | string[] | null = null,
  family = 'ipv4',
  {
    set_name = null,
    timeout = null,
    comment = null,
    packets = null,
    bytes = null,
    skbmark = null,
    skbprio = null,
    skbqueue = null,
  }: {
    set_name?: string | null;
    timeout?: Option;
    comment?: string | null;
    packets?: Option;
    bytes?: Option;
    skbmark?: Option;
    skbprio?: Option;
    skbqueue?: Option;
  } = {},
): Promise<StateReturn> => {
  const options = { packets, bytes, skbmark, skbprio, skbqueue };
  return eachEntry({ name, entry, set_name }, async (one, set) => {
    const [element = ''] = one.split(' ', 1);
    const whole = withOptions(one, { timeout, comment });
    if ((await salt('ipset.check')(set, whole, family)) === true)
      return { comment: `entry for ${element} already in set ${set} for ${family}` };
    if (__opts__.test)
      return {
        isToDo: true,
        comment: `entry ${element} would be added to set ${set} for family ${family}`,
      };
    const done: string = await salt('ipset.add')(set, whole, family, options);
    return done.startsWith('Error')
      ? { error: `Failed to add to entry ${whole} to set ${set} for family ${family}.\n${done}` }
      : { isToDo: true, comment: `entry ${whole} added to set ${set} for family ${family}` };
  });
};

/**
 * Makes sure that a set does not contain entries.
 *
 * @param name a name for the state
 * @param entry an entry or several
 * @param entries accepted for compatibility; `entry` counts
 * @param family `ipv4` or `ipv6`
 * @param set_name the set
 * @param timeout has no effect: entries are found without it
 * @param comment only entries with this comment
 * @unknown ignored
 * @example
 * pardoned:
 *   ipset.absent:
 *     - set_name: blocked
 *     - entry: 198.51.100.7
 */
export const absent = async (
  name: string,
  entry: string | string[] | null = null,
  entries: Plain = null,
  family = 'ipv4',
  {
    set_name = null,
    timeout: _timeout = null,
    comment = null,
  }: { set_name?: string | null; timeout?: Option; comment?: string | null } = {},
): Promise<StateReturn> => {
  if (entries !== null && !entry) return failed(name, "'entries' does nothing: 'entry' counts.");
  return eachEntry({ name, entry, set_name }, async (one, set) => {
    const whole = withOptions(one, { comment });
    if ((await salt('ipset.check')(set, whole, family)) !== true)
      return { comment: `ipset entry for ${whole} not present in set ${set} for ${family}` };
    if (__opts__.test)
      return {
        isToDo: true,
        comment: `ipset entry ${one} would be removed from set ${set} for family ${family}`,
      };
    const done: string = await salt('ipset.delete')(set, one, family);
    return done.startsWith('Error')
      ? {
          error: `Failed to delete ipset entry from set ${set} for ${family}. Attempted entry was ${whole}.\n${done}`,
        }
      : {
          isToDo: true,
          comment: `ipset entry ${whole} removed from set ${set} for family ${family}`,
        };
  });
};

/**
 * Makes sure that a set is empty. It is flushed in every run.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`
 * @unknown ignored
 * @example
 * blocked:
 *   ipset.flush: []
 */
export const flush = async (name: string, family = 'ipv4'): Promise<StateReturn> => {
  if ((await salt('ipset.check_set')(name, family)) !== true)
    return failed(name, `ipset set ${name} does not exist for ${family}`);
  const changes = { locale: name };
  if (__opts__.test)
    return would(name, `ipset entries in set ${name} for ${family} would be flushed`, changes);
  return (await salt('ipset.flush')(name, family))
    ? changed(name, `Flushed ipset entries from set ${name} for ${family}`, changes)
    : failed(name, `Failed to flush ipset entries from set ${name} for ${family}`);
};

type Step = { readonly comment?: string; readonly isToDo?: boolean; readonly error?: string };

/** Processes each entry. An error is reported, and the remaining entries are still processed. */
const eachEntry = async (
  {
    name,
    entry,
    set_name,
  }: { name: string; entry: string | string[] | null; set_name: string | null },
  work: (entry: string, set: string) => Promise<Step>,
): Promise<StateReturn> => {
  if (!entry || entry.length === 0) return failed(name, 'ipset entry must be specified');
  if (!set_name) return failed(name, 'set_name must be specified');
  const steps: Step[] = [];
  for (const one of [entry].flat()) steps.push(await work(String(one), set_name));
  const changes: PlainDict = steps.some(({ isToDo }) => isToDo) ? { locale: name } : {};
  const comment = steps.map(step => `${step.error ?? step.comment}\n`).join('');
  if (steps.some(({ error }) => error !== undefined)) return failed(name, comment, changes);
  if (Object.keys(changes).length === 0) return unchanged(name, comment);
  return (__opts__.test ? would : changed)(name, comment, changes);
};

/** Appends options to an entry, unless it has them already. */
const withOptions = (entry: string, options: Readonly<Record<string, Option>>): string => {
  const further = Object.entries(options).flatMap(([option, value]) =>
    value === null || entry.includes(` ${option} `)
      ? []
      : [`${option} "${String(value).replaceAll(/(["\\])/g, '\\$1')}"`],
  );
  return [entry, ...further].join(' ');
};
