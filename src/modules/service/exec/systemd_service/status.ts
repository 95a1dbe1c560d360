import { fnmatch } from '../../../../data/python/glob.ts';
import { systemctl, unitName, unitOf } from '../../systemd.ts';
import { get_all } from './lists.ts';

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
  const names = (await get_all()).filter(one => fnmatch(one, name));
  if (names.length === 0) return {};
  const { stdout } = await systemctl(['is-active', '--', ...names.map(unitName)]);
  const answers = stdout.split('\n');
  return Object.fromEntries(names.map((one, at) => [one, answers[at] === 'active']));
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
 * Whether there is a service of that name.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.available nginx
 */
export const available = async (name: string): Promise<boolean> => {
  const { load } = await unitOf(name);
  if (load !== '') return load !== 'not-found';
  // A template has no state of its own: it counts when its file is there.
  const { stdout } = await systemctl(['list-unit-files', '--no-legend', '--', unitName(name)]);
  return stdout.trim() !== '';
};

/**
 * Returns whether a service does not exist.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.missing nginx
 */
export const missing = async (name: string): Promise<boolean> => !(await available(name));

/**
 * All properties of a unit. What is a list or a set of fields in systemd is one here.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.show nginx
 */
export const show = async (name: string): Promise<{ [property: string]: Property }> =>
  propertiesOf((await systemctl(['show', '--', unitName(name)])).stdout);

type Property = string | string[] | { [field: string]: string };

const lists = ['Before', 'After', 'Wants'];

const propertiesOf = (text: string): { [property: string]: Property } =>
  Object.fromEntries(
    text.split('\n').flatMap((line): [string, Property][] => {
      const at = line.indexOf('=');
      if (at <= 0) return [];
      const [property, value] = [line.slice(0, at), line.slice(at + 1)];
      if (value.startsWith('{')) return [[property, fieldsOf(value)]];
      return [[property, lists.includes(property) ? value.split(' ').filter(Boolean) : value]];
    }),
  );

/** `{ path=/bin/sleep ; argv[]=/bin/sleep 1 }`. */
const fieldsOf = (value: string): { [field: string]: string } =>
  Object.fromEntries(
    value
      .replaceAll(/[{}]/g, '')
      .split(' ; ')
      .map(field => {
        const [key = '', ...rest] = field.split('=');
        return [key.trim(), rest.join('=').trim()];
      }),
  );

/**
 * The program that each service starts, by service.
 *
 * @example tsalt-ssh '*' service.execs
 */
export const execs = async (): Promise<{ [service: string]: string }> => {
  const names = (await get_all()).filter(name => !/@(?:\.|$)/.test(name));
  const { stdout } = await systemctl([
    'show',
    '--property=Id,ExecStart',
    '--',
    ...names.map(unitName),
  ]);
  const blocks = stdout.split(/\n\n/).map(propertiesOf);
  return Object.fromEntries(
    names.flatMap((name, at): [string, string][] => {
      const start = blocks[at]?.ExecStart;
      return typeof start === 'object' && !Array.isArray(start) && start.path !== undefined
        ? [[name, start.path]]
        : [];
    }),
  );
};
