import { createHash } from 'node:crypto';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { pyStr } from './python-text.ts';
import { repackDictList } from './values.ts';

type Reading = (flag: string, value: Plain) => string[];

const list = (value: Plain): string[] =>
  Array.isArray(value)
    ? value.map(item => pyStr(item))
    : typeof value === 'string'
      ? value.split(',').map(part => part.trim())
      : [pyStr(value)];

const one: Reading = (flag, value) => [`--${flag}=${pyStr(value)}`];
const many: Reading = (flag, value) => list(value).map(item => `--${flag}=${item}`);
const yes: Reading = (flag, value) => (value === true || value === 'true' ? [`--${flag}`] : []);
const pairs =
  (separator: string): Reading =>
  (flag, value) =>
    isPairs(value)
      ? Object.entries(repackDictList(value)).map(
          ([key, item]) =>
            `--${flag}=${key}${item === null || item === '' ? '' : `${separator}${pyStr(item)}`}`,
        )
      : many(flag, value);

const isPairs = (value: Plain): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (!Array.isArray(value) || value.every(item => typeof item === 'object'));

/** A list of texts is taken as it is: a comma may be part of a value. */
const texts: Reading = (flag, value) =>
  isPairs(value)
    ? pairs('=')(flag, value)
    : (Array.isArray(value) ? value : [value]).map(item => `--${flag}=${pyStr(item)}`);

/** Salt's arguments of a container: the flag of `docker create`, and how the value is read. */
const options: Readonly<Record<string, readonly [string, Reading]>> = {
  binds: ['volume', many],
  volumes: ['volume', many],
  volumes_from: ['volumes-from', many],
  port_bindings: ['publish', many],
  ports: ['expose', many],
  publish_all_ports: ['publish-all', yes],
  environment: ['env', texts],
  labels: ['label', texts],
  privileged: ['privileged', yes],
  tty: ['tty', yes],
  interactive: ['interactive', yes],
  read_only: ['read-only', yes],
  oom_kill_disable: ['oom-kill-disable', yes],
  init: ['init', yes],
  volume_driver: ['volume-driver', one],
  working_dir: ['workdir', one],
  user: ['user', one],
  userns_mode: ['userns', one],
  hostname: ['hostname', one],
  domainname: ['domainname', one],
  network_mode: ['network', one],
  restart_policy: ['restart', one],
  devices: ['device', many],
  cap_add: ['cap-add', many],
  cap_drop: ['cap-drop', many],
  dns: ['dns', many],
  dns_search: ['dns-search', many],
  dns_opt: ['dns-option', many],
  extra_hosts: ['add-host', pairs(':')],
  links: ['link', pairs(':')],
  log_driver: ['log-driver', one],
  log_opt: ['log-opt', texts],
  ulimits: ['ulimit', many],
  sysctls: ['sysctl', texts],
  tmpfs: ['tmpfs', pairs(':')],
  security_opt: ['security-opt', texts],
  storage_opts: ['storage-opt', texts],
  group_add: ['group-add', many],
  pid_mode: ['pid', one],
  ipc_mode: ['ipc', one],
  uts_mode: ['uts', one],
  isolation: ['isolation', one],
  runtime: ['runtime', one],
  mem_limit: ['memory', one],
  memswap_limit: ['memory-swap', one],
  mem_swappiness: ['memory-swappiness', one],
  shm_size: ['shm-size', one],
  cpu_shares: ['cpu-shares', one],
  cpu_period: ['cpu-period', one],
  cpu_quota: ['cpu-quota', one],
  cpuset_cpus: ['cpuset-cpus', one],
  cpuset_mems: ['cpuset-mems', one],
  cpus: ['cpus', one],
  blkio_weight: ['blkio-weight', one],
  oom_score_adj: ['oom-score-adj', one],
  pids_limit: ['pids-limit', one],
  stop_signal: ['stop-signal', one],
  stop_timeout: ['stop-timeout', one],
  mac_address: ['mac-address', one],
  cgroup_parent: ['cgroup-parent', one],
};

const aliases: Readonly<Record<string, string>> = {
  bind: 'binds',
  cmd: 'command',
  env: 'environment',
  label: 'labels',
  link: 'links',
  memory: 'mem_limit',
  memory_swap: 'memswap_limit',
  open_stdin: 'interactive',
  stdin_open: 'interactive',
  port: 'ports',
  publish: 'port_bindings',
  publish_all: 'publish_all_ports',
  restart: 'restart_policy',
  ulimit: 'ulimits',
  volume: 'volumes',
  volume_from: 'volumes_from',
  workdir: 'working_dir',
  device: 'devices',
  cpuset: 'cpuset_cpus',
  userns: 'userns_mode',
  tty_: 'tty',
};

const skipped = new Set([
  'command',
  'entrypoint',
  'skip_translate',
  'validate_ip_addrs',
  'ignore_collisions',
  'client_timeout',
  'detach',
  'auto_remove',
]);

/** The arguments of `docker create` for Salt's arguments of a container. */
export const createWords = (name: string, image: string, wanted: PlainDict): string[] => {
  const settings: PlainDict = {};
  for (const [key, value] of Object.entries(wanted))
    if (value !== null && value !== undefined) settings[aliases[key] ?? key] = value;
  const flags = Object.entries(settings).flatMap(([key, value]) => {
    if (skipped.has(key)) return [];
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    if (!option) throw new SaltInvocationError(`docker_container does not take ${key}.`);
    return option[1](option[0], value);
  });
  const [entry, ...entryRest] = words(settings.entrypoint);
  return [
    `--name=${name}`,
    ...flags,
    ...(entry === undefined ? [] : [`--entrypoint=${entry}`]),
    '--',
    image,
    ...entryRest,
    ...words(settings.command),
  ];
};

/** Docker's own reading of a command: a list, or a line of words. */
const words = (value: Plain | undefined): string[] =>
  value === null || value === undefined || value === ''
    ? []
    : Array.isArray(value)
      ? value.map(item => pyStr(item))
      : (String(value).match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map(word =>
          word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
        );

/** The label that keeps what a container was made of, so that a run can tell whether it is still wanted. */
export const madeOfLabel = 'tsalt.made-of';

/** A hash of what a container is made of: it may hold secrets, a label is seen by all. */
export const madeOf = (parts: readonly string[], key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([key, ...parts]))
    .digest('hex')
    .slice(0, 32);
