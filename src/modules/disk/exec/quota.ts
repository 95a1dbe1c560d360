/**
 * Manages quotas of file systems.
 *
 * @depends setquota, repquota, quotaon
 * @platform linux
 */

import { type CommandResult, runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('setquota') !== undefined || [false, 'setquota is not installed.'];

type Kind = '-u' | '-g';
type Quotas = { [name: string]: { [key: string]: string } };

const columns = [
  'block-used',
  'block-soft-limit',
  'block-hard-limit',
  'block-grace',
  'file-used',
  'file-soft-limit',
  'file-hard-limit',
  'file-grace',
];

const repquota = (mount: string, kind: Kind, ...more: string[]): Promise<CommandResult> =>
  runCommand(['repquota', '-vp', ...more, kind, '--', mount], { plainLocale: true });

const readQuotas = async (mount: string, kind: Kind): Promise<Report> => {
  // Of one kind only there may be none.
  const { stdout } = await repquota(mount, kind);
  const [, block, inode] = /^Block grace time: (.*?); Inode grace time: (.*)$/m.exec(stdout) ?? [];
  return {
    ...(block === undefined ? {} : { 'Block Grace Time': [block] }),
    ...(inode === undefined ? {} : { 'Inode Grace Time': [inode] }),
    [kind === '-u' ? 'Users' : 'Groups']: quotasIn(stdout),
  };
};

/** Parses the rows by name. A name may contain spaces, as in `domain users`. */
const quotasIn = (text: string): Quotas => {
  const rows = [...text.matchAll(/^(\S.*?) +[-+]{2} +(\S+(?: +\S+){7}) *$/gm)];
  return Object.fromEntries(
    rows.map(([, name = '', line = '']) => {
      const values = line.split(/ +/);
      return [name, Object.fromEntries(columns.map((key, at) => [key, values[at] ?? '']))];
    }),
  );
};

/**
 * @throws CommandExecutionError if the limits cannot be read: setting one would lose the others
 */
const limitsOf = async (
  mount: string,
  kind: Kind,
  who: string,
): Promise<{ [limit: string]: string }> => {
  const isId = /^\d+$/.test(who);
  const { code, stdout, stderr } = await repquota(mount, kind, ...(isId ? ['-n'] : []));
  if (code !== 0)
    throw new CommandExecutionError(
      `The limits on ${mount} cannot be read: ${stderr.trim() || `repquota ended with ${code}`}`,
    );
  return quotasIn(stdout)[isId ? `#${who}` : who] ?? {};
};

type Report = { [key: string]: Quotas | string[] };

/**
 * Returns the quotas of users and groups on a file system: the usage, limits and grace times of
 * each.
 *
 * @param mount its mount point
 * @example tsalt-ssh '*' quota.report /media/data
 */
export const report = async (
  mount: string,
): Promise<{ [mount: string]: { 'User Quotas': Report; 'Group Quotas': Report } }> => ({
  [mount]: {
    'User Quotas': await readQuotas(mount, '-u'),
    'Group Quotas': await readQuotas(mount, '-g'),
  },
});

const limitNames = ['block-soft-limit', 'block-hard-limit', 'file-soft-limit', 'file-hard-limit'];

/**
 * Sets limits of a user or a group: `block-soft-limit`, `block-hard-limit` (in KiB), `file-soft-limit` and
 * `file-hard-limit`. Those that are not given stay.
 *
 * @param device where the filesystem is mounted, or its device
 * @param user the user
 * @param group the group, instead of a user
 * @example tsalt-ssh '*' quota.set /media/data user=larry block-soft-limit=1048576
 */
export const set_ = async (
  device: string,
  {
    user = null,
    group = null,
    ...limits
  }: { user?: string | null; group?: string | null; [limit: string]: unknown } = {},
): Promise<{ [who: string]: { [limit: string]: string | number } }> => {
  if (user !== null && group !== null)
    throw new SaltInvocationError('Please specify a user or group, not both.');
  const who = user ?? group;
  if (who === null) throw new CommandExecutionError('A valid user or group was not found');
  const odd = Object.keys(limits).find(key => !limitNames.includes(key));
  if (odd !== undefined)
    throw new SaltInvocationError(`'${odd}' is not one of ${limitNames.join(', ')}.`);
  const kind = user === null ? '-g' : '-u';
  const have = await limitsOf(device, kind, who);
  const wanted = Object.fromEntries(
    limitNames.map(key => [key, numberIn(String(limits[key] ?? have[key] ?? 0))]),
  );
  const { code, stderr } = await runCommand(
    ['setquota', kind, '--', who, ...Object.values(wanted).map(String), device],
    { plainLocale: true },
  );
  if (code !== 0)
    throw new CommandExecutionError(
      `Unable to set desired quota. Error follows: \n${stderr.trimEnd()}`,
    );
  return { [`${user === null ? 'Group' : 'User'}: ${who}`]: wanted };
};

/** `10G` stays as it is. */
const numberIn = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);

export const __func_alias__ = { set_: 'set' };

/**
 * Writes a mail to those who are over their quota.
 *
 * @example tsalt-ssh '*' quota.warn
 */
export const warn = async (): Promise<void> => {
  await runChecked(['warnquota'], { plainLocale: true });
};

/**
 * Returns the kernel's quota statistics.
 *
 * @example tsalt-ssh '*' quota.stats
 */
export const stats = async (): Promise<{ [name: string]: string }> => {
  const { stdout } = await runChecked(['quotastats'], { plainLocale: true });
  return Object.fromEntries(
    [...stdout.matchAll(/^(.+?): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
};

/**
 * Enables quotas.
 *
 * @param device where the filesystem is mounted, or its device
 * @example tsalt-ssh '*' quota.on /media/data
 */
export const on = async (device: string): Promise<true> => {
  await runChecked(['quotaon', '--', device], { plainLocale: true });
  return true;
};

/**
 * Disables quotas.
 *
 * @param device where the filesystem is mounted, or its device
 * @example tsalt-ssh '*' quota.off /media/data
 */
export const off = async (device: string): Promise<true> => {
  await runChecked(['quotaoff', '--', device], { plainLocale: true });
  return true;
};

type Mode = { [key: string]: string } | string;

/**
 * Whether quotas are on: `{device, user, group}` by mount point; `disabled` where there are none, `Not found`
 * where nothing is mounted.
 *
 * @param device where the filesystem is mounted, or its device
 * @example tsalt-ssh '*' quota.get_mode /media/data
 */
export const get_mode = async (device: string): Promise<{ [mount: string]: Mode }> => {
  // It ends with an error if quotas are already on.
  const { stdout, stderr } = await runCommand(['quotaon', '-p', '--', device], {
    plainLocale: true,
  });
  const modes: { [mount: string]: Mode } = {};
  for (const line of `${stdout}\n${stderr}`.split('\n')) {
    if (/^quotaon: Cannot /.test(line)) return { [device]: 'Not found' };
    const disabled = /^quotaon: Mountpoint .*?(\/\S*) /.exec(line)?.[1];
    if (disabled !== undefined) modes[disabled] = 'disabled';
    const [, kind, mount, disk, mode] =
      /^(\w+) quota on (.+) \((.*?)\) is (\w+)/.exec(line.trim()) ?? [];
    if (!kind || !mount || disk === undefined || !mode) continue;
    const had = modes[mount];
    modes[mount] = { device: disk, ...(typeof had === 'object' ? had : {}), [kind]: mode };
  }
  return modes;
};
