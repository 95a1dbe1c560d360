import type { Config } from '../../config/config.ts';
import { composed, hostDefaults, hostOptions, keyFiles, keys } from '../../config/keys.ts';
import { type Dict, isDict, toDict, toPlainDict } from '../../data/values/value.ts';
import type { Host } from '../../protocol/host.ts';
import type { HostOpts } from '../../protocol/job.ts';
import type { PlainDict } from '../../protocol/plain.ts';

/**
 * The options of a host: Salt's minion opts. From tsalt.yaml it gets the options of modules (with a
 * dot, `mysql.host`), `hostOptions`, and those that the state run obeys. All others stay on the
 * control node, where templates see them; otherwise every host would learn their values.
 * `ssh_minion_opts`, and `minion_opts` in the roster, add options for hosts.
 *
 * @param test test mode as the command line sets it; if it does not, the host's own `test: true`
 *   counts, then that of all hosts, then that of tsalt.yaml
 */
export const hostOpts = (
  config: Config,
  host: Host,
  { test }: { test?: boolean | undefined } = {},
): HostOpts => ({
  ...ownOptions(config).forHosts,
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
 * Returns `opts` for templates: the host's options and the file roots. Formulas read `__cli` to
 * find out what `config.get` can do: here it merges as on a minion that runs by itself.
 */
export const templateOpts = (config: Config, opts: HostOpts): Dict =>
  toDict({
    __cli: 'salt-call',
    ...ownOptions(config).all,
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

/** Options of tsalt.yaml that are not settings of tsalt-ssh itself. Read once: all hosts have the same. */
const ownOptions = (config: Config): OwnOptions => {
  const known = ownOptionsOf.get(config);
  if (known) return known;
  const own = [...config.options].filter(([key]) => !ours.has(String(key)));
  const forHosts = own.filter(([key]) => isForHosts(String(key)));
  const options = {
    all: toPlainDict(new Map(own)),
    forHosts: toPlainDict(new Map(forHosts)),
  };
  ownOptionsOf.set(config, options);
  return options;
};

type OwnOptions = { readonly all: PlainDict; readonly forHosts: PlainDict };

const ownOptionsOf = new WeakMap<Config, OwnOptions>();

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

/**
 * Returns the options of one run (`localconfig=`): as with tsalt.yaml, only those that a host uses.
 */
export const runOpts = (options: Dict): PlainDict =>
  toPlainDict(
    new Map([...options].filter(([key]) => !ours.has(String(key)) || obeyed.includes(String(key)))),
  );

const obeyed = ['state_aggregate', 'failhard', 'providers'];
