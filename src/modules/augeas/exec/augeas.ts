/**
 * Reads and edits configuration files as trees with augeas.
 *
 * @depends augtool (Debian's augeas-tools)
 */
import { messageOf } from '../../../protocol/error.ts';
import { which } from '../../_shared/commands/which.ts';
import { SaltInvocationError } from '../../api.ts';
import { readAugeasCommand, toAugtool } from '../augeas-commands.ts';
import { type AugeasCommand, readNodes, readPrinted, runAndSave, runAugtool } from '../augtool.ts';

export const __virtual__ = (): true | [false, string] =>
  which('augtool') !== undefined || [false, 'augtool is not installed.'];

type Nodes = { [path: string]: string | null };
type Done = { retval: boolean; error?: string };

/**
 * Runs commands and saves: `set PATH [VALUE]`, `setm BASE SUB [VALUE]`, `mv FROM TO`, `ins LABEL before|after PATH`,
 * `rm PATH`. When one of them fails nothing is saved.
 *
 * @param context the file with `/files` before it: paths are below it
 * @param lens the lens that reads it, as `Hosts.lns`; with it no other file is read
 * @param commands the commands
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.execute /files/etc/redis/redis.conf commands='["set bind 0.0.0.0"]'
 */
export const execute = async (
  context: string | null = null,
  lens: string | null = null,
  commands: string[] = [],
  load_path: string | null = null,
): Promise<Done> => {
  const read: AugeasCommand[] = [];
  for (const line of commands) {
    const command = readAugeasCommand(line);
    if ('error' in command) return { retval: false, error: command.error };
    read.push(toAugtool(command, context));
  }
  try {
    await runAndSave(read, { loadPath: load_path, lens, context });
    return { retval: true };
  } catch (error) {
    const hint =
      lens && !lens.endsWith('.lns')
        ? `\nLenses are normally configured as "name.lns". Did you mean "${lens}.lns"?`
        : '';
    return { retval: false, error: messageOf(error) + hint };
  }
};

const clean = (path: string): string => path.replace(/\/+$/, '');
const fault = (error: string): string => error.replace(/^error: /gm, '');

/**
 * Returns the value of a node as `{path: value}`, with an empty string if the node does not exist.
 *
 * @param path the node
 * @param value a node below it
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.get /files/etc/hosts/1 ipaddr
 */
export const get = async (
  path: string,
  value = '',
  load_path: string | null = null,
): Promise<Nodes | { error: string }> => {
  const node = value ? `${clean(path)}/${value.replace(/^\/+|\/+$/g, '')}` : clean(path);
  const { stdout, error } = await runAugtool([['get', node]], { loadPath: load_path });
  if (error) return { error: fault(error) };
  const [found] = / \(o\)\n?$/.test(stdout) ? [] : readNodes(stdout);
  return { [node]: found ? found[1] : '' };
};

/**
 * Sets nodes and saves.
 *
 * @param prefix prefix of all paths
 * @param load_path folders with further lenses, separated by colons
 * @param args paths and values in turn
 * @example tsalt-ssh '*' augeas.setvalue /files/etc/hosts/01/ipaddr 192.168.1.1 /files/etc/hosts/01/canonical test
 */
export const setvalue = async (
  { prefix = null, load_path = null }: { prefix?: string | null; load_path?: string | null },
  ...args: (string | number | boolean)[]
): Promise<Done> => {
  const words = args.map(String);
  // Arguments from SLS files are split into words, as in Salt.
  const one = (name: string, given: string | null): string | null => {
    const found = words.filter(word => word.startsWith(`${name}=`));
    if (found.length + (given === null ? 0 : 1) > 1)
      throw new SaltInvocationError(`Only one '${name}=' value is permitted`);
    return given ?? found[0]?.slice(name.length + 1) ?? null;
  };
  const [loadPath, above] = [one('load_path', load_path), one('prefix', prefix)];
  const rest = words.filter(word => !/^(?:prefix|load_path)=/.test(word));
  if (rest.length % 2 !== 0) throw new SaltInvocationError('Uneven number of path/value arguments');
  const commands: AugeasCommand[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const path = rest[at] ?? '';
    const whole = above ? `${clean(above)}/${path.replace(/^\/+/, '')}` : path;
    commands.push(['set', whole, rest[at + 1] ?? '']);
  }
  try {
    await runAndSave(commands, { loadPath });
    return { retval: true };
  } catch (error) {
    return { retval: false, error: messageOf(error) };
  }
};

/**
 * Returns the nodes that a path matches: `{path: value}`.
 *
 * @param path the path
 * @param value only those with this value
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.match /files/etc/services/service-name ssh
 */
export const match = async (
  path: string,
  value = '',
  load_path: string | null = null,
): Promise<Nodes> => {
  const { stdout } = await runAugtool([['match', path]], { loadPath: load_path });
  return Object.fromEntries(readNodes(stdout).filter(([, have]) => !value || have === value));
};

/**
 * Removes nodes and saves: `{retval, count}`.
 *
 * @param path path expression of the nodes
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.remove /files/etc/sysctl.conf/net.ipv4.conf.all.log_martians
 */
export const remove = async (
  path: string,
  load_path: string | null = null,
): Promise<Done & { count: number }> => {
  try {
    const said = await runAndSave([['rm', path]], { loadPath: load_path });
    return { retval: true, count: Number(/^rm : .* (\d+)$/m.exec(said)?.[1] ?? 0) };
  } catch (error) {
    const isPath = messageOf(error) === 'Unable to save to file!';
    return { retval: false, error: isPath ? messageOf(error) : 'Invalid node', count: -1 };
  }
};

/**
 * Returns the direct children of a node: `{name: value}`. Names of children that have children
 * themselves end in a slash.
 *
 * @param path the node
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.ls /files/etc/passwd
 */
export const ls = async (path: string, load_path: string | null = null): Promise<Nodes> => {
  const above = `${clean(path)}/`;
  const { stdout } = await runAugtool(
    [
      ['match', `${above}*`],
      ['match', `${above}*[*]`],
    ],
    { loadPath: load_path },
  );
  const nodes = new Map<string, string | null>();
  const folders = new Set<string>();
  for (const [node, value] of readNodes(stdout)) {
    const name = node.slice(above.length);
    // The second result contains only nodes that have children.
    if (nodes.has(name)) folders.add(name);
    else nodes.set(name, value);
  }
  return Object.fromEntries(
    [...nodes].map(([name, value]) => [folders.has(name) ? `${name}/` : name, value]),
  );
};

/**
 * Returns a node and everything below it: `{path: value}`.
 *
 * @param path the node
 * @param load_path folders with further lenses, separated by colons
 * @example tsalt-ssh '*' augeas.tree /files/etc/hosts
 */
export const tree = async (path: string, load_path: string | null = null): Promise<Nodes> => {
  const node = clean(path);
  const { stdout, error } = await runAugtool([['print', node]], { loadPath: load_path });
  if (error) throw new SaltInvocationError(`augeas cannot show ${node}: ${fault(error)}`);
  const found = readPrinted(stdout);
  return found.length > 0 ? Object.fromEntries(found) : { [node]: null };
};
