import type { FleetRunOptions, Request } from '../config/request.ts';
import type { Data } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import type { StateSelection } from '../protocol/state-selection.ts';
import { adHocHost, type Roster } from '../roster/load.ts';
import type { CheckedHost } from '../roster/roster.ts';
import { SecretStore } from '../roster/secrets.ts';
import { type CommandLineCall, callOf } from './call.ts';
import { jidOf } from './jid.ts';
import { badValue, numberOf, wholeNumberOf } from './number-option.ts';
import { rolloutOptions } from './rollout-options.ts';
import {
  defaultsOf,
  type Invocation,
  readRosters,
  rosterLocations,
  scannedTarget,
} from './rosters.ts';
import { adHocTarget, resolvableTarget, targetType } from './target.ts';

/**
 * Converts a command line to a request: target, function, typed arguments, roster. Makes no
 * connection.
 *
 * @throws TsaltError `usage-…`, `roster-…`
 */
export const makeRequest = async (invocation: Invocation): Promise<Request> => {
  const call = invocation.call ?? scannedTarget(callOf(invocation.given), invocation);
  const { given, env, ask, confirm, sdb } = invocation;
  const { options } = given;
  const type = targetType(options);
  const roster = await readRosters(invocation);
  const config = {
    ...invocation.config,
    nodegroups: { ...roster.groups, ...invocation.config.nodegroups },
    ...(typeof options.queue === 'string' ? { queue: typedQueue(options.queue) } : {}),
  };
  const extra = await hostBesideRoster(call.target, type, roster, invocation);
  // A target with its own address takes precedence over a roster entry of the same name.
  const others = roster.hosts.filter(({ host }) => host.id !== extra?.host.id);
  if (options['batch-ask'] === true && !confirm)
    throw new TsaltError('usage-batch', '--batch-ask needs a terminal to ask at.');
  const checked = extra === undefined ? roster.hosts : [...others, extra];
  const store = new SecretStore({ env, ask, sdb: uri => sdb.get(uri) });
  const byId = new Map(checked.map(one => [one.host.id, one]));
  return {
    ...call,
    ...(extra === undefined
      ? { targetType: type }
      : { target: extra.host.id, targetType: 'list' as const }),
    delimiter: textOf(options.delimiter) ?? ':',
    config,
    sdb,
    env,
    hosts: checked.map(({ host }) => viaOf(options.via, host)),
    rosters: rosterLocations(invocation),
    prepareHost: async host => {
      const { fault, secrets } = byId.get(host.id) ?? {};
      if (fault) throw fault;
      return store.fill(host, secrets);
    },
    ask,
    ...(confirm ? { confirm } : {}),
    options: runOptions(invocation, call),
  };
};

/** @throws TsaltError `usage-value` for a password, which every user of the machine could read */
const typedQueue = (address: string): string => {
  if (!/^rediss?:\/\/[^/@]*:[^/@]+@/.test(address)) return address;
  throw new TsaltError('usage-value', 'A password on the command line can be read by every user.', {
    hint: 'Give the address in an environment variable: --queue env:TSALT_QUEUE',
  });
};

/** `--via` applies to hosts whose roster entry does not set it. */
const viaOf = (via: unknown, host: Host): Host =>
  typeof via === 'string' && host.via === undefined ? { ...host, via } : host;

const hostBesideRoster = async (
  target: string,
  type: Request['targetType'],
  roster: Roster,
  { given, config, cwd }: Invocation,
): Promise<CheckedHost | undefined> => {
  if (type !== 'glob' || roster.hosts.some(({ host }) => host.id === target)) return undefined;
  const adHoc = adHocTarget(target) ?? (await unlisted(target, roster));
  if (adHoc === undefined) return undefined;
  const listed = roster.hosts.find(({ host }) => host.id === adHoc.id && adHoc.keys.size === 1);
  return (
    listed ??
    adHocHost(
      adHoc.id,
      adHoc.keys,
      defaultsOf({ given, config, ...(cwd === undefined ? {} : { cwd }) }),
    )
  );
};

/** Whether a plain name may be a host in the DNS: it contains a dot, and no roster has it. */
const unlisted = (target: string, roster: Roster) => {
  const plain = /^[\w.-]+$/.test(target) && (target.includes('.') || roster.hosts.length === 0);
  return plain ? resolvableTarget(target) : undefined;
};

const runOptions = (
  { given, config }: Invocation,
  { fun, kwargs }: CommandLineCall,
): FleetRunOptions => {
  const { options } = given;
  const timeout = numberOf('timeout', options.timeout, 0);
  const isState = fun.startsWith('state.');
  return {
    maxProcs: wholeNumberOf('max-procs', options['max-procs']) ?? config.ssh_max_procs,
    ...workersOf(options.workers),
    ...rolloutOptions(given),
    ...(timeout === undefined ? {} : { timeout }),
    ...guardOf(given, config, fun),
    failhard: options.failhard === true,
    ...selectionOf(options, fun),
    strict: options.strict === true || config.strict,
    dryRun: options['dry-run'] === true,
    ...(options['plan-out'] !== undefined || options.ask === true ? { plan: true } : {}),
    ...(isState && isGiven(kwargs.get('test')) ? { test: Boolean(kwargs.get('test')) } : {}),
    static: options.static === true,
    wipe: options.wipe === true || config.ssh_wipe,
    randomThinDir: options['rand-thin-dir'] === true,
    regen: options['regen-thin'] === true,
    preFlight: options['pre-flight'] === true || config.ssh_run_pre_flight,
    keyDeploy: options['key-deploy'] === true,
    noSshConfig: options['no-ssh-config'] === true,
    acceptNewHostKeys: options['accept-new-host-keys'] === true,
    ignoreHostKeys: options['ignore-host-keys'] === true,
    jid: jidOf(textOf(options.jid)),
    ...(typeof options.resume === 'string' ? { resume: options.resume } : {}),
  };
};

/** @throws TsaltError `usage-selection` if the function does not run states */
const selectionOf = (
  options: Invocation['given']['options'],
  fun: string,
): Pick<FleetRunOptions, 'selection'> => {
  const list = (name: 'only' | 'skip' | 'tags' | 'skip-tags'): string[] | undefined =>
    textOf(options[name])
      ?.split(',')
      .map(part => part.trim())
      .filter(part => part !== '');
  const lists = {
    only: list('only'),
    skip: list('skip'),
    tags: list('tags'),
    skipTags: list('skip-tags'),
    from: textOf(options.from),
    until: textOf(options.until),
  };
  const given = Object.fromEntries(
    Object.entries(lists).filter(([, value]) => value !== undefined),
  ) as Pick<StateSelection, keyof typeof lists>;
  const [name] = Object.keys(given);
  if (name === undefined) {
    if (options['no-deps'] !== true) return {};
    throw new TsaltError('usage-selection', '--no-deps has no effect without a selection.', {
      hint: "Select states, for example: --only 'nginx*' --no-deps",
    });
  }
  const option = name === 'skipTags' ? '--skip-tags' : `--${name}`;
  const empty = Object.values(given).some(value => value.length === 0);
  if (empty) throw new TsaltError('usage-selection', `${option} needs a value.`);
  if (!selectable.has(fun))
    throw new TsaltError('usage-selection', `${option} selects states; '${fun}' runs none.`, {
      hint: `Use it with ${[...selectable].slice(0, 3).join(', ')} or one of the other functions that run states.`,
    });
  return { selection: { ...given, ...(options['no-deps'] === true ? { noDeps: true } : {}) } };
};

const selectable: ReadonlySet<string> = new Set([
  'state.apply',
  'state.highstate',
  'state.sls',
  'state.high',
  'state.low',
  'state.single',
  'state.sls_id',
  'state.template',
  'state.template_str',
  'state.top',
  'state.orchestrate',
  'state.orch',
]);

/** The rollback needs the workspace after the run, so options that remove it are refused. */
const guardOf = (
  { options }: Invocation['given'],
  { ssh_wipe }: Invocation['config'],
  fun: string,
): Pick<FleetRunOptions, 'guard'> => {
  const guard = numberOf('guard', options.guard, 0);
  if (guard === undefined) return {};
  if (!fun.startsWith('state.') || options.raw === true)
    throw new TsaltError('usage-guard', '--guard is for runs of states only, such as state.apply.');
  const given = (['wipe', 'rand-thin-dir'] as const).find(name => options[name] === true);
  const wiping = given === undefined ? ssh_wipe && 'ssh_wipe' : `--${given}`;
  if (!wiping) return { guard };
  throw new TsaltError(
    'usage-guard',
    `--guard and ${wiping} exclude each other: the host's workspace must outlive the run.`,
  );
};

const isGiven = (value: Data | undefined): boolean => value !== undefined && value !== null;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const workersOf = (value: unknown): Pick<FleetRunOptions, 'workers'> => {
  const text = textOf(value);
  if (text === undefined) return {};
  if (text === 'auto') return { workers: text };
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= mostWorkers) return { workers: count };
  throw badValue('workers', text, `a number from 1 to ${mostWorkers}, or auto`);
};

/** Limit of worker processes; each has its own heap, of about 100 MB. */
const mostWorkers = 64;
