import type { Config, RosterSource } from '../config/config.ts';
import type { PromptQuestion, RosterSources } from '../config/request.ts';
import { type Data, type Dict, Float } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Secret } from '../protocol/host.ts';
import { isForward } from '../roster/check.ts';
import { backendOf, mergeRosters, type Roster, type RosterRequest } from '../roster/load.ts';
import type { Entry, Layer } from '../roster/roster.ts';
import { splitRosterArgs } from '../roster/split-args.ts';
import type { Sdb } from '../sdb/sdb.ts';
import type { CommandLineCall } from './call.ts';
import type { Given } from './given.ts';
import { renderRoster } from './render-roster.ts';
import { asUsage } from './usage.ts';

type Env = Readonly<Record<string, string | undefined>>;

export type Invocation = {
  readonly given: Given;
  readonly config: Config;
  readonly sdb: Sdb;
  readonly env: Env;
  readonly ask: (question: PromptQuestion) => Promise<Secret>;
  /** Asks a yes-or-no question; absent without a terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** The call, instead of the one in the arguments. */
  readonly call?: CommandLineCall;
  /** The hosts, instead of those of any roster. */
  readonly entries?: readonly Entry[];
  /** The folder for relative paths in options. Absent: the working folder of the process. */
  readonly cwd?: string;
};

/**
 * Reads the rosters that the options or the configuration name.
 *
 * @param more keeps hosts with wrong entries, even if all entries are wrong
 */
export const readRosters = (
  invocation: Omit<Invocation, 'ask'>,
  more: Pick<RosterRequest, 'keepFaults'> = {},
): Promise<Roster> => asUsage(() => mergeRosters({ ...rosterRequest(invocation), ...more }));

const rosterRequest = (invocation: Omit<Invocation, 'ask'>): RosterRequest => {
  const { given, config, env, sdb, entries } = invocation;
  const domain = config.options.get('roster_domain');
  return {
    sources: entries ? [] : rosterSources(given, config),
    ...(entries ? { entries } : {}),
    ...defaultsOf(invocation),
    render: renderRoster(config),
    env,
    resolve: data => sdb.resolve(data),
    ...(typeof domain === 'string' ? { domain } : {}),
    scan: scanOf(given, config),
  };
};

const scanOf = ({ options }: Given, config: Config): NonNullable<RosterRequest['scan']> => {
  const ports = options['scan-ports'] ?? config.options.get('ssh_scan_ports');
  const timeout = options['scan-timeout'] ?? config.options.get('ssh_scan_timeout') ?? undefined;
  const numbers = String(ports ?? '')
    .split(',')
    .filter(text => text.trim() !== '')
    .map(Number);
  const wrong = numbers.some(port => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrong) throw badScan('scan-ports', ports, 'ports with commas between');
  const seconds = timeout instanceof Float ? timeout.value : timeout && Number(String(timeout));
  if (seconds !== undefined && !(Number(seconds) > 0 && Number(seconds) <= 600))
    throw badScan('scan-timeout', timeout, 'a number of seconds above 0');
  return {
    ...(numbers.length === 0 ? {} : { ports: numbers }),
    ...(seconds === undefined ? {} : { seconds: Number(seconds) }),
  };
};

const badScan = (name: string, value: unknown, expected: string): TsaltError =>
  new TsaltError('usage-value', `The value of --${name} must be ${expected}, not '${value}'.`);

/** `--roster scan NETWORK FUNCTION`: as with salt-ssh, the target is the network to scan. */
export const scannedTarget = <T extends { readonly target: string }>(
  call: T,
  { given, config }: Pick<Invocation, 'given' | 'config'>,
): T => (scansTarget(given, config) ? { ...call, target: '*' } : call);

const scansTarget = ({ options }: Given, config: Config): boolean =>
  options.roster === 'scan' &&
  options['roster-file'] === undefined &&
  !config.rosters.some(({ backend }) => backend === 'scan');

/** Returns the rosters of a command line: those of its options, or of the configuration. */
export const rosterSources = (given: Given, config: Config): readonly RosterSource[] => {
  const { options, words } = given;
  if (scansTarget(given, config)) return [{ backend: 'scan', source: words[0] ?? '' }];
  const file = textOf(options['roster-file']);
  const names = textOf(options.roster)
    ?.split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
  if (names === undefined && file === undefined) return config.rosters;
  if (names === undefined) return [{ backend: '', source: file ?? '' }];
  const configured = config.rosters.find(source => names.includes(source.backend));
  return names.map(backend => ({
    backend,
    source:
      file ??
      config.rosters.find(one => one.backend === backend)?.source ??
      configured?.source ??
      config.rosters[0]?.source ??
      '',
  }));
};

/** Returns where hosts are looked up, for the message of an empty roster. */
export const rosterLocations = ({
  given,
  config,
  entries,
}: Pick<Invocation, 'given' | 'config' | 'entries'>): RosterSources => ({
  sources: entries
    ? []
    : rosterSources(given, config).map(({ backend, source }) => source || backend),
  folder: config.dir,
});

/** The flat roster that `--update-roster` writes to, if there is one. */
export const rosterFileOf = ({
  given,
  config,
}: Pick<Invocation, 'given' | 'config'>): string | undefined =>
  rosterSources(given, config).find(
    ({ backend, source }) =>
      source !== '' && (backend === '' ? backendOf(source) : backend) === 'flat',
  )?.source;

/**
 * Returns defaults of roster entries: the command line's take precedence over the configuration's.
 */
export const defaultsOf = ({
  given: { options, saltfile },
  config,
  cwd = process.cwd(),
}: Pick<Invocation, 'given' | 'config' | 'cwd'>): Pick<
  RosterRequest,
  'defaults' | 'defaultsFile' | 'given'
> => {
  const defaults: Dict = new Map(config.roster_defaults);
  const given: Layer[] = [];
  /** One layer for each option, so that an error names the option instead of a file. */
  const set = (key: string, value: Data | undefined, option = key.replaceAll('_', '-')): void => {
    const file = saltfile?.names.has(option) ? saltfile.file : `--${option}`;
    if (value !== undefined) given.push({ dict: new Map([[key, value]]), file });
  };
  set('user', textOf(options.user));
  set('port', textOf(options.port));
  set('priv', pathFrom(cwd, textOf(options.priv)));
  set('node_bin', textOf(options['node-bin']));
  set('transport', textOf(options.transport));
  if (options.sudo === true) set('sudo', true);
  if (options['identities-only'] === true) set('identities_only', true);
  for (const key of ['passwd', 'sudo_passwd', 'priv_passwd']) {
    const option = `${key.replace('_', '-')}-from`;
    const secret = secretFrom(option as keyof Given['options'], options, cwd);
    set(key, secret, option);
  }
  if (options.askpass === true) set('passwd', new Map([['prompt', true]]), 'askpass');
  const alive = keepAlive(options, config);
  const sshOptions = options['ssh-option'];
  if (sshOptions !== undefined) set('ssh_options', [...listOf(sshOptions), ...alive], 'ssh-option');
  else if (alive.length > 0)
    defaults.set('ssh_options', [...listOf(defaults.get('ssh_options')), ...alive]);
  const tunnels = textOf(options['remote-port-forwards'])?.split(',');
  const wrong = tunnels?.find(tunnel => !isForward(tunnel));
  if (wrong !== undefined)
    throw new TsaltError(
      'usage-value',
      `The tunnel '${wrong}' is not of the form PORT:HOST:HOSTPORT.`,
    );
  set('remote_port_forwards', tunnels);
  return { defaults, defaultsFile: config.file ?? `${config.dir}/tsalt.yaml`, given };
};

/** Resolves a path of the command line, which is relative to the working folder. */
const pathFrom = (cwd: string, path: string | undefined): string | undefined =>
  path === undefined || path === 'agent-forwarding' || /^[~/]/.test(path) ? path : `${cwd}/${path}`;

/** `env:NAME`, `file:PATH`, `fd:NUMBER`, `command:WORDS` or `prompt`, as a roster writes it. */
const secretFrom = (
  name: keyof Given['options'],
  options: Given['options'],
  cwd: string,
): Data | undefined => {
  const given = textOf(options[name]);
  if (given === undefined) return undefined;
  const [, way, value = ''] = /^(env|file|fd|command):(.+)$/s.exec(given) ?? [];
  if (given === 'prompt') return new Map([['prompt', true]]);
  if (way === 'env') return new Map([[way, value]]);
  if (way === 'file') return new Map([[way, pathFrom(cwd, value) ?? value]]);
  if (way === 'fd' && /^\d{1,4}$/.test(value)) return new Map([[way, Number(value)]]);
  const words = way === 'command' ? splitRosterArgs(value) : undefined;
  if (words !== undefined) return new Map([['command', words]]);
  throw new TsaltError('usage-value', `The value of --${name} does not say where the secret is.`, {
    hint: 'It takes prompt, env:NAME, file:PATH, fd:NUMBER or command:PROGRAM; a secret itself would be visible to every user in the list of processes.',
  });
};

/** Converts Salt's keepalive options to OpenSSH's. */
const keepAlive = (options: Given['options'], config: Config): readonly string[] => {
  const value = (name: string, key: string): Data | undefined =>
    textOf(options[name as keyof Given['options']]) ?? config.options.get(key);
  const off =
    options['disable-keepalive'] === true || config.options.get('ssh_keepalive') === false;
  const interval = off ? 0 : value('keepalive-interval', 'ssh_keepalive_interval');
  const count = value('keepalive-count-max', 'ssh_keepalive_count_max');
  return [
    ...(interval === undefined ? [] : [`ServerAliveInterval=${interval}`]),
    ...(count === undefined ? [] : [`ServerAliveCountMax=${count}`]),
  ];
};

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
