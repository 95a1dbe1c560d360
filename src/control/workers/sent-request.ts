import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import type { FleetRunOptions, Request } from '../../config/request.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { type Host, Secret } from '../../protocol/host.ts';
import type { AppliedPlan } from '../../protocol/plan.ts';
import { pack, unpack } from '../../render/confined/wire.ts';
import { checkTrusted } from '../../trust/check.ts';

/** Values that plain JSON cannot represent are packed. */
export type SentConfig = Omit<Config, 'options' | 'roster_defaults'> & {
  readonly options: string;
  readonly roster_defaults: string;
};

/** A request without its hosts, and without the parts that only the main process has. */
export type SentRequest = Pick<
  Request,
  'target' | 'targetType' | 'delimiter' | 'fun' | 'env' | 'rosters'
> & {
  readonly args: string;
  readonly kwargs: string;
  readonly isRaw: boolean;
  /** `sdb://` addresses are resolved. */
  readonly isSdbUsed: boolean;
  /** The artifact of the plan to apply. */
  readonly planned?: string;
  /** The worker is remote: it asks for the pillar. */
  readonly isElsewhere?: true;
  readonly config: SentConfig;
  readonly options: Omit<FleetRunOptions, 'batchCheck'>;
};

const secretKeys = ['passwd', 'sudo_passwd', 'priv_passwd'] as const;

/** A host whose secrets are revealed for sending. */
export type SentHost = Omit<Host, (typeof secretKeys)[number]> & {
  readonly secrets: Readonly<Record<string, string>>;
  /** The private key, where its file stays on the control node. */
  readonly key?: string;
};

/** Converts a request for sending to another process. */
export const sendRequest = (request: Request): SentRequest => {
  const { target, targetType, delimiter, fun, args, kwargs, config, env, rosters } = request;
  const { batchCheck: _, ...options } = request.options;
  return {
    target,
    targetType,
    delimiter,
    fun,
    env,
    ...(rosters ? { rosters } : {}),
    args: pack([...args]),
    kwargs: pack(kwargs),
    isRaw: request.raw !== undefined,
    isSdbUsed: request.sdb.isUsed,
    ...(request.planned ? { planned: request.planned.artifact } : {}),
    config: {
      ...config,
      options: pack(config.options),
      roster_defaults: pack(config.roster_defaults),
    },
    options,
  };
};

/** The parts of a request that the receiving process adds itself. */
export type LocalParts = Pick<Request, 'ask' | 'prepareHost' | 'sdb'> & {
  readonly raw: (host: Host) => string;
  readonly runOf: AppliedPlan['runOf'];
};

/** Restores the request that was sent, without hosts. */
export const receiveRequest = (
  { args, kwargs, isRaw, isSdbUsed, planned, config, isElsewhere: _, ...sent }: SentRequest,
  own: (isSdbUsed: boolean) => LocalParts,
): Request => {
  const received: Config = {
    ...config,
    options: dictFrom(config.options),
    roster_defaults: dictFrom(config.roster_defaults),
  };
  const { raw, runOf, ...parts } = own(isSdbUsed);
  return {
    ...sent,
    ...parts,
    ...(isRaw ? { raw } : {}),
    ...(planned === undefined ? {} : { planned: { artifact: planned, runOf } }),
    args: listFrom(args),
    kwargs: dictFrom(kwargs),
    config: received,
    hosts: [],
  };
};

/** Unpacks a dict. */
export const dictFrom = (text: string): Dict => {
  const value = unpack(text);
  return isDict(value) ? value : new Map();
};

/** Unpacks a list. */
export const listFrom = (text: string): Data[] => {
  const value = unpack(text);
  return Array.isArray(value) ? value : [];
};

/** Converts a host for sending to another process of this user. */
export const sendHost = (host: Host): SentHost => {
  const { passwd, sudo_passwd, priv_passwd, ...rest } = host;
  const secrets: Record<string, string> = {};
  for (const [key, secret] of Object.entries({ passwd, sudo_passwd, priv_passwd }))
    if (secret) secrets[key] = secret.reveal();
  return { ...rest, secrets };
};

/** Restores the host that was sent. */
export const receiveHost = ({ secrets, key: _, ...host }: SentHost): Host => {
  const filled: { [key in (typeof secretKeys)[number]]?: Secret } = {};
  for (const key of secretKeys) {
    const value = secrets[key];
    if (value !== undefined) filled[key] = new Secret(value);
  }
  return { ...host, ...filled };
};

/** Options that are of no use on a remote worker, or that only the control node may know. */
const keptHere =
  /^(?:ext_pillar|pillar_roots|vault|queue|workers|returners|roster.*|ssh_.*passwd|.*_keydir|age_identity_file)$/;

/**
 * Removes from a request what a remote worker must not know: pillar, stores, environment.
 *
 * @param request from `sendRequest`
 */
export const withoutSecrets = (request: SentRequest): SentRequest => {
  const { queue: _, ...config } = request.config;
  const options = new Map(
    [...dictFrom(config.options)].filter(
      ([key, value]) => !keptHere.test(String(key)) && !(isDict(value) && value.has('driver')),
    ),
  );
  return {
    ...request,
    env: {},
    isSdbUsed: false,
    isElsewhere: true,
    config: {
      ...config,
      options: pack(options),
      roster_defaults: pack(new Map()),
      pillar_roots: {},
      ext_pillar: [],
      workers: {},
      returners: {},
      rosters: [],
    },
  };
};

/**
 * Converts a host for sending to a remote worker, with its private key.
 *
 * @throws TsaltError `via` if its roster entry names programs or scripts of this machine
 */
export const sendHostAway = (host: Host): SentHost => {
  for (const key of ['ssh_pre_flight', 'ssh_pre_hook'] as const)
    if (host[key] !== undefined)
      throw new TsaltError('via', `${host.id}: ${key} does not work with via.`, {
        hint: 'It is a file of the control node, which workers do not have.',
      });
  if (host.transport !== undefined && !['ssh2', 'openssh'].includes(host.transport))
    throw new TsaltError('via', `${host.id}: transport ${host.transport} does not work with via.`);
  const sent = sendHost(host);
  // If the key is not here, the worker has it at this path.
  if (host.priv === undefined || !existsSync(host.priv)) return sent;
  checkTrusted(host.priv, 'The private key');
  return { ...sent, key: readFileSync(host.priv, 'utf8') };
};
