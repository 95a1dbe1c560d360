import { runCommand } from '../_shared/commands/run-command.ts';
import { gidOf, uidOf } from '../_shared/files/owner-names.ts';
import { statSync } from '../_shared/safe-fs/fs.ts';
import { forProgram, openParent } from '../_shared/safe-fs/open-parent.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

/** The kind of an entry. */
export type AclKind = 'user' | 'group' | 'mask' | 'other';

/** One line of an ACL; `name` is empty for the owner and the owning group. */
export type AclEntry = {
  readonly kind: AclKind;
  /** True for a default entry, which new files in the folder inherit. */
  readonly isDefault: boolean;
  readonly name: string;
  /** As in a mode: 4 read, 2 write, 1 execute. */
  readonly octal: number;
};

export type Acl = {
  readonly owner: string;
  readonly group: string;
  readonly flags: string | undefined;
  readonly entries: readonly AclEntry[];
};

const kinds: Readonly<Record<string, AclKind>> = {
  u: 'user',
  user: 'user',
  g: 'group',
  group: 'group',
  m: 'mask',
  mask: 'mask',
  o: 'other',
  other: 'other',
};

/**
 * Parses an ACL type: `user`, `default:group`, `d:u` …
 *
 * @throws SaltInvocationError for any other type
 */
export const aclType = (text: string): { kind: AclKind; isDefault: boolean } => {
  const [, prefix, word = ''] = /^(d:|default:)?(.*)$/s.exec(text) ?? [];
  const kind = Object.hasOwn(kinds, word) ? kinds[word] : undefined;
  if (kind === undefined)
    throw new SaltInvocationError(
      `ACL Type does not exist: '${text}' is not one of user, group, mask and other, with or without the prefix default:.`,
    );
  return { kind, isDefault: prefix !== undefined };
};

/**
 * Returns the bits of `rwx`, `r-x` or `7`; `X` sets execute only for folders and already executable
 * files.
 */
export const aclBits = (perms: string, canExecute: boolean): number =>
  /^[0-7]$/.test(perms)
    ? Number(perms)
    : (perms.includes('r') ? 4 : 0) |
      (perms.includes('w') ? 2 : 0) |
      (perms.includes('x') || (perms.includes('X') && canExecute) ? 1 : 0);

/** `r-x` for 5. */
export const aclLetters = (octal: number): string =>
  `${octal & 4 ? 'r' : '-'}${octal & 2 ? 'w' : '-'}${octal & 1 ? 'x' : '-'}`;

const run = async (argv: readonly [string, ...string[]]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(argv, { plainLocale: true, cwd: '/' });
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || `${argv[0]} failed`);
  return stdout;
};

/** Returns the ACLs of paths, and with `recursive` of everything below them. */
export const readAcls = async (
  paths: readonly string[],
  recursive: boolean,
): Promise<Map<string, Acl>> =>
  parseAcls(
    await run([
      ...(['getfacl', '--absolute-names', '--no-effective'] as const),
      ...(recursive ? ['--recursive'] : []),
      ...['--', ...paths],
    ]),
  );

/**
 * Parses the output of getfacl: blocks of `# file:`, `# owner:`, `# group:`, optionally `# flags:`,
 * and entries.
 */
export const parseAcls = (text: string): Map<string, Acl> => {
  const all = new Map<string, Acl>();
  for (const block of text.split('\n\n')) {
    const heads: Record<string, string> = {};
    const entries: AclEntry[] = [];
    for (const line of block.split('\n')) {
      const [, key, value = ''] = /^# (file|owner|group|flags): (.*)$/.exec(line) ?? [];
      if (key !== undefined) heads[key] = unquote(value);
      const [, inherited, kind, name = '', perms = ''] =
        /^(default:)?(user|group|mask|other):(.*):([rwx-]{3})$/.exec(line) ?? [];
      if (kind !== undefined)
        entries.push({
          kind: kind as AclKind,
          isDefault: inherited !== undefined,
          name: unquote(name),
          octal: aclBits(perms, false),
        });
    }
    const { file, owner = '', group = '', flags } = heads;
    if (file !== undefined) all.set(file, { owner, group, flags, entries });
  }
  return all;
};

/** Decodes octal escapes: getfacl uses them for characters that would break a line. */
const unquote = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/** Formats an entry for setfacl: `d:u:ann:rwx`. */
export const aclArg = (type: string, name: string, perms?: string): string => {
  const { kind, isDefault } = aclType(type);
  const parts = [...(isDefault ? ['d'] : []), kind[0] ?? '', name];
  return [...parts, ...(perms === undefined ? [] : [perms])].join(':');
};

/** Runs setfacl on paths: `--modify WORD`, `--remove WORD` or `--remove-all`. */
export const setAcls = async (
  change: readonly string[],
  paths: readonly string[],
  recursive: boolean,
): Promise<void> => {
  const options = [...(recursive ? ['--recursive', '--physical'] : []), ...change];
  for (const path of paths) {
    const place = openParent(path, true);
    try {
      await run(['setfacl', ...options, '--', forProgram(place)]);
    } finally {
      place.close();
    }
  }
};

/** Returns the ACL entry of a user or group, by name or number. */
export const entryOf = (acl: Acl, type: string, name: string): AclEntry | undefined => {
  const { kind, isDefault } = aclType(type);
  return acl.entries.find(
    entry => entry.kind === kind && entry.isDefault === isDefault && isSame(kind, entry.name, name),
  );
};

const isSame = (kind: AclKind, have: string, wanted: string): boolean => {
  if (have === wanted) return true;
  if (have === '' || !/^\d+$/.test(wanted)) return false;
  return (kind === 'user' ? uidOf(have) : gidOf(have)) === Number(wanted);
};

/** Whether an ACL grants these permissions to a user or group. Only folders have default entries. */
export const grants = (
  path: string,
  acl: Acl,
  type: string,
  name: string,
  perms: string,
): boolean => {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const { isDefault } = aclType(type);
  if (isDefault && !isFolder) return true;
  const canExecute =
    isFolder || acl.entries.some(entry => entry.isDefault === isDefault && (entry.octal & 1) === 1);
  return entryOf(acl, type, name)?.octal === aclBits(perms, canExecute);
};
