import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../../lib/file-paths.ts';
import { namesIn } from '../../lib/read-file.ts';
import { systemctl } from '../../lib/systemd.ts';

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> =>
  shortNames([...(await unitFiles()).map(([unit]) => unit), ...scripts()]);

/**
 * The services that start at boot.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> =>
  shortNames([...inState(await unitFiles(), 'enabled'), ...scripts().filter(isScriptAtBoot)]);

/**
 * The services that could start at boot but do not.
 *
 * @example tsalt-ssh '*' service.get_disabled
 */
export const get_disabled = async (): Promise<string[]> =>
  shortNames([
    ...inState(await unitFiles(), 'disabled'),
    ...scripts().filter(name => !isScriptAtBoot(name)),
  ]);

/**
 * The services that run.
 *
 * @example tsalt-ssh '*' service.get_running
 */
export const get_running = async (): Promise<string[]> => {
  const { stdout } = await systemctl([
    'list-units',
    '--full',
    `--type=${unitTypes}`,
    '--state=running',
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
  shortNames(inState(await unitFiles(), 'static'));

/** What counts as a unit in Salt: neither slices nor scopes. */
const unitTypes = 'service,socket,device,mount,automount,swap,target,path,timer';

type UnitFile = readonly [unit: string, state: string];

const unitFiles = async (): Promise<UnitFile[]> => {
  const { stdout } = await systemctl([
    'list-unit-files',
    `--type=${unitTypes}`,
    '--no-legend',
    '--plain',
  ]);
  return stdout.split('\n').flatMap((line): UnitFile[] => {
    const [unit, state] = line.trim().split(/\s+/);
    return unit && state ? [[unit, state]] : [];
  });
};

const inState = (files: readonly UnitFile[], wanted: string): string[] =>
  files.flatMap(([unit, state]) => (state === wanted ? [unit] : []));

const unitFolders = ['/lib', '/usr/lib', '/etc'].map(root => `${root}/systemd/system`);

/** SysV scripts that no unit stands for. */
const scripts = (): string[] =>
  namesIn('/etc/init.d').filter(
    name =>
      isExecutable(`/etc/init.d/${name}`) &&
      !unitFolders.some(folder => existsSync(join(folder, `${name}.service`))),
  );

/** Whether a runlevel with services has a link that starts the script. */
const isScriptAtBoot = (name: string): boolean =>
  ['3', '5'].some(level =>
    namesIn(`/etc/rc${level}.d`).some(
      link => /^S\d*/.test(link) && link.replace(/^S\d*/, '') === name,
    ),
  );

const shortNames = (units: readonly string[]): string[] =>
  [
    ...new Set(units.filter(unit => unit !== '').map(unit => unit.replace(/\.service$/, ''))),
  ].sort();
