import { messageOf } from '../../protocol/error.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import { failed, unchanged, would } from '../_shared/states/returns.ts';
import { __grains__, __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';

export type ServiceOptions = {
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
  runlevels?: Plain;
};

/** Checks that may end `running` and `dead` before they look at the service. */
export const checkFirst = async (
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
    if (await isServiceAvailable(name)) return undefined;
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

export const isMisuse = ({ enabled: misspelt }: ServiceOptions): boolean => misspelt !== undefined;

export const isServiceAvailable = async (name: string): Promise<boolean> =>
  hasFunction('service.available')
    ? salt('service.available')(name)
    : (await salt('service.get_all')()).includes(name);

export const isUp = async (
  name: string,
  { sig, wait, timeout }: ServiceOptions,
): Promise<boolean> => {
  const seconds = wait ?? timeout ?? null;
  return Boolean(
    await salt('service.status')(name, {
      ...(sig ? { sig } : {}),
      ...(seconds === null ? {} : { wait: seconds }),
    }),
  );
};

export const startsAtBoot = async (name: string, options: ServiceOptions = {}): Promise<boolean> =>
  hasFunction('service.enabled') ? salt('service.enabled')(name, levelOption(options)) : true;

/** Runlevels mean something to OpenRC only. */
export const levelOption = ({ runlevels }: ServiceOptions): PlainDict =>
  runlevels === undefined || runlevels === null || __grains__.init !== 'openrc'
    ? {}
    : { runlevels };

export const toBoolean = (value: boolean | string | null | undefined): boolean | null => {
  if (typeof value !== 'string') return value ?? null;
  return ['true', 'yes', 'on', '1'].includes(value.toLowerCase());
};

/** Options that only systemd's functions take are passed on only when they are given. */
export const actionOptions = ({ no_block, unmask, unmask_runtime }: ServiceOptions): PlainDict => ({
  ...(no_block === undefined ? {} : { no_block }),
  ...(unmask === undefined ? {} : { unmask }),
  ...(unmask_runtime === undefined ? {} : { unmask_runtime }),
});

export const blockingOption = ({ no_block }: ServiceOptions): PlainDict =>
  no_block === undefined ? {} : { no_block };

export const delay = async (seconds: number | null | undefined): Promise<void> => {
  if (seconds) await new Promise(resolve => setTimeout(resolve, seconds * 1000));
};
