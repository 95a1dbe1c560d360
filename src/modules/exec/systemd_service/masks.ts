import { act, isMasked, liftMask } from '../../lib/systemd.ts';

/**
 * Whether a unit is masked: nothing can start it.
 *
 * @param name the service or unit
 * @param runtime true: for this boot only
 * @example tsalt-ssh '*' service.masked nginx
 */
export const masked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => isMasked(name, runtime);

/**
 * Masks a unit: nothing can start it.
 *
 * @param name the service or unit
 * @param runtime true: for this boot only
 * @example tsalt-ssh '*' service.mask nginx
 */
export const mask = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => act(['mask', ...(runtime ? ['--runtime'] : [])], name);

/**
 * Lifts the mask of a unit.
 *
 * @param name the service or unit
 * @param runtime true: the mask of this boot
 * @example tsalt-ssh '*' service.unmask nginx
 */
export const unmask = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<boolean> => liftMask(name, runtime);
