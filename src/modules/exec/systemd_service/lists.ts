import { namesIn } from '../../lib/read-file.ts';
import { systemctl } from '../../lib/systemd.ts';

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
