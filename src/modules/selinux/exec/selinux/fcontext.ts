import type { CommandResult } from '../../../_shared/commands/run-command.ts';
import {
  parseContext,
  runPlain,
  type SelinuxResult,
  selinuxResult,
  semanageAdd,
  semanageLines,
} from '../../../_shared/files/selinux-run.ts';
import { SaltInvocationError } from '../../../api.ts';

const fileTypes: Readonly<Record<string, string>> = {
  a: 'all files',
  f: 'regular file',
  d: 'directory',
  c: 'character device',
  b: 'block device',
  s: 'socket',
  l: 'symbolic link',
  p: 'named pipe',
};

const fileTypeName = (filetype: string): string => {
  const name = fileTypes[filetype];
  if (name === undefined) throw new SaltInvocationError(`Invalid filetype given: ${filetype}`);
  return name;
};

/**
 * Returns semanage's name of a file type.
 *
 * @param filetype one of `a f d c b s l p`
 * @example tsalt-ssh '*' selinux.filetype_id_to_string d
 */
export const filetype_id_to_string = async (filetype = 'a'): Promise<string> =>
  fileTypeName(filetype);

type Options = {
  filetype?: string | null;
  sel_type?: string | null;
  sel_user?: string | null;
  sel_level?: string | null;
};

/**
 * The rule for a file specification; null when there is none.
 *
 * @param name the specification, as in the policy
 * @param filetype for this type of files: one of `a f d c b s l p`
 * @param sel_type with this type
 * @param sel_user with this user
 * @param sel_level with this level
 * @example tsalt-ssh '*' selinux.fcontext_get_policy '/srv/web(/.*)?'
 */
export const fcontext_get_policy = async (
  name: string,
  { filetype = null, sel_type = null, sel_user = null, sel_level = null }: Options = {},
): Promise<{ [part: string]: string } | null> => {
  const kind = filetype === null ? null : fileTypeName(filetype);
  const wanted = Object.entries({ filetype: kind, sel_type, sel_user, sel_level });
  const rules = _parseFileContexts(await semanageLines('fcontext'));
  return (
    rules.find(
      rule =>
        rule.filespec === name &&
        wanted.every(([key, value]) => value === null || rule[key] === value),
    ) ?? null
  );
};

/** Lines of `specification  type of files  user:role:type:level`. */
export const _parseFileContexts = (lines: readonly string[]): { [part: string]: string }[] => {
  const pattern = new RegExp(`^(.*?\\S)\\s+(${Object.values(fileTypes).join('|')})\\s+(\\S+)\\s*$`);
  return lines.flatMap(line => {
    const match = pattern.exec(line);
    if (!match || !/^[^:]+:[^:]+:[^:]+:/.test(match[3] ?? '')) return [];
    const [, filespec = '', filetype = '', context = ''] = match;
    return [{ filespec, filetype, ...parseContext(context) }];
  });
};

/**
 * Adds or changes the rule for a file specification.
 *
 * @param name the specification, a regular expression for paths
 * @param filetype for this type of files: one of `a f d c b s l p`, all by default
 * @param sel_type the type that the files get
 * @param sel_user their user
 * @param sel_level their level
 * @example tsalt-ssh '*' selinux.fcontext_add_policy '/srv/web(/.*)?' sel_type=httpd_sys_content_t
 */
export const fcontext_add_policy = async (
  name: string,
  options: Options = {},
): Promise<SelinuxResult> =>
  selinuxResult(await semanageAdd('fcontext', [...optionWords(options), '--', name]));

/**
 * Takes the rule for a file specification away.
 *
 * @param name the specification, as in the policy
 * @param filetype for this type of files: one of `a f d c b s l p`, all by default
 * @param sel_type its type
 * @param sel_user its user
 * @param sel_level its level
 * @example tsalt-ssh '*' selinux.fcontext_delete_policy '/srv/web(/.*)?'
 */
export const fcontext_delete_policy = async (
  name: string,
  options: Options = {},
): Promise<SelinuxResult> =>
  selinuxResult(
    await runPlain(['semanage', 'fcontext', '--delete', ...optionWords(options), '--', name]),
  );

const optionWords = ({ filetype, sel_type, sel_user, sel_level }: Options): string[] => {
  if (filetype) fileTypeName(filetype);
  return [
    ...(filetype && filetype !== 'a' ? ['--ftype', filetype] : []),
    ...(sel_type ? ['--type', sel_type] : []),
    ...(sel_user ? ['--seuser', sel_user] : []),
    ...(sel_level ? ['--range', sel_level] : []),
  ];
};

const restorecon = (name: string, recursive: boolean, ...words: string[]): Promise<CommandResult> =>
  runPlain(['restorecon', ...words, ...(recursive ? ['-R'] : []), '--', name]);

/**
 * Returns restorecon's output for files that the policy would label differently; an empty string
 * when there are none.
 *
 * @param name a path
 * @param recursive true: all below it too
 * @example tsalt-ssh '*' selinux.fcontext_policy_is_applied /srv/web recursive=True
 */
export const fcontext_policy_is_applied = async (
  name: string,
  recursive = false,
): Promise<string> => (await restorecon(name, recursive, '-n', '-v', '-F')).stdout.trim();

/**
 * Labels a path by the policy; `changes` has old and new parts of contexts by path.
 *
 * @param name a path
 * @param recursive true: all below it too
 * @example tsalt-ssh '*' selinux.fcontext_apply_policy /srv/web recursive=True
 */
export const fcontext_apply_policy = async (
  name: string,
  recursive = false,
): Promise<SelinuxResult & { changes?: Relabelled }> => {
  const due = _parseRelabelled(await fcontext_policy_is_applied(name, recursive));
  const done = selinuxResult(await restorecon(name, recursive, '-v', '-F'));
  return done.retcode === 0 ? { ...done, changes: due } : done;
};

type Parts = { [part: string]: string };
type Relabelled = { [path: string]: { old: Parts; new: Parts } };

/** `Would relabel PATH from OLD to NEW`, or as older ones say `restorecon reset PATH context OLD->NEW`. */
export const _parseRelabelled = (text: string): Relabelled => {
  const changes: Relabelled = {};
  for (const line of text.split('\n')) {
    const match =
      /^Would relabel (.*) from (\S+) to (\S+)$/.exec(line) ??
      /^restorecon reset (.*) context (\S+)->(\S+)$/.exec(line);
    if (!match) continue;
    const [old, fresh] = [parseContext(match[2] ?? ''), parseContext(match[3] ?? '')];
    const differing = (parts: Parts): Parts =>
      Object.fromEntries(Object.entries(parts).filter(([key]) => old[key] !== fresh[key]));
    changes[match[1] ?? ''] = { old: differing(old), new: differing(fresh) };
  }
  return changes;
};
