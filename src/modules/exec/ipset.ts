/**
 * Sets of addresses, networks and ports for iptables. `family` is `ipv4` or `ipv6`.
 *
 * @platform Linux
 * @depends ipset
 */
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../api.ts';
import {
  type IpsetMember,
  isCovered,
  isManyAddresses,
  isSameSpan,
  readMember,
} from '../lib/ipset-members.ts';
import { type CommandResult, runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';
import { splitWords } from '../lib/words.ts';

export const __virtual__ = (): true | [false, string] =>
  which('ipset') !== undefined || [false, 'ipset is not installed.'];

type Family = { family?: string };

const run = async (words: readonly string[]): Promise<CommandResult> =>
  runCommand(['ipset', ...words], { plainLocale: true, cwd: '/' });

const checked = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(words);
  if (code === 0) return stdout;
  throw new CommandExecutionError(`Error: ${stderr.trim() || stdout.trim()}`);
};

const families: Readonly<Record<string, string>> = {
  ipv4: 'inet',
  ip4: 'inet',
  ipv6: 'inet6',
  ip6: 'inet6',
};

const familyOf = (family: string): string => {
  const found = families[family];
  if (found) return found;
  throw new SaltInvocationError(`The family of a set is ipv4 or ipv6, not ${family}.`);
};

/**
 * The version of ipset.
 *
 * @example tsalt-ssh '*' ipset.version
 */
export const version = async (): Promise<string> =>
  (await checked('--version')).split(/\s+/)[1] ?? '';

const flags = ['counters', 'comment', 'skbinfo', 'forceadd'] as const;
const settings = [
  'range',
  'netmask',
  'timeout',
  'hashsize',
  'maxelem',
  'markmask',
  'size',
] as const;

type SetOptions = Family & {
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
 * Makes a set.
 *
 * @param name the set
 * @param set_type its type, `hash:ip`, `hash:net`, `bitmap:port`, `list:set` …
 * @param family of the addresses in it
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
 * @example tsalt-ssh '*' ipset.new_set blocked hash:net comment=True
 */
export const new_set = async (
  name: string,
  set_type: string,
  { family = 'ipv4', ...options }: SetOptions = {},
): Promise<true> => {
  const hasFamily = set_type.startsWith('hash:') && set_type !== 'hash:mac';
  await checked(
    'create',
    name,
    set_type,
    ...settings.flatMap(key => (options[key] === undefined ? [] : [key, String(options[key])])),
    ...(hasFamily ? ['family', familyOf(family)] : []),
    ...flags.filter(key => options[key]),
  );
  return true;
};

/**
 * Removes a set.
 *
 * @param name the set
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.delete_set blocked
 */
export const delete_set = async (
  name: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<true> => {
  await checked('destroy', name);
  return true;
};

/**
 * Gives a set another name.
 *
 * @param name the set
 * @param new_set its new name
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.rename_set blocked new_set=banned
 */
export const rename_set = async (
  name: string,
  new_set: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<true> => {
  await checked('rename', name, new_set);
  return true;
};

const fieldsOf = (block: string): Record<string, string> =>
  Object.fromEntries(
    block.split('\n').flatMap(line => {
      const [, key, value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, value]];
    }),
  );

/**
 * All sets: `Name`, `Type`, `Header`, `References` and so on of each.
 *
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.list_sets
 */
export const list_sets = async ({ family: _family = 'ipv4' }: Family = {}): Promise<PlainDict[]> =>
  (await checked('list', '-t'))
    .split('\n\n')
    .filter(block => block.trim() !== '')
    .map(fieldsOf);

const infoOf = async (name: string): Promise<Record<string, string> | undefined> => {
  const { code, stdout, stderr } = await run(['list', '-t', name]);
  if (code === 0) return fieldsOf(stdout);
  if (stderr.includes('does not exist')) return undefined;
  throw new CommandExecutionError(`Error: ${stderr.trim()}`);
};

/**
 * Whether a set is there.
 *
 * @param name the set
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.check_set blocked
 */
export const check_set = async (
  name: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<boolean> => (await infoOf(name)) !== undefined;

const membersOf = async (name: string): Promise<IpsetMember[]> =>
  (await checked('list', name))
    .split(/^Members:\n/m)
    .slice(1)
    .join('')
    .split('\n')
    .filter(line => line !== '')
    .map(readMember);

const infoFlags = ['skbmark', 'skbprio', 'skbqueue'] as const;
const values = ['timeout', 'packets', 'bytes', ...infoFlags] as const;

type EntryOptions = Family & {
  comment?: string;
  nomatch?: boolean;
  timeout?: string | number;
  packets?: string | number;
  bytes?: string | number;
  skbmark?: string;
  skbprio?: string;
  skbqueue?: string | number;
};

/** What an option needs that the set was made with. */
const neededBy: Readonly<Record<string, string>> = {
  timeout: 'timeout',
  packets: 'counters',
  bytes: 'counters',
  comment: 'comment',
  skbmark: 'skbinfo',
  skbprio: 'skbinfo',
  skbqueue: 'skbinfo',
};

/**
 * Puts an entry into a set, or sets its options anew where it is there: `Success`.
 *
 * @param name the set
 * @param entry the entry, options behind it: `10.0.0.0/24 timeout 60`
 * @param family accepted for compatibility
 * @param comment a comment
 * @param nomatch true: an exception from a larger network
 * @param timeout seconds that it stays
 * @param packets what is counted of it so far
 * @param bytes what is counted of it so far
 * @param skbmark the mark it gives, `0x1/0xff`
 * @param skbprio the class it gives, `1:10`
 * @param skbqueue the queue it gives
 * @example tsalt-ssh '*' ipset.add blocked 192.0.2.0/24 comment='of the lab'
 */
export const add = async (
  name: string,
  entry: string,
  { family: _family = 'ipv4', comment, nomatch = false, ...options }: EntryOptions = {},
): Promise<string> => {
  const info = await infoOf(name);
  if (!info) throw new CommandExecutionError(`Error: Set ${name} does not exist`);
  const words = splitWords(entry);
  const given: [string, string][] = values.flatMap((key): [string, string][] =>
    options[key] === undefined || words.includes(key) ? [] : [[key, String(options[key])]],
  );
  if (comment !== undefined && !words.includes('comment')) given.push(['comment', comment]);
  const made = (info.Header ?? '').split(' ');
  for (const [key] of given) {
    const need = neededBy[key] ?? '';
    if (!made.includes(need))
      throw new CommandExecutionError(`Error: Set ${name} not created with ${need} support`);
  }
  await checked('add', '-exist', name, ...words, ...given.flat(), ...(nomatch ? ['nomatch'] : []));
  return 'Success';
};

/**
 * Takes an entry out of a set: `Success`.
 *
 * @param name the set
 * @param entry the entry
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.delete blocked 192.0.2.0/24
 */
export const delete_ = async (
  name: string,
  entry: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<string> => {
  await checked('del', name, splitWords(entry)[0] ?? '');
  return 'Success';
};

export const __func_alias__ = { delete_: 'delete' };

/**
 * Whether an entry is in a set, with its comment where it has one. Of a range every address has to
 * be there; a network of a set of networks is there as it stands.
 *
 * @param name the set
 * @param entry the entry: `192.0.2.1`, `192.0.2.0/24`, `192.0.2.1-192.0.2.9`
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.check blocked '192.0.2.1 comment "of the lab"'
 */
export const check = async (
  name: string,
  entry: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<boolean> => {
  const info = await infoOf(name);
  if (!info) return false;
  const { element, comment } = readMember(entry);
  if (comment === undefined && !isManyAddresses(element)) return isIn(name, element);
  const members = await membersOf(name);
  if (comment !== undefined)
    return members.some(one => isSameSpan(one.element, element) && one.comment === comment);
  const elements = members.map(one => one.element);
  return info.Type === 'hash:net' && element.includes('/')
    ? elements.some(one => isSameSpan(one, element))
    : isCovered(element, elements);
};

const isIn = async (name: string, element: string): Promise<boolean> => {
  const { code, stderr } = await run(['test', name, element]);
  if (code === 0) return true;
  if (/is NOT in set/.test(stderr)) return false;
  throw new CommandExecutionError(`Error: ${stderr.trim()}`);
};

/**
 * Whether the kernel finds an entry in a set.
 *
 * @param name the set
 * @param entry the entry
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.test blocked 192.0.2.1
 */
export const test = async (
  name: string,
  entry: string,
  { family: _family = 'ipv4' }: Family = {},
): Promise<boolean> => isIn(name, splitWords(entry)[0] ?? '');

/**
 * Empties a set, or all of them.
 *
 * @param name the set; all when not given
 * @param family accepted for compatibility
 * @example tsalt-ssh '*' ipset.flush blocked
 */
export const flush = async (
  name: string | null = null,
  { family: _family = 'ipv4' }: Family = {},
): Promise<boolean> => {
  await checked('flush', ...(name ? [name] : []));
  return true;
};
