import { readFile } from '../safe-fs/promises.ts';

/** A line of passwd(5). */
export type PasswdEntry = {
  readonly name: string;
  readonly passwd: string;
  readonly uid: number;
  readonly gid: number;
  readonly gecos: string;
  readonly home: string;
  readonly shell: string;
};

/** A line of group(5). */
export type GroupEntry = {
  readonly name: string;
  readonly passwd: string;
  readonly gid: number;
  readonly members: readonly string[];
};

/** The local accounts in file order. Malformed lines and NIS entries (`+…`) are left out. */
export const readAccounts = async (file = '/etc/passwd'): Promise<PasswdEntry[]> =>
  parseAccounts(await readText(file));

/** The local groups in file order. */
export const readGroups = async (file = '/etc/group'): Promise<GroupEntry[]> =>
  parseGroups(await readText(file));

export const parseAccounts = (text: string): PasswdEntry[] =>
  text.split('\n').flatMap(line => {
    const [name, passwd, uid, gid, gecos, home, shell] = line.split(':');
    if (!name || name.startsWith('+') || !isId(uid) || !isId(gid)) return [];
    return [
      {
        name,
        passwd: passwd ?? '',
        uid: Number(uid),
        gid: Number(gid),
        gecos: gecos ?? '',
        home: home ?? '',
        shell: shell ?? '',
      },
    ];
  });

export const parseGroups = (text: string): GroupEntry[] =>
  text.split('\n').flatMap(line => {
    const [name, passwd, gid, members] = line.split(':');
    if (!name || name.startsWith('+') || !isId(gid)) return [];
    return [
      {
        name,
        passwd: passwd ?? '',
        gid: Number(gid),
        members: (members ?? '').split(',').filter(member => member !== ''),
      },
    ];
  });

const isId = (text: string | undefined): boolean => text !== undefined && /^\d+$/.test(text);

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return '';
  }
};
