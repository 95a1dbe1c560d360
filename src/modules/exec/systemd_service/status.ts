import { systemctl, unitName, unitOf } from '../../lib/systemd.ts';

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
