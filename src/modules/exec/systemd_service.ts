/**
 * Services and other units, by systemd. Goes by the name `service`.
 *
 * @platform linux
 * @depends systemctl
 */
import { existsSync, readlinkSync } from 'node:fs';
import { __context__, __grains__, CommandExecutionError } from '../api.ts';
import { namesIn } from '../lib/read-file.ts';
import { commandCount, runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'systemd' || isOffline()
    ? __virtualname__
    : [false, 'systemd does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

/** systemd is installed but does not run: an image that is being built, a chroot. */
const isOffline = (): boolean =>
  ['unknown', 'systemd', undefined].includes(__grains__.init as string | undefined) &&
  !existsSync('/run/systemd/system') &&
  which('systemctl') !== undefined;

/** What systemd says of a unit, asked once for the questions that one state asks in a row. */
type Unit = {
  readonly load: string;
  readonly active: string;
  readonly file: string;
  readonly needsReload: boolean;
};

const cacheKey = 'systemd.units';
const cacheTime = 1000;
type Cache = { count: number; at: number; units: Map<string, Unit> };

const unitOf = async (name: string, fresh = false): Promise<Unit> => {
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
  const unit = _parseUnit(stdout);
  __context__[cacheKey] = {
    count: commandCount(),
    at: Date.now(),
    units: new Map([...(isValid ? cache.units : []), [id, unit]]),
  } satisfies Cache;
  return unit;
};

/** `Key=value` lines of `systemctl show`. */
export const _parseUnit = (text: string): Unit => {
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

const unitName = (name: string): string => (suffixes.test(name) ? name : `${name}.service`);

const systemctl = (args: readonly string[]) =>
  runCommand(['systemctl', ...args], {
    plainLocale: true,
    cwd: '/',
    env: { SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' },
  });

/** Runs an action; systemd reads changed unit files first. */
const act = async (args: readonly string[], name: string): Promise<boolean> => {
  if ((await unitOf(name)).needsReload) await systemctl(['daemon-reload']);
  const result = await systemctl([...args, '--', unitName(name)]);
  delete __context__[cacheKey];
  if (result.code === 0) return true;
  throw new CommandExecutionError(
    result.stderr.trim() || `systemctl ${args.join(' ')} ${name} failed`,
  );
};

const blocking = (no_block: boolean): string[] => (no_block ? ['--no-block'] : []);

type ActionOptions = { no_block?: boolean; unmask?: boolean; unmask_runtime?: boolean };

/** Lifts a mask first where that is asked for. */
const lift = async (
  name: string,
  { unmask: lifting = false, unmask_runtime = false }: ActionOptions,
): Promise<void> => {
  if (lifting) await unmask_(name, { runtime: false });
  if (unmask_runtime) await unmask_(name, { runtime: true });
};

/**
 * Starts a service.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is up
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.start nginx
 */
export const start = async (
  name: string,
  { no_block = false, unmask: lifting = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => {
  await lift(name, { unmask: lifting, unmask_runtime });
  return act(['start', ...blocking(no_block)], name);
};

/**
 * Stops a service.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is down
 * @example tsalt-ssh '*' service.stop nginx
 */
export const stop = async (
  name: string,
  { no_block = false }: { no_block?: boolean } = {},
): Promise<boolean> => act(['stop', ...blocking(no_block)], name);

/**
 * Restarts a service, starting it when it is down.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is up
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.restart nginx
 */
export const restart = async (
  name: string,
  { no_block = false, unmask: lifting = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => {
  await lift(name, { unmask: lifting, unmask_runtime });
  return act(['restart', ...blocking(no_block)], name);
};

/**
 * Makes a running service read its configuration again.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is done
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.reload nginx
 */
export const reload_ = async (
  name: string,
  { no_block = false, unmask: lifting = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => {
  await lift(name, { unmask: lifting, unmask_runtime });
  return act(['reload', ...blocking(no_block)], name);
};

/**
 * Reloads a service, or restarts it when it cannot reload.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is done
 * @example tsalt-ssh '*' service.force_reload nginx
 */
export const force_reload = async (
  name: string,
  { no_block = false, unmask: lifting = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => {
  await lift(name, { unmask: lifting, unmask_runtime });
  return act(['reload-or-restart', ...blocking(no_block)], name);
};

/**
 * Whether services run: true or false, or by name for a glob.
 *
 * @param name the service or unit, or a glob
 * @param sig taken for other init systems, without effect here
 * @param wait seconds for which a service that is just starting is waited for
 * @example tsalt-ssh '*' service.status nginx
 */
export const status = async (
  name: string,
  options: { sig?: string | null; wait?: number } = {},
): Promise<boolean | { [name: string]: boolean }> => {
  if (!/[*?[]/.test(name)) return isActive(name, options.wait ?? 3);
  const matches: { [name: string]: boolean } = {};
  const { stdout } = await systemctl([
    'list-units',
    '--all',
    '--plain',
    '--no-legend',
    '--',
    unitName(name),
  ]);
  for (const line of stdout.split('\n')) {
    const [unit, , active] = line.trim().split(/\s+/);
    if (unit) matches[unit.replace(/\.service$/, '')] = active === 'active';
  }
  return matches;
};

const isActive = async (name: string, wait: number): Promise<boolean> => {
  const until = Date.now() + wait * 1000;
  for (let fresh = false; ; fresh = true) {
    const { active } = await unitOf(name, fresh);
    if (active !== 'activating' || Date.now() > until)
      return active === 'active' || active === 'reloading';
    await new Promise(resolve => setTimeout(resolve, 100));
  }
};

/**
 * Makes a service start at boot.
 *
 * @param name the service or unit
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.enable nginx
 */
export const enable = async (
  name: string,
  { no_block = false, unmask: lifting = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => {
  await lift(name, { unmask: lifting, unmask_runtime });
  return act(['enable', ...blocking(no_block)], name);
};

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.disable nginx
 */
export const disable = async (
  name: string,
  { no_block = false }: ActionOptions = {},
): Promise<boolean> => act(['disable', ...blocking(no_block)], name);

const enabledStates = ['enabled', 'enabled-runtime', 'static', 'alias', 'indirect'];

/**
 * Whether a service starts at boot, or needs no enabling.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.enabled nginx
 */
export const enabled = async (name: string): Promise<boolean> => {
  const { file } = await unitOf(name);
  if (enabledStates.includes(file)) return true;
  if (file !== '' && file !== 'generated') return false;
  // SysV scripts are known to systemd-sysv-install only; `is-enabled` asks it.
  return (await systemctl(['is-enabled', '--quiet', '--', unitName(name)])).code === 0;
};

/**
 * Whether a service does not start at boot.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.disabled nginx
 */
export const disabled = async (name: string): Promise<boolean> => !(await enabled(name));

/**
 * Whether there is a service of that name.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.available nginx
 */
export const available = async (name: string): Promise<boolean> => {
  const { load } = await unitOf(name);
  return load !== 'not-found' && load !== '';
};

/**
 * Whether there is no service of that name.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.missing nginx
 */
export const missing = async (name: string): Promise<boolean> => !(await available(name));

const maskFolder = (runtime: boolean): string =>
  runtime ? '/run/systemd/system' : '/etc/systemd/system';

/**
 * Whether a unit is masked: nothing can start it.
 *
 * @param name the service or unit
 * @param runtime true: for this boot only
 * @example tsalt-ssh '*' service.masked nginx
 */
export const masked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => {
  try {
    return readlinkSync(`${maskFolder(runtime)}/${unitName(name)}`) === '/dev/null';
  } catch {
    return false;
  }
};

/**
 * Masks a unit: nothing can start it.
 *
 * @param name the service or unit
 * @param runtime true: for this boot only
 * @example tsalt-ssh '*' service.mask nginx
 */
export const mask = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => act(['mask', ...(runtime ? ['--runtime'] : [])], name);

const unmask_ = async (name: string, { runtime }: { runtime: boolean }): Promise<boolean> =>
  (await masked(name, { runtime }))
    ? act(['unmask', ...(runtime ? ['--runtime'] : [])], name)
    : true;

/**
 * Lifts the mask of a unit.
 *
 * @param name the service or unit
 * @param runtime true: the mask of this boot
 * @example tsalt-ssh '*' service.unmask nginx
 */
export const unmask = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => unmask_(name, { runtime });

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> =>
  shortNames((await unitFiles()).map(([unit]) => unit));

/**
 * The services that start at boot.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> =>
  shortNames((await unitFiles()).flatMap(([unit, state]) => (state === 'enabled' ? [unit] : [])));

/**
 * The services that could start at boot but do not.
 *
 * @example tsalt-ssh '*' service.get_disabled
 */
export const get_disabled = async (): Promise<string[]> =>
  shortNames((await unitFiles()).flatMap(([unit, state]) => (state === 'disabled' ? [unit] : [])));

/**
 * The services that run.
 *
 * @example tsalt-ssh '*' service.get_running
 */
export const get_running = async (): Promise<string[]> => {
  const { stdout } = await systemctl([
    'list-units',
    '--type=service,socket,timer,target,mount',
    '--state=active',
    '--plain',
    '--no-legend',
  ]);
  return shortNames(stdout.split('\n').map(line => line.trim().split(/\s+/)[0] ?? ''));
};

/**
 * The services that need no enabling.
 *
 * @example tsalt-ssh '*' service.get_static
 */
export const get_static = async (): Promise<string[]> =>
  shortNames((await unitFiles()).flatMap(([unit, state]) => (state === 'static' ? [unit] : [])));

const unitFiles = async (): Promise<[string, string][]> => {
  const { stdout } = await systemctl(['list-unit-files', '--no-legend', '--plain']);
  const units = stdout.split('\n').flatMap((line): [string, string][] => {
    const [unit, state] = line.trim().split(/\s+/);
    return unit && state ? [[unit, state]] : [];
  });
  const scripts = namesIn('/etc/init.d').filter(
    name => name !== 'README' && !units.some(([unit]) => unit === `${name}.service`),
  );
  return [...units, ...scripts.map((name): [string, string] => [`${name}.service`, 'generated'])];
};

const shortNames = (units: readonly string[]): string[] =>
  [
    ...new Set(units.filter(unit => unit !== '').map(unit => unit.replace(/\.service$/, ''))),
  ].sort();

/**
 * All properties of a unit.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.show nginx
 */
export const show = async (name: string): Promise<{ [property: string]: string }> => {
  const { stdout } = await systemctl(['show', '--', unitName(name)]);
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
};

/**
 * The commands that a service runs.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.execs
 */
export const execs = async (name: string): Promise<string> =>
  /path=([^ ;]+)/.exec((await show(name)).ExecStart ?? '')?.[1] ?? '';

/**
 * Makes systemd read all unit files again.
 *
 * @example tsalt-ssh '*' service.systemctl_reload
 */
export const systemctl_reload = async (): Promise<boolean> => {
  const { code, stderr } = await systemctl(['daemon-reload']);
  delete __context__[cacheKey];
  if (code !== 0)
    throw new CommandExecutionError(`Problem performing systemctl daemon-reload: ${stderr.trim()}`);
  return true;
};

/**
 * Whether systemd is installed but does not run (an image that is being built).
 *
 * @example tsalt-ssh '*' service.offline
 */
export const offline = async (): Promise<boolean> => isOffline();
