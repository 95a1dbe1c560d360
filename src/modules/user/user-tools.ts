import {
  type GroupEntry,
  type PasswdEntry,
  readAccounts,
  readGroups,
} from '../_shared/commands/accounts.ts';
import { inRoot } from '../_shared/commands/other-root.ts';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { readOr } from '../_shared/files/read-file.ts';
import { CommandExecutionError } from '../api.ts';

/** A folder with another system in it; null for this one. */
export type SystemRoot = string | null | undefined;

export const runUserTool = (argv: readonly [string, ...string[]]): Promise<CommandResult> =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

/** Runs a tool of the shadow suite; what it says is the error. */
export const tool = async (argv: readonly [string, ...string[]]): Promise<true> => {
  const { code, stderr } = await runUserTool(argv);
  if (code !== 0)
    throw new CommandExecutionError(stderr.trim() || `${argv[0]} failed with status ${code}`);
  return true;
};

/** The account of this name, of another system only from its own file. */
export const findUser = async (
  name: string,
  root: SystemRoot,
): Promise<PasswdEntry | undefined> => {
  const local = (await localUsers(root)).find(account => account.name === name);
  if (local || root || !usesDirectory()) return local;
  const { code, stdout } = await runUserTool(['getent', 'passwd', '--', name]);
  const [first, passwd, uid, gid, gecos, home, shell] = stdout.trim().split(':');
  if (code !== 0 || !first || !uid || !gid) return undefined;
  return {
    name: first,
    passwd: passwd ?? 'x',
    uid: Number(uid),
    gid: Number(gid),
    gecos: gecos ?? '',
    home: home ?? '',
    shell: shell ?? '',
  };
};

/** Whether nsswitch.conf names a source besides the local files: only then is a lookup worth a process. */
const usesDirectory = (): boolean => {
  const line = /^passwd:(.*)$/m.exec(readOr('/etc/nsswitch.conf') ?? '')?.[1] ?? 'files';
  const local = ['files', 'compat', 'systemd', 'db', 'altfiles'];
  return (
    which('getent') !== undefined &&
    line
      .replace(/\[.*?\]/g, '')
      .split(/\s+/)
      .some(source => source !== '' && !source.startsWith('#') && !local.includes(source))
  );
};

/** Names of the groups that an account is in. */
export const groupsOf = async ({ name, gid }: PasswdEntry, root: SystemRoot): Promise<string[]> =>
  (await localGroups(root))
    .filter(group => group.gid === gid || group.members.includes(name))
    .map(group => group.name)
    .sort();

/** The accounts in the file of a system. */
export const localUsers = (root: SystemRoot): Promise<PasswdEntry[]> =>
  readAccounts(inRoot('/etc/passwd', root));

/** The groups in the file of a system. */
export const localGroups = (root: SystemRoot): Promise<GroupEntry[]> =>
  readGroups(inRoot('/etc/group', root));
