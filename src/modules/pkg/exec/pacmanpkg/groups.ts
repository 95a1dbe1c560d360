import { salt } from '../../../_shared/states/call.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import type { PackageList } from '../../packages.ts';
import { runPacman } from '../../pacman.ts';

/** The members of groups from lines of `group package`. */
const membersIn = (text: string): Map<string, string[]> => {
  const members = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [group, name] = line.trim().split(/\s+/);
    if (group && name) members.set(group, [...(members.get(group) ?? []), name]);
  }
  return members;
};

/**
 * The groups of packages: installed, partially installed, and the others.
 *
 * @example tsalt-ssh '*' pkg.group_list
 */
export const group_list = async (): Promise<{
  installed: string[];
  partially_installed: string[];
  available: string[];
}> => {
  const known = membersIn((await runPacman('-Sgg')).stdout);
  const have = membersIn((await runPacman('-Qg')).stdout);
  const among = (isSo: (all: string[], there: string[]) => boolean): string[] =>
    [...known]
      .filter(([group, all]) => isSo(all, have.get(group) ?? []))
      .map(([group]) => group)
      .sort();
  return {
    installed: among((all, there) => there.length > 0 && there.length === all.length),
    partially_installed: among((all, there) => there.length > 0 && there.length !== all.length),
    available: among((_, there) => there.length === 0),
  };
};

type Kinds<T> = { mandatory: T; optional: T; default: T; conditional: T };

/**
 * Lists the packages of a group, as `default`: pacman has no other kinds.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_info base-devel
 */
export const group_info = async (name: string): Promise<Kinds<string[]>> => {
  const { code, stdout } = await runPacman('-Sgq', name);
  if (code !== 0) throw new CommandExecutionError(`Group '${name}' not found`);
  const names = stdout.split('\n').filter(line => line !== '');
  return { mandatory: [], optional: [], default: [...new Set(names)].sort(), conditional: [] };
};

/**
 * The packages of a group by kind, installed and not.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_diff base-devel
 */
export const group_diff = async (
  name: string,
  _options: PlainDict = {},
): Promise<Kinds<{ installed: string[]; 'not installed': string[] }>> => {
  const info = await group_info(name);
  const have: PackageList = await salt('pkg.list_pkgs')({ versions_as_list: true });
  const split = (names: string[]) => ({
    installed: names.filter(one => have[one]),
    'not installed': names.filter(one => !have[one]),
  });
  return {
    mandatory: split(info.mandatory),
    optional: split(info.optional),
    default: split(info.default),
    conditional: split(info.conditional),
  };
};
