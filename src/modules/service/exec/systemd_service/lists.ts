import { join } from 'node:path';
import { inRoot } from '../../../_shared/commands/other-root.ts';
import { isExecutable } from '../../../_shared/files/file-paths.ts';
import { readNames } from '../../../_shared/files/read-file.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { systemctl } from '../../systemd.ts';

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async ({ root = null }: RootOption = {}): Promise<string[]> =>
  shortNames([...(await unitFiles(root)).map(([unit]) => unit), ...scripts(root)]);

/**
 * The services that start at boot.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async ({ root = null }: RootOption = {}): Promise<string[]> =>
  shortNames([
    ...inState(await unitFiles(root), 'enabled'),
    ...scripts(root).filter(name => isScriptAtBoot(name, root)),
  ]);

/**
 * The services that could start at boot but do not.
 *
 * @example tsalt-ssh '*' service.get_disabled
 */
export const get_disabled = async ({ root = null }: RootOption = {}): Promise<string[]> =>
  shortNames([
    ...inState(await unitFiles(root), 'disabled'),
    ...scripts(root).filter(name => !isScriptAtBoot(name, root)),
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
export const get_static = async ({ root = null }: RootOption = {}): Promise<string[]> =>
  shortNames(inState(await unitFiles(root), 'static'));

type RootOption = {
  /** a folder with another system */
  root?: string | null;
};

/** The unit types that Salt lists: neither slices nor scopes. */
const unitTypes = 'service,socket,device,mount,automount,swap,target,path,timer';

type UnitFile = readonly [unit: string, state: string];

const unitFiles = async (root: string | null): Promise<UnitFile[]> => {
  const { stdout } = await systemctl([
    ...(root ? ['--root', root] : []),
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

/** SysV scripts without a unit. */
const scripts = (root: string | null): string[] =>
  readNames(inRoot('/etc/init.d', root)).filter(
    name =>
      isExecutable(inRoot(`/etc/init.d/${name}`, root)) &&
      !unitFolders.some(folder => existsSync(inRoot(join(folder, `${name}.service`), root))),
  );

/** Whether a runlevel with services has a link that starts the script. */
const isScriptAtBoot = (name: string, root: string | null): boolean =>
  ['3', '5'].some(level =>
    readNames(inRoot(`/etc/rc${level}.d`, root)).some(
      link => /^S\d*/.test(link) && link.replace(/^S\d*/, '') === name,
    ),
  );

const shortNames = (units: readonly string[]): string[] =>
  [
    ...new Set(units.filter(unit => unit !== '').map(unit => unit.replace(/\.service$/, ''))),
  ].sort();
