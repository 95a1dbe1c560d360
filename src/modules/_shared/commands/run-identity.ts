import { CommandExecutionError } from '../../api.ts';
import { statSync } from '../safe-fs/fs.ts';
import { type PasswdEntry, readAccounts, readGroups } from './accounts.ts';
import { which } from './which.ts';

/** As whom a command runs, and how it is started for that. */
export type Identity = {
  /** A program that root runs to become this user, where node cannot do it: it has other groups. */
  readonly changer?: readonly [string, ...string[]];
  readonly uid?: number;
  readonly gid?: number;
  readonly home?: string;
  readonly env: Readonly<Record<string, string>>;
};

const noChange: Identity = { env: {} };

/** Asks a directory service for a line of passwd(5). */
type AskPasswd = (name: string) => Promise<string>;

/**
 * Resolves `runas` and `group` to the IDs that a command runs with.
 *
 * @throws CommandExecutionError if the user or group does not exist, or may not be used
 */
export const resolveIdentity = async (
  { runas, group }: { runas?: string | number | undefined; group?: string | number | undefined },
  ask: AskPasswd,
): Promise<Identity> => {
  if (runas === undefined && group === undefined) return noChange;
  const account = runas === undefined ? undefined : await findAccount(runas, ask);
  const gid = group === undefined ? account?.gid : await findGid(group);
  const env = account
    ? { HOME: account.home, USER: account.name, LOGNAME: account.name, SHELL: account.shell }
    : {};
  const home = account && isFolder(account.home) ? account.home : '/';
  const uid = process.getuid?.();
  if (uid !== 0) {
    if ((account && account.uid !== uid) || (gid !== undefined && gid !== process.getgid?.()))
      throw new CommandExecutionError(
        `Cannot run a command as ${runas ?? `group ${group}`}: only root can, and this is uid ${uid}.`,
      );
    return { env, home };
  }
  const supplementary = account ? await hasSupplementaryGroups(account) : false;
  const setpriv = supplementary ? which('setpriv') : undefined;
  if (account && setpriv)
    return {
      changer: [
        setpriv,
        `--reuid=${account.uid}`,
        `--regid=${gid ?? account.gid}`,
        '--init-groups',
        '--',
      ],
      env,
      home,
    };
  return {
    ...(account ? { uid: account.uid } : {}),
    ...(gid === undefined ? {} : { gid }),
    env,
    home,
  };
};

const findAccount = async (runas: string | number, ask: AskPasswd): Promise<PasswdEntry> => {
  const text = String(runas);
  const accounts = await readAccounts();
  const found =
    accounts.find(({ name }) => name === text) ?? accounts.find(({ uid }) => String(uid) === text);
  if (found) return found;
  const remote = which('getent') ? parseFirst(await ask(text)) : undefined;
  if (remote) return remote;
  throw new CommandExecutionError(`User '${text}' is not available`);
};

const parseFirst = (line: string): PasswdEntry | undefined => {
  const [name, passwd, uid, gid, gecos, home, shell] = line.trim().split(':');
  if (!name || !uid || !gid) return undefined;
  return {
    name,
    passwd: passwd ?? '',
    uid: Number(uid),
    gid: Number(gid),
    gecos: gecos ?? '',
    home: home ?? '/',
    shell: shell ?? '/bin/sh',
  };
};

const findGid = async (group: string | number): Promise<number> => {
  const text = String(group);
  const groups = await readGroups();
  const found =
    groups.find(({ name }) => name === text) ?? groups.find(({ gid }) => String(gid) === text);
  if (found) return found.gid;
  if (/^\d+$/.test(text)) return Number(text);
  throw new CommandExecutionError(`Group '${text}' is not available`);
};

/** Groups from a directory service count too: an account that is not local is assumed to have some. */
const hasSupplementaryGroups = async ({ name, gid }: PasswdEntry): Promise<boolean> => {
  const local = (await readAccounts()).some(account => account.name === name);
  return (
    !local || (await readGroups()).some(group => group.gid !== gid && group.members.includes(name))
  );
};

export const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};
