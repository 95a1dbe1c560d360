import { writeAtomic } from '../../modules/_shared/files/atomic-write.ts';
import { readOr } from '../../modules/_shared/files/read-file.ts';
import { attempt, type RestoreResult } from './restore.ts';

/** Entries of users in the account files: their lines, and the groups that list them as members. */
export type AccountsSnapshot = ReadonlyMap<string, ReadonlyMap<string, string>>;

const lineFiles = ['/etc/passwd', '/etc/shadow'];
const groupFiles = ['/etc/group', '/etc/gshadow'];

/** Reads the entries of these users in the account files below `root`. */
export const snapshotAccounts = (users: readonly string[], root = ''): AccountsSnapshot =>
  new Map([
    ...lineFiles.map(file => [file, linesOf(root + file, users)] as const),
    ...groupFiles.map(file => [file, membershipsOf(root + file, users)] as const),
  ]);

const linesOf = (file: string, users: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    lines(file)
      .filter(line => users.includes(nameOf(line)))
      .map(line => [nameOf(line), line]),
  );

/** Returns, by group name, those of the users that are members, separated by commas. */
const membershipsOf = (file: string, users: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    lines(file).flatMap(line => {
      const members = membersOf(line).filter(member => users.includes(member));
      return members.length > 0 ? [[nameOf(line), members.join(',')] as const] : [];
    }),
  );

const lines = (file: string): string[] => (readOr(file) ?? '').split('\n');
const nameOf = (line: string): string => line.split(':')[0] ?? '';
const membersOf = (line: string): string[] =>
  (line.split(':')[3] ?? '').split(',').filter(member => member !== '');

/** Restores the lines and groups of these users; all other lines stay as they are. */
export const restoreAccounts = async (
  kept: AccountsSnapshot,
  root = '',
): Promise<RestoreResult> => {
  const outcome: RestoreResult = { restored: [], problems: [] };
  for (const [file, entries] of kept)
    await attempt(outcome, file, () => {
      const old = readOr(root + file);
      if (old === undefined || entries.size === 0) return false;
      const text = (groupFiles.includes(file) ? withMembers : withLines)(old, entries);
      if (text === old) return false;
      writeAtomic(root + file, text);
      return true;
    });
  return outcome;
};

const withLines = (text: string, wanted: ReadonlyMap<string, string>): string => {
  const now = text.split('\n');
  const there = new Set(now.map(nameOf));
  const missing = [...wanted].filter(([name]) => !there.has(name)).map(([, line]) => `${line}\n`);
  return now.map(line => wanted.get(nameOf(line)) ?? line).join('\n') + missing.join('');
};

const withMembers = (text: string, wanted: ReadonlyMap<string, string>): string =>
  text
    .split('\n')
    .map(line => {
      const members = wanted.get(nameOf(line))?.split(',');
      const missing = members?.filter(member => !membersOf(line).includes(member)) ?? [];
      if (missing.length === 0) return line;
      const [name, password, third] = line.split(':');
      return [name, password, third, [...membersOf(line), ...missing].join(',')].join(':');
    })
    .join('\n');
