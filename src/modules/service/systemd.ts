import { inRoot } from '../_shared/commands/other-root.ts';
import { commandCount, runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { existsSync, readlinkSync } from '../_shared/safe-fs/fs.ts';
import { __context__, __grains__, CommandExecutionError } from '../api.ts';

/** systemd is installed but does not run: an image that is being built, a chroot. */
export const isOffline = (): boolean =>
  ['unknown', 'systemd', undefined].includes(__grains__.init as string | undefined) &&
  !existsSync('/run/systemd/system') &&
  which('systemctl') !== undefined;

/** Properties of a unit, read from systemd once for all the checks of one state. */
type Unit = {
  readonly load: string;
  readonly active: string;
  readonly file: string;
  readonly needsReload: boolean;
};

/** Where units are remembered; to be deleted after whatever may change one. */
export const cacheKey = 'systemd.units';

const cacheTime = 1000;

type Cache = { count: number; at: number; units: Map<string, Unit> };

/** Reads the properties of a unit from systemd. */
export const unitOf = async (name: string, fresh = false): Promise<Unit> => {
  const id = unitName(name);
  const cache = __context__[cacheKey] as Cache | undefined;
  const isValid =
    cache && cache.count === commandCount() && Date.now() - cache.at < cacheTime && !fresh;
  const known = isValid ? cache.units.get(id) : undefined;
  if (known) return known;
  const { stdout } = await systemctl([
    'show',
    '--property=LoadState,ActiveState,UnitFileState,NeedDaemonReload',
    '--',
    id,
  ]);
  const unit = parseUnit(stdout);
  __context__[cacheKey] = {
    count: commandCount(),
    at: Date.now(),
    units: new Map([...(isValid ? cache.units : []), [id, unit]]),
  } satisfies Cache;
  return unit;
};

/** `Key=value` lines of `systemctl show`. */
export const parseUnit = (text: string): Unit => {
  const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? '';
  return {
    load: value('LoadState'),
    active: value('ActiveState'),
    file: value('UnitFileState'),
    needsReload: value('NeedDaemonReload') === 'yes',
  };
};

const suffixes =
  /\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope|snapshot)$/;

export const unitName = (name: string): string => (suffixes.test(name) ? name : `${name}.service`);

export const systemctl = (args: readonly string[]) =>
  runCommand(['systemctl', ...args], {
    plainLocale: true,
    cwd: '/',
    env: { SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' },
  });

/** Runs an action; systemd reads changed unit files first. */
export const act = async (args: readonly string[], name: string): Promise<boolean> => {
  if ((await unitOf(name)).needsReload) await systemctl(['daemon-reload']);
  const result = await systemctl([...args, '--', unitName(name)]);
  delete __context__[cacheKey];
  if (result.code === 0) return true;
  const reason = result.stderr.trim() || `systemctl ${args.join(' ')} ${name} failed`;
  throw new CommandExecutionError(reason + (await lastWords(args, name)));
};

/** The last lines of a unit's journal, where it was to run and does not: systemctl only points there. */
const lastWords = async ([verb = '']: readonly string[], name: string): Promise<string> => {
  if (!/^(?:start|restart|reload|force-reload)$/.test(verb) || !which('journalctl')) return '';
  const told = await runCommand(
    ['journalctl', '--unit', unitName(name), '--lines', '10', '--no-pager', '--quiet'],
    { plainLocale: true, cwd: '/', timeout: 10 },
  ).catch(() => undefined);
  const lines = told?.stdout.trim().split('\n').slice(-10) ?? [];
  return told?.code === 0 && lines.some(line => line !== '')
    ? `\nIts journal ends:\n${lines.map(line => line.slice(0, 300)).join('\n')}`
    : '';
};

/** systemctl on the system below a folder: it changes links there, and starts nothing. */
export const offlineAct = async (
  args: readonly string[],
  name: string,
  root: string,
): Promise<boolean> => {
  const { code, stderr } = await systemctl(['--root', root, ...args, '--', unitName(name)]);
  if (code === 0) return true;
  throw new CommandExecutionError(
    stderr.trim() || `systemctl --root ${root} ${args.join(' ')} ${name} failed`,
  );
};

const maskFolder = (runtime: boolean): string =>
  runtime ? '/run/systemd/system' : '/etc/systemd/system';

export const isMasked = (name: string, runtime: boolean, root: string | null = null): boolean => {
  try {
    return readlinkSync(inRoot(`${maskFolder(runtime)}/${unitName(name)}`, root)) === '/dev/null';
  } catch {
    return false;
  }
};

/** Lifts a mask, where there is one. */
export const liftMask = async (
  name: string,
  runtime: boolean,
  root: string | null = null,
): Promise<boolean> => {
  if (!isMasked(name, runtime, root)) return true;
  const args = ['unmask', ...(runtime ? ['--runtime'] : [])];
  return root ? offlineAct(args, name, root) : act(args, name);
};

export type ActionOptions = {
  no_block?: boolean;
  unmask?: boolean;
  unmask_runtime?: boolean;
  root?: string | null;
};

/** Runs an action on a unit, masks lifted before where that is asked for. */
export const actOn = async (
  verb: string,
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false, root = null }: ActionOptions,
): Promise<boolean> => {
  if (unmask) await liftMask(name, false, root);
  if (unmask_runtime) await liftMask(name, true, root);
  if (root) return offlineAct([verb], name, root);
  return act([verb, ...(no_block ? ['--no-block'] : [])], name);
};
