import { CommandExecutionError } from '../../api.ts';
import { installedBy, runManager } from '../../lib/package-manager.ts';
import { yum, yumProgram } from '../../lib/yum.ts';

/**
 * The packages of a group by kind.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_info 'Development Tools'
 */
export const group_info = async (name: string): Promise<{ [kind: string]: string[] }> => {
  const { code, stdout, stderr } = await runManager(
    [yumProgram(), '-q', 'group', 'info', name],
    yum.locked,
  );
  if (code !== 0 || !/^\s*Group:/m.test(stdout))
    throw new CommandExecutionError(
      `Group '${name}' not found${stderr ? `: ${stderr.trim()}` : ''}`,
    );
  return _parseGroup(stdout);
};

/** The indented lists of `dnf group info`. */
export const _parseGroup = (text: string): { [kind: string]: string[] } => {
  const kinds: { [kind: string]: string[] } = {
    mandatory: [],
    default: [],
    optional: [],
    conditional: [],
  };
  let kind = '';
  for (const line of text.split('\n')) {
    const head = /^\s*(Mandatory|Default|Optional|Conditional) [Pp]ackages\s*:\s*(\S*)/.exec(line);
    const item = head ? head[2] : /^\s*:?\s+[+=-]?(\S+)\s*$/.exec(line)?.[1];
    if (head) kind = (head[1] ?? '').toLowerCase();
    else if (/^\S/.test(line)) kind = '';
    if (kind !== '' && item) kinds[kind]?.push(item);
  }
  return kinds;
};

/**
 * The packages of a group by kind, installed and not.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_diff 'Development Tools'
 */
export const group_diff = async (
  name: string,
): Promise<{ [kind: string]: { installed: string[]; 'not installed': string[] } }> => {
  const have = await installedBy(yum);
  return Object.fromEntries(
    Object.entries(await group_info(name)).map(([kind, names]) => [
      kind,
      {
        installed: names.filter(one => have[one]),
        'not installed': names.filter(one => !have[one]),
      },
    ]),
  );
};
