import { runCommand } from '../../../_shared/commands/run-command.ts';
import { lstatSync } from '../../../_shared/safe-fs/fs.ts';
import { depends } from '../../../api.ts';

/** Returns the folder of Apache's configuration. Debian's tools read this variable too. */
const folder = (): string => process.env.APACHE_CONFDIR ?? '/etc/apache2';

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

type Status = { Name: string; Status: string; [kind: string]: string };

const kinds = {
  mod: { title: 'Mod', words: 'Mod' },
  site: { title: 'Site', words: 'Site' },
  conf: { title: 'Conf', words: 'Conf' },
} as const;

const toggle = async (
  verb: 'en' | 'dis',
  kind: keyof typeof kinds,
  name: string,
): Promise<Status> => {
  const { title, words } = kinds[kind];
  const { code, stdout, stderr } = await runCommand([`a2${verb}${kind}`, '--', name], {
    plainLocale: true,
  });
  const said = (stderr || stdout).trim().split('\n')[0] ?? '';
  const failed = /does not exist/.test(stdout + stderr)
    ? `${words} ${name} Not found`
    : `${code}: ${said}`;
  return {
    Name: `Apache2 ${verb === 'en' ? 'Enable' : 'Disable'} ${title}`,
    [title]: name,
    Status: code === 0 ? `${words} ${name} ${verb === 'en' ? 'enabled' : 'disabled'}` : failed,
  };
};

const withSuffix = (name: string, ...suffixes: [string, ...string[]]): string =>
  suffixes.some(suffix => name.endsWith(suffix)) ? name : `${name}${suffixes[0]}`;

/**
 * Whether a module is enabled.
 *
 * @param mod its name, `status` or `status.conf`
 * @example tsalt-ssh web1 apache.check_mod_enabled status
 */
export const check_mod_enabled = async (mod: string): Promise<boolean> =>
  isLink(`${folder()}/mods-enabled/${withSuffix(mod, '.load', '.conf')}`);

/**
 * Enables a module, as Debian does it.
 *
 * @param mod its name
 * @example tsalt-ssh web1 apache.a2enmod status
 */
export const a2enmod = depends(
  'a2enmod',
  async (mod: string): Promise<Status> => toggle('en', 'mod', mod),
);

/**
 * Disables a module, as Debian does it.
 *
 * @param mod its name
 * @example tsalt-ssh web1 apache.a2dismod status
 */
export const a2dismod = depends(
  'a2dismod',
  async (mod: string): Promise<Status> => toggle('dis', 'mod', mod),
);

/**
 * Whether a site is enabled.
 *
 * @param site its name; `default` also means `000-default`
 * @example tsalt-ssh web1 apache.check_site_enabled example.com
 */
export const check_site_enabled = async (site: string): Promise<boolean> => {
  const sites = `${folder()}/sites-enabled`;
  const file = withSuffix(site, '.conf');
  return isLink(`${sites}/${file}`) || (site === 'default' && isLink(`${sites}/000-${file}`));
};

/**
 * Enables a site, as Debian does it.
 *
 * @param site its name
 * @example tsalt-ssh web1 apache.a2ensite example.com
 */
export const a2ensite = depends(
  'a2ensite',
  async (site: string): Promise<Status> => toggle('en', 'site', site),
);

/**
 * Disables a site, as Debian does it.
 *
 * @param site its name
 * @example tsalt-ssh web1 apache.a2dissite example.com
 */
export const a2dissite = depends(
  'a2dissite',
  async (site: string): Promise<Status> => toggle('dis', 'site', site),
);

/**
 * Whether a configuration is enabled.
 *
 * @param conf its name
 * @example tsalt-ssh web1 apache.check_conf_enabled security
 */
export const check_conf_enabled = async (conf: string): Promise<boolean> =>
  isLink(`${folder()}/conf-enabled/${withSuffix(conf, '.conf')}`);

/**
 * Enables a configuration, as Debian does it.
 *
 * @param conf its name
 * @example tsalt-ssh web1 apache.a2enconf security
 */
export const a2enconf = depends(
  'a2enconf',
  async (conf: string): Promise<Status> => toggle('en', 'conf', conf),
);

/**
 * Disables a configuration, as Debian does it.
 *
 * @param conf its name
 * @example tsalt-ssh web1 apache.a2disconf security
 */
export const a2disconf = depends(
  'a2disconf',
  async (conf: string): Promise<Status> => toggle('dis', 'conf', conf),
);
