import type { Config } from '../../config/config.ts';
import { composed, hostDefaults, hostOptions, keyFiles, keys } from '../../config/keys.ts';
import { type Dict, isDict, toDict, toPlainDict } from '../../data/values/value.ts';
import type { Host } from '../../protocol/host.ts';
import type { HostOpts } from '../../protocol/job.ts';
import type { PlainDict } from '../../protocol/plain.ts';

/**
 * The options of a host: Salt's minion opts. From tsalt.yaml come the options of modules (with a
 * dot, `mysql.host`), `hostOptions`, and those that the state run obeys. Others stay on the control
 * node, where templates see them: every host would learn what they hold. `ssh_minion_opts` and
 * `minion_opts` of the roster name what hosts get besides.
 *
 * @param test what the command line says about test mode; otherwise `test: true` of the host's own
 *   options counts, then that of all hosts, then that of tsalt.yaml
 */
export const hostOpts = (
  config: Config,
  host: Host,
  { test }: { test?: boolean | undefined } = {},
): HostOpts => ({
  ...ownOptions(config, isForHosts),
  hash_type: 'sha256',
  file_client: 'local',
  state_aggregate: config.state_aggregate as never,
  failhard: config.failhard,
  providers: config.providers,
  ...config.ssh_minion_opts,
  ...host.minion_opts,
  grains: { ...staticGrains(config), ...host.grains },
  id: host.id,
  test: test ?? Boolean(host.minion_opts?.test ?? config.ssh_minion_opts.test ?? config.test),
  saltenv: config.saltenv ?? 'base',
  pillarenv: config.pillarenv ?? null,
});

/**
 * `opts` in templates: what the host knows plus where the roots are. Formulas ask `__cli` what
 * `config.get` can do: here it merges as on a minion that runs by itself.
 */
export const templateOpts = (config: Config, opts: HostOpts): Dict =>
  toDict({
    __cli: 'salt-call',
    ...ownOptions(config, () => true),
    ...opts,
    ...keyPlaces(config),
    file_roots: plainRoots(config.file_roots),
    pillar_roots: plainRoots(config.pillar_roots),
    renderer: config.renderer,
    cachedir: config.cachedir,
    config_dir: config.dir,
    state_top: config.state_top,
    pillar_raise_on_missing: config.pillar_raise_on_missing,
  });

const keyPlaces = ({ options }: Config): PlainDict =>
  toPlainDict(new Map([...options].filter(([key]) => keyFiles.includes(String(key)))));

const plainRoots = (roots: Readonly<Record<string, readonly string[]>>): PlainDict =>
  Object.fromEntries(Object.entries(roots).map(([env, dirs]) => [env, [...dirs]]));

/** Options of tsalt.yaml that are not settings of tsalt-ssh itself. */
const ownOptions = (config: Config, isWanted: (name: string) => boolean): PlainDict => {
  const names = [...config.options].filter(([key]) => !ours.has(String(key)));
  return toPlainDict(new Map(names.filter(([key]) => isWanted(String(key)))));
};

const isForHosts = (name: string): boolean => name.includes('.') || hostOptions.includes(name);

/** Settings of the control node: they name its paths, hosts and secrets. */
const ours = new Set([
  ...Object.keys(keys),
  ...Object.keys(composed),
  ...Object.keys(hostDefaults),
  ...keyFiles,
  'master_tops',
  'log_file',
]);

const staticGrains = (config: Config): PlainDict => {
  const grains = config.options.get('grains');
  return isDict(grains) ? toPlainDict(grains) : {};
};

/** Options of one run (`localconfig=`): as tsalt.yaml's, only what a host works with. */
export const runOpts = (options: Dict): PlainDict =>
  toPlainDict(
    new Map([...options].filter(([key]) => !ours.has(String(key)) || obeyed.includes(String(key)))),
  );

const obeyed = ['state_aggregate', 'failhard', 'providers'];
