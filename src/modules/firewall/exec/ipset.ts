/**
 * Sets of addresses, networks and ports that firewall rules refer to.
 *
 * @platform linux
 * @depends ipset
 */
import { getOwn } from '../../../protocol/plain.ts';
import { runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { toList } from '../../_shared/states/values.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../../api.ts';
import { holdsEntry, optionArgs, parseEntry } from '../ipset-members.ts';

export const __virtual__ = (): true | [false, string] =>
  which('ipset') !== undefined || [false, 'ipset is not installed.'];

export const __func_alias__ = { delete_: 'delete' };

type Option = number | string | null;

type EntryOptions = Readonly<Record<string, Option>>;

const families: Readonly<Record<string, string>> = {
  ipv4: 'inet',
  ip4: 'inet',
  ipv6: 'inet6',
  ip6: 'inet6',
};

const protocolOf = (family: string): string => {
  const found = getOwn(families, family);
  if (found) return found;
  throw new SaltInvocationError(`'${family}' is not a family. Use ipv4 or ipv6.`);
};

/** Runs ipset and returns its error message; undefined on success. */
const ipset = async (...words: string[]): Promise<string | undefined> => {
  const { code, stdout, stderr } = await runCommand(['ipset', ...words], { plainLocale: true });
  return code === 0 ? undefined : (stderr || stdout).trim();
};

/**
 * Returns the version of ipset.
 *
 * @example tsalt-ssh '*' ipset.version
 */
export const version = async (): Promise<string> =>
  (await runChecked(['ipset', '--version'], { plainLocale: true })).stdout.split(/[\s,]+/)[1] ?? '';

/**
 * Makes a set.
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
 * @returns true, or what was wrong
 * @unknown ignored
 * @example tsalt-ssh '*' ipset.new_set blocked hash:net comment=True
 */
export const new_set = async (
  name: string,
  set_type: string,
  family = 'ipv4',
  comment: Plain = false,
  {
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
): Promise<true | string> => {
  const protocol = protocolOf(family);
  if (!name) return 'Error: Set Name needs to be specified';
  if (!set_type) return 'Error: Set Type needs to be specified';
  if (!/^(?:bitmap|hash|list):/.test(set_type)) return 'Error: Set Type is invalid';
  if (set_type.startsWith('bitmap:') && !range) return 'Error: range is a required argument';
  const hasFamily = set_type.startsWith('hash:') && set_type !== 'hash:mac';
  const wrong = await ipset(
    'create',
    name,
    set_type,
    ...valueWords({ range, netmask, timeout, hashsize, maxelem, markmask, size }),
    ...(counters ? ['counters'] : []),
    ...(skbinfo ? ['skbinfo'] : []),
    ...(hasFamily ? ['family', protocol] : []),
    ...(comment ? ['comment'] : []),
  );
  return wrong ?? true;
};

const valueWords = (values: Readonly<Record<string, Option>>): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [name, String(value)],
  );

/**
 * Removes a set.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @returns true, or what was wrong
 * @example tsalt-ssh '*' ipset.delete_set blocked
 */
export const delete_set = async (name: string, family = 'ipv4'): Promise<true | string> => {
  protocolOf(family);
  return name ? ((await ipset('destroy', name)) ?? true) : 'Error: Set needs to be specified';
};

/**
 * Renames a set.
 *
 * @param name the set
 * @param new_set its name to be
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @returns true, or what was wrong
 * @example tsalt-ssh '*' ipset.rename_set blocked denied
 */
export const rename_set = async (
  name: string,
  new_set: string,
  family = 'ipv4',
): Promise<true | string> => {
  protocolOf(family);
  if (!name) return 'Error: Set needs to be specified';
  if (!new_set) return 'Error: New name for set needs to be specified';
  if (!(await headOf(name))) return 'Error: Set does not exist';
  if (await headOf(new_set)) return 'Error: New Set already exists';
  return (await ipset('rename', name, new_set)) ?? true;
};

/**
 * Returns all sets with ipset's information about each, without their entries.
 *
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @example tsalt-ssh '*' ipset.list_sets
 */
export const list_sets = async (family = 'ipv4'): Promise<PlainDict[]> => {
  protocolOf(family);
  const { stdout } = await runChecked(['ipset', 'list', '-t'], { plainLocale: true });
  return stdout
    .split('\n\n')
    .map(text => fieldsOf(text))
    .filter(set => Object.keys(set).length > 0);
};

/**
 * Whether there is a set of this name.
 *
 * @param name the set
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @example tsalt-ssh '*' ipset.check_set blocked
 */
export const check_set = async (name: string, family = 'ipv4'): Promise<boolean | string> => {
  protocolOf(family);
  return name ? (await headOf(name)) !== undefined : 'Error: Set needs to be specified';
};

/**
 * Adds an entry to a set.
 *
 * @param name the set
 * @param entry the entry, optionally followed by options: `192.0.2.1 timeout 30`
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @param timeout seconds after which it is removed
 * @param comment a comment on it
 * @param packets initial value of the packet counter
 * @param bytes initial value of the byte counter
 * @param skbmark mark for packets that match
 * @param skbprio priority for them
 * @param skbqueue queue for them
 * @returns `Success`, or a text that begins with `Warn:` or `Error:`
 * @unknown ignored
 * @example tsalt-ssh '*' ipset.add blocked 192.0.2.0/24
 */
export const add = async (
  name: string,
  entry: string,
  family = 'ipv4',
  {
    timeout = null,
    comment = null,
    packets = null,
    bytes = null,
    skbmark = null,
    skbprio = null,
    skbqueue = null,
  }: {
    timeout?: Option;
    comment?: string | null;
    packets?: Option;
    bytes?: Option;
    skbmark?: Option;
    skbprio?: Option;
    skbqueue?: Option;
  } = {},
): Promise<string> => {
  protocolOf(family);
  if (!name) return 'Error: Set needs to be specified';
  if (!entry) return 'Error: Entry needs to be specified';
  const head = await headOf(name);
  if (!head) return `Error: Set ${name} does not exist`;
  const given = { timeout, comment, packets, bytes, skbmark, skbprio, skbqueue };
  const wanted = withOptions(entry, given);
  const lacking = needs.find(
    ([option, support]) =>
      wanted.options.has(option) &&
      !String(head.Header ?? '')
        .split(' ')
        .includes(support),
  );
  if (lacking) return `Error: Set ${name} not created with ${lacking[1]} support`;
  if ((await membersOf(name))?.includes(entry))
    return `Warn: Entry ${entry} already exists in set ${name}`;
  // `-exist` updates the comment and timeout of an existing entry.
  const wrong = await ipset('add', '-exist', name, wanted.element, ...optionArgs(wanted));
  return wrong === undefined ? 'Success' : `Error: ${wrong}`;
};

/** The support that a set needs for an entry's option. */
const needs: readonly (readonly [option: string, support: string])[] = [
  ['timeout', 'timeout'],
  ['packets', 'counters'],
  ['bytes', 'counters'],
  ['comment', 'comment'],
  ['skbmark', 'skbinfo'],
  ['skbprio', 'skbinfo'],
  ['skbqueue', 'skbinfo'],
];

const withOptions = (entry: string, more: EntryOptions) => {
  const { element, options } = parseEntry(entry);
  const further = Object.entries(more).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, String(value)]],
  );
  return { element, options: new Map([...further, ...options]) };
};

/**
 * Removes an entry from a set.
 *
 * @param name the set
 * @param entry the entry
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @returns `Success`, or a text that begins with `Error:`
 * @unknown ignored
 * @example tsalt-ssh '*' ipset.delete blocked 192.0.2.0/24
 */
export const delete_ = async (name: string, entry: string, family = 'ipv4'): Promise<string> => {
  protocolOf(family);
  if (!name) return 'Error: Set needs to be specified';
  if (!entry) return 'Error: Entry needs to be specified';
  if (!(await headOf(name))) return `Error: Set ${name} does not exist`;
  const wrong = await ipset('del', name, parseEntry(entry).element);
  return wrong === undefined ? 'Success' : `Error: ${wrong}`;
};

/**
 * Whether the entries of a set hold one, all of its addresses and its comment where it has one.
 *
 * @param name the set
 * @param entry an address, a range or a network, with a comment or not; or several of them, of which
 *   one is enough
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @example tsalt-ssh '*' ipset.check blocked '192.0.2.1 comment "Hello"'
 */
export const check = async (
  name: string,
  entry: string | string[],
  family = 'ipv4',
): Promise<boolean | string> => {
  protocolOf(family);
  if (!name) return 'Error: Set needs to be specified';
  if (!entry || entry.length === 0) return 'Error: Entry needs to be specified';
  const members = (await membersOf(name))?.map(parseEntry);
  if (!members) return `Error: Set ${name} does not exist`;
  const wanted = Array.isArray(entry) ? toList(entry) : [entry];
  return wanted.some(one => holdsEntry(members, parseEntry(one)));
};

/**
 * Whether the kernel finds an entry in a set.
 *
 * @param name the set
 * @param entry the entry
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @unknown ignored
 * @example tsalt-ssh '*' ipset.test blocked 192.0.2.2
 */
export const test = async (
  name: string,
  entry: string,
  family = 'ipv4',
): Promise<boolean | string> => {
  protocolOf(family);
  if (!name) return 'Error: Set needs to be specified';
  if (!entry) return 'Error: Entry needs to be specified';
  if (!(await headOf(name))) return `Error: Set ${name} does not exist`;
  return (await ipset('test', name, entry)) === undefined;
};

/**
 * Removes all entries from a set, or from all sets.
 *
 * @param name the set; without it all
 * @param family `ipv4` or `ipv6`; a set is found by its name alone
 * @example tsalt-ssh '*' ipset.flush blocked
 */
export const flush = async (name: string | null = null, family = 'ipv4'): Promise<boolean> => {
  protocolOf(family);
  return (await ipset('flush', ...(name ? [name] : []))) === undefined;
};

const fieldsOf = (text: string): PlainDict =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => line.includes(':'))
      .map(line => {
        const at = line.indexOf(':');
        return [line.slice(0, at), line.slice(at + 1).trim()];
      }),
  );

/** Returns ipset's information about a set; undefined if it does not exist. */
const headOf = async (name: string): Promise<PlainDict | undefined> => {
  const { code, stdout } = await runCommand(['ipset', 'list', '-t', name], { plainLocale: true });
  return code === 0 ? fieldsOf(stdout) : undefined;
};

const membersOf = async (name: string): Promise<string[] | undefined> => {
  const { code, stdout } = await runCommand(['ipset', 'list', name], { plainLocale: true });
  if (code !== 0) return undefined;
  return stdout
    .replace(/^[\s\S]*?^Members:\n?/m, '')
    .split('\n')
    .filter(Boolean);
};
