/** Services run or do not, now and at boot, by whatever starts them there. */
import {
  __context__,
  __opts__,
  CommandExecutionError,
  type PlainDict,
  type StateReturn,
} from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { type Description, describedState } from '../lib/describe.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('service.status') || [
    false,
    'service.status is not available: the init system of this host is not known.',
  ];

type ServiceOptions = {
  enable?: boolean | string | null;
  sig?: string | null;
  init_delay?: number | null;
  no_block?: boolean;
  unmask?: boolean;
  unmask_runtime?: boolean;
  wait?: number;
  timeout?: number | null;
  enabled?: unknown;
  reload?: boolean;
  full_restart?: boolean;
  force?: boolean;
};

/**
 * A service runs. When something it watches changes it is restarted, or reloaded with
 * `reload: true`.
 *
 * @param name the service
 * @param enable true: it starts at boot; false: it does not; not given: as it is
 * @param sig text by which its process is found (init systems that cannot tell)
 * @param init_delay seconds to wait before looking whether it is up
 * @param no_block true: do not wait until it is up (systemd)
 * @param unmask true: lift its mask first (systemd)
 * @param unmask_runtime true: lift its mask of this boot first (systemd)
 * @param wait seconds for which a service that is just starting is waited for (systemd)
 * @param timeout the same, by its other name
 * @param reload true: reload it instead of restarting when something it watches changes
 * @param full_restart true: stop and start it instead (where the init system knows that)
 * @param force true: with `reload`, restart where it cannot reload
 * @example
 * nginx:
 *   service.running:
 *     - enable: true
 *     - reload: true
 *     - watch:
 *       - file: /etc/nginx/nginx.conf
 */
export const running = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'running';
  const early = await checkFirst(name, options, 'started');
  if (early) return early;
  const { enable, init_delay } = options;
  const before = await isUp(name, options);
  const bootBefore = await startsAtBoot(name);
  const lifted = await unmaskFirst(name, options);
  if (lifted.result === false) return lifted;
  if (before) {
    const comment = [`The service ${name} is already running`, lifted.comment]
      .filter(part => part !== '')
      .join('\n');
    return withBoot({ ...lifted, comment }, toBoolean(enable), bootBefore, null, options);
  }
  if (__opts__.test)
    return would(
      name,
      [`Service ${name} is set to start`, lifted.comment].filter(part => part !== '').join('\n'),
      lifted.changes,
    );
  try {
    const started = await salt('service.start')(name, actionOptions(options));
    if (started === false)
      return withBoot(
        failed(name, `Service ${name} failed to start`),
        toBoolean(enable),
        bootBefore,
        false,
        options,
      );
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
  await delay(init_delay);
  const after = await isUp(name, options);
  const state: StateReturn = {
    name,
    changes: { ...lifted.changes, ...(after === before ? {} : { [name]: after }) },
    result: after,
    comment: after ? `Started service ${name}` : `Service ${name} failed to start`,
  };
  const done = await withBoot(state, toBoolean(enable), bootBefore, after, options);
  const comment = [
    String(done.comment),
    ...(init_delay ? [`Delayed return for ${init_delay} seconds`] : []),
    ...(lifted.comment === '' ? [] : [String(lifted.comment)]),
  ].join('\n');
  return { ...done, comment };
};

/**
 * A service does not run.
 *
 * @param name the service
 * @param enable true: it starts at boot; false: it does not; not given: as it is
 * @param sig text by which its process is found (init systems that cannot tell)
 * @param init_delay seconds to wait before looking whether it is down
 * @param no_block true: do not wait until it is down (systemd)
 * @example
 * cups:
 *   service.dead:
 *     - enable: false
 */
export const dead = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'dead';
  const early = await checkFirst(name, options, 'stopped');
  if (early)
    return early.result === false && !isMisuse(options) ? { ...early, result: true } : early;
  const enable = toBoolean(options.enable);
  const bootBefore = await startsAtBoot(name);
  if (!(await isUp(name, options)))
    return withBoot(
      unchanged(name, `The service ${name} is already dead`),
      enable,
      bootBefore,
      null,
      options,
    );
  if (__opts__.test) return would(name, `Service ${name} is set to be killed`);
  let stopped: unknown;
  try {
    stopped = await salt('service.stop')(name, { ...blockingOption(options) });
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
  if (stopped === false)
    return withBoot(
      failed(name, `Service ${name} failed to die`),
      enable,
      bootBefore,
      true,
      options,
    );
  await delay(options.init_delay);
  const up = await isUp(name, options);
  return withBoot(
    {
      name,
      changes: up ? {} : { [name]: false },
      result: !up,
      comment: up ? `Service ${name} failed to die` : `Service ${name} was killed`,
    },
    enable,
    bootBefore,
    up,
    options,
  );
};

/**
 * A service starts at boot. Whether it runs now does not matter.
 *
 * @param name the service
 * @param unmask true: lift its mask first (systemd)
 * @example
 * nginx:
 *   service.enabled
 */
export const enabled = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'enabled';
  if (!(await isAvailable(name)))
    return __opts__.test
      ? would(
          name,
          `Service ${name} not present; if created in this state run, it would have been enabled`,
        )
      : failed(name, `The named service ${name} is not available`);
  return withBoot(unchanged(name, ''), true, await startsAtBoot(name), null, options, true);
};

/**
 * A service does not start at boot. Whether it runs now does not matter.
 *
 * @param name the service
 * @example
 * cups:
 *   service.disabled
 */
export const disabled = async (
  name: string,
  options: ServiceOptions = {},
): Promise<StateReturn> => {
  __context__['service.state'] = 'disabled';
  if (!(await isAvailable(name)))
    return unchanged(name, `The named service ${name} is not available`);
  return withBoot(unchanged(name, ''), false, await startsAtBoot(name), null, options, true);
};

/**
 * A unit is masked: nothing can start it (systemd).
 *
 * @param name the unit
 * @param runtime true: for this boot only
 * @example
 * cups:
 *   service.masked
 */
export const masked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<StateReturn> => changeMask(name, runtime, true);

/**
 * A unit is not masked (systemd).
 *
 * @param name the unit
 * @param runtime true: the mask of this boot
 * @example
 * cups:
 *   service.unmasked
 */
export const unmasked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<StateReturn> => changeMask(name, runtime, false);

/** What a service does when something it watches has changed: called by the engine. */
export const mod_watch = async (
  name: string,
  {
    sfun,
    reload = false,
    full_restart = false,
    force = false,
    init_delay = null,
    ...options
  }: ServiceOptions & { sfun: string },
): Promise<StateReturn> => {
  if (sfun !== 'dead' && sfun !== 'running')
    return failed(name, `Unable to trigger watch for service.${sfun}`);
  const up = await isUp(name, options);
  if (sfun === 'dead' && !up) return unchanged(name, 'Service is already stopped');
  const action = sfun === 'dead' ? stopping : up ? reaction(reload, full_restart, force) : starting;
  if (__opts__.test) return would(name, `Service is set to be ${action.done}`);
  let result: unknown;
  try {
    if (action === starting) await salt('service.stop')(name).catch(() => false);
    result = await salt(action.fun)(
      name,
      action === stopping ? blockingOption(options) : actionOptions(options),
    );
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
  await delay(init_delay);
  return result
    ? changed(name, `Service ${action.done}`, { [name]: true })
    : failed(name, `Failed to ${action.verb} the service`, { [name]: false });
};

/**
 * All services that can be enabled, and those that run: whether they run, whether they start at
 * boot. Masked ones are described as masked.
 */
export const describe = async (): Promise<Description> => {
  const described: Description = {};
  const bootable = new Set(await bootableServices());
  const running: string[] = hasFunction('service.get_running')
    ? await salt('service.get_running')()
    : [];
  const isOurs = (name: string): boolean =>
    !/@$|@\.|\.(target|mount|slice|scope|device)$/.test(name);
  const all: string[] = await salt('service.get_all')();
  const masked = hasFunction('service.masked') ? salt('service.masked') : async () => false;
  for (const name of all.filter(isOurs)) {
    if (await masked(name)) described[name] = describedState('service.masked', {});
    else if (bootable.has(name) || running.includes(name)) {
      const state = (await isUp(name, {})) ? 'service.running' : 'service.dead';
      const enable = bootable.has(name) ? await startsAtBoot(name) : undefined;
      described[name] = describedState(state, { enable });
    }
  }
  return described;
};

const bootableServices = async (): Promise<string[]> =>
  hasFunction('service.get_enabled') && hasFunction('service.get_disabled')
    ? [...(await salt('service.get_enabled')()), ...(await salt('service.get_disabled')())]
    : salt('service.get_all')();

type Action = { readonly fun: string; readonly verb: string; readonly done: string };
const starting: Action = { fun: 'service.start', verb: 'start', done: 'started' };
const stopping: Action = { fun: 'service.stop', verb: 'stop', done: 'stopped' };

const reaction = (reload: boolean, fullRestart: boolean, force: boolean): Action => {
  if (reload && force && hasFunction('service.force_reload'))
    return {
      fun: 'service.force_reload',
      verb: 'forcefully reload',
      done: 'forcefully reloaded',
    };
  if (reload && hasFunction('service.reload'))
    return { fun: 'service.reload', verb: 'reload', done: 'reloaded' };
  if (fullRestart && hasFunction('service.full_restart'))
    return { fun: 'service.full_restart', verb: 'fully restart', done: 'fully restarted' };
  return { fun: 'service.restart', verb: 'restart', done: 'restarted' };
};

/** What ends `running` and `dead` before they look at the service. */
const checkFirst = async (
  name: string,
  options: ServiceOptions,
  done: string,
): Promise<StateReturn | undefined> => {
  if (isMisuse(options))
    return failed(
      name,
      `Service ${name} uses non-existent option "enabled".  Perhaps "enable" option was intended?`,
    );
  if (hasFunction('service.offline') && (await salt('service.offline')()))
    return unchanged(name, 'Running in OFFLINE mode. Nothing to do');
  try {
    if (await isAvailable(name)) return undefined;
  } catch (error) {
    return failed(name, messageOf(error));
  }
  return __opts__.test
    ? would(
        name,
        `Service ${name} not present; if created in this state run, it would have been ${done}`,
      )
    : failed(name, `The named service ${name} is not available`);
};

const isMisuse = ({ enabled: misspelt }: ServiceOptions): boolean => misspelt !== undefined;

const isAvailable = async (name: string): Promise<boolean> =>
  hasFunction('service.available')
    ? salt('service.available')(name)
    : (await salt('service.get_all')()).includes(name);

const isUp = async (name: string, { sig, wait, timeout }: ServiceOptions): Promise<boolean> => {
  const seconds = wait ?? timeout ?? null;
  return Boolean(
    await salt('service.status')(name, {
      ...(sig ? { sig } : {}),
      ...(seconds === null ? {} : { wait: seconds }),
    }),
  );
};

const startsAtBoot = async (name: string): Promise<boolean> =>
  hasFunction('service.enabled') ? salt('service.enabled')(name) : true;

const toBoolean = (value: boolean | string | null | undefined): boolean | null => {
  if (typeof value !== 'string') return value ?? null;
  return ['true', 'yes', 'on', '1'].includes(value.toLowerCase());
};

/** Options that only systemd's functions take are passed on only when they are given. */
const actionOptions = ({ no_block, unmask, unmask_runtime }: ServiceOptions): PlainDict => ({
  ...(no_block === undefined ? {} : { no_block }),
  ...(unmask === undefined ? {} : { unmask }),
  ...(unmask_runtime === undefined ? {} : { unmask_runtime }),
});

const blockingOption = ({ no_block }: ServiceOptions): PlainDict =>
  no_block === undefined ? {} : { no_block };

const delay = async (seconds: number | null | undefined): Promise<void> => {
  if (seconds) await new Promise(resolve => setTimeout(resolve, seconds * 1000));
};

const unmaskFirst = async (name: string, options: ServiceOptions): Promise<StateReturn> =>
  options.unmask
    ? unmasked(name, { runtime: options.unmask_runtime ?? false })
    : unchanged(name, '');

/** Brings `enable` about after the rest of the state is done; `started` is null when nothing was. */
const withBoot = async (
  state: StateReturn,
  enable: boolean | null,
  atBoot: boolean,
  started: boolean | null,
  options: ServiceOptions,
  always = false,
): Promise<StateReturn> => {
  const { name } = state;
  if (enable === null) return state;
  if (enable === atBoot && started === null && !always) return state;
  const verb = enable ? 'enable' : 'disable';
  const Verb = enable ? 'Enable' : 'Disable';
  const tail = started === null ? 'is in the desired state' : started ? 'is running' : 'is dead';
  if (!hasFunction(`service.${verb}`) || !hasFunction('service.enabled'))
    return {
      ...state,
      comment: `${Verb} is not available on this minion, service ${name} ${started ? 'started' : tail}`,
    };
  if (enable === atBoot)
    return { ...state, comment: `Service ${name} is already ${verb}d, and ${tail}` };
  if (__opts__.test)
    return { ...state, result: null, comment: `Service ${name} set to be ${verb}d` };
  let reason = '';
  try {
    const boot = enable ? actionOptions(options) : {};
    if (await salt(`service.${verb}`)(name, boot)) {
      const now = await startsAtBoot(name);
      return {
        ...state,
        changes: now === atBoot ? state.changes : { ...state.changes, [name]: true },
        comment: `Service ${name} has been ${verb}d, and ${tail}`,
      };
    }
  } catch (error) {
    reason = `. Additional information follows:\n\n${messageOf(error)}`;
  }
  const what = enable ? 'start at boot' : 'not start at boot';
  const how =
    started === null
      ? ', but the service was already running'
      : started
        ? ', but the service is running'
        : ', and the service is dead';
  return {
    ...state,
    result: false,
    comment: `Failed when setting service ${name} to ${what}${how}${reason}`,
  };
};

const changeMask = async (
  name: string,
  runtime: boolean,
  masking: boolean,
): Promise<StateReturn> => {
  if (!hasFunction('service.masked'))
    return failed(name, 'Service masking not available on this minion');
  const kind = runtime ? 'runtime masked' : 'masked';
  const done = masking ? kind : runtime ? 'runtime unmasked' : 'unmasked';
  const changes = { [kind]: { old: !masking, new: masking } };
  try {
    if ((await salt('service.masked')(name, { runtime })) === masking)
      return unchanged(name, `Service ${name} ${masking ? 'is' : 'was'} already ${done}`);
    if (__opts__.test) return would(name, `Service ${name} would be ${done}`, changes);
    await salt(masking ? 'service.mask' : 'service.unmask')(name, { runtime });
    return (await salt('service.masked')(name, { runtime })) === masking
      ? changed(name, `Service ${name} was ${done}`, changes)
      : failed(name, `Failed to ${masking ? 'mask' : 'unmask'} service ${name}`);
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
};
