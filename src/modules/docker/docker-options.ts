import { createHash } from 'node:crypto';
import { getOwn } from '../../protocol/plain.ts';
import { repackDictList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

export type OptionReader = (flag: string, value: Plain) => string[];

const list = (value: Plain): string[] =>
  Array.isArray(value)
    ? value.map(item => plainStr(item))
    : typeof value === 'string'
      ? value.split(',').map(part => part.trim())
      : [plainStr(value)];

export const one: OptionReader = (flag, value) => [`--${flag}=${plainStr(value)}`];
export const many: OptionReader = (flag, value) => list(value).map(item => `--${flag}=${item}`);
const yes: OptionReader = (flag, value) =>
  value === true || value === 'true' ? [`--${flag}`] : [];
export const pairs =
  (separator: string): OptionReader =>
  (flag, value) =>
    isPairs(value)
      ? Object.entries(repackDictList(value)).map(
          ([key, item]) =>
            `--${flag}=${key}${isNone(item) && separator !== '=' ? '' : `${separator}${item === null ? '' : plainStr(item)}`}`,
        )
      : many(flag, value);

const isNone = (value: Plain): boolean => value === null || value === '';

const isPairs = (value: Plain): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (!Array.isArray(value) || value.every(item => typeof item === 'object'));

/** A list of strings is used unchanged: a comma may be part of a value. */
export const listOption: OptionReader = (flag, value) =>
  isPairs(value)
    ? pairs('=')(flag, value)
    : (Array.isArray(value) ? value : [value]).map(item => `--${flag}=${plainStr(item)}`);

const isDict = (value: Plain): value is PlainDict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{/srv: {bind: /data, mode: ro}}`, or texts. */
const mounts: OptionReader = (flag, value) =>
  isDict(value)
    ? Object.entries(value).map(([source, item]) => {
        const { bind, mode } = isDict(item) ? item : { bind: item };
        return `--${flag}=${source}:${plainStr(bind ?? source)}${mode ? `:${plainStr(mode)}` : ''}`;
      })
    : many(flag, value);

/** The dict `{80: 8080}` has the container's port first, the string `8080:80` the host's. */
const publish: OptionReader = (flag, value) =>
  isDict(value)
    ? Object.entries(value).flatMap(([port, item]) =>
        item === null
          ? [`--${flag}=${port}`]
          : [item].flat().map(each => `--${flag}=${plainStr(each)}:${port}`),
      )
    : many(flag, value);

const noNetwork: OptionReader = (_, value) => yes('', value).map(() => '--network=none');

/** Salt's arguments of a container: the flag of `docker create`, and how the value is converted. */
const options: Readonly<Record<string, readonly [string, OptionReader]>> = {
  binds: ['volume', mounts],
  volumes: ['volume', many],
  volumes_from: ['volumes-from', many],
  port_bindings: ['publish', publish],
  ports: ['expose', many],
  publish_all_ports: ['publish-all', yes],
  environment: ['env', listOption],
  labels: ['label', listOption],
  privileged: ['privileged', yes],
  tty: ['tty', yes],
  stdin_open: ['interactive', yes],
  auto_remove: ['rm', yes],
  network_disabled: ['network', noNetwork],
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
  log_opt: ['log-opt', listOption],
  ulimits: ['ulimit', many],
  sysctls: ['sysctl', listOption],
  tmpfs: ['tmpfs', pairs(':')],
  security_opt: ['security-opt', listOption],
  storage_opt: ['storage-opt', listOption],
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
  blkio_weight_device: ['blkio-weight-device', many],
  device_read_bps: ['device-read-bps', many],
  device_read_iops: ['device-read-iops', many],
  device_write_bps: ['device-write-bps', many],
  device_write_iops: ['device-write-iops', many],
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
  cpuset: 'cpuset_cpus',
  device: 'devices',
  dns_option: 'dns_opt',
  env: 'environment',
  expose: 'ports',
  interactive: 'stdin_open',
  ipc: 'ipc_mode',
  label: 'labels',
  link: 'links',
  memory: 'mem_limit',
  memory_swap: 'memswap_limit',
  open_stdin: 'stdin_open',
  port: 'ports',
  publish: 'port_bindings',
  publish_all: 'publish_all_ports',
  restart: 'restart_policy',
  rm: 'auto_remove',
  security_opts: 'security_opt',
  storage_opts: 'storage_opt',
  sysctl: 'sysctls',
  ulimit: 'ulimits',
  user_ns_mode: 'userns_mode',
  userns: 'userns_mode',
  volume: 'volumes',
  volume_from: 'volumes_from',
  workdir: 'working_dir',
};

const skipped = new Set([
  'command',
  'entrypoint',
  'skip_translate',
  'validate_ip_addrs',
  'ignore_collisions',
  'client_timeout',
  'detach',
]);

/** The arguments of `docker create` for Salt's arguments of a container. */
export const createArgs = (name: string | null, image: string, wanted: PlainDict): string[] => {
  const settings = byFullName(wanted);
  const flags = Object.entries(settings).flatMap(([key, value]) => {
    if (skipped.has(key)) return [];
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    if (!option) throw new SaltInvocationError(`docker_container does not take ${key}.`);
    return option[1](option[0], value);
  });
  const [entry, ...entryRest] = words(settings.entrypoint);
  return [
    ...(name === null ? [] : [`--name=${name}`]),
    ...flags,
    ...(entry === undefined ? [] : [`--entrypoint=${entry}`]),
    '--',
    image,
    ...entryRest,
    ...words(settings.command),
  ];
};

/** An argument and its alias are the same: passing both is an error. */
const byFullName = (wanted: PlainDict): PlainDict => {
  const settings: PlainDict = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (value === null || value === undefined) continue;
    const full = getOwn(aliases, key) ?? key;
    if (Object.hasOwn(settings, full) && wanted.ignore_collisions !== true)
      throw new SaltInvocationError(`'${full}' is given by two names: leave one of them out.`);
    if (full === key || !Object.hasOwn(settings, full)) settings[full] = value;
  }
  return settings;
};

/** Splits a command like docker: a list, or a line of words. */
const words = (value: Plain | undefined): string[] =>
  value === null || value === undefined || value === ''
    ? []
    : Array.isArray(value)
      ? value.map(item => plainStr(item))
      : (String(value).match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map(word =>
          word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
        );

/** The label that stores a hash of the container's settings, so that later runs notice changes. */
export const madeOfLabel = 'tsalt.made-of';

/**
 * Returns a hash of the container's settings: they may contain secrets, and everybody can read
 * labels.
 */
export const madeOf = (parts: readonly string[], key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([key, ...parts]))
    .digest('hex')
    .slice(0, 32);
