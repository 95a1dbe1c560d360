import { act, isMasked, liftMask, offlineAct } from '../../systemd.ts';

type MaskOptions = {
  /** true: for this boot only */
  runtime?: boolean;
  /** a folder with another system */
  root?: string | null;
};

/**
 * Whether a unit is masked: nothing can start it.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.masked nginx
 */
export const masked = async (
  name: string,
  { runtime = false, root = null }: MaskOptions = {},
): Promise<boolean> => isMasked(name, runtime, root);

/**
 * Masks a unit: nothing can start it.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.mask nginx
 */
export const mask = async (
  name: string,
  { runtime = false, root = null }: MaskOptions = {},
): Promise<boolean> => {
  const args = ['mask', ...(runtime ? ['--runtime'] : [])];
  return root ? offlineAct(args, name, root) : act(args, name);
};

/**
 * Lifts the mask of a unit.
 *
 * @param name the service or unit
 * @param runtime true: the mask of this boot
 * @example tsalt-ssh '*' service.unmask nginx
 */
export const unmask = async (
  name: string,
  { runtime = false, root = null }: MaskOptions = {},
): Promise<boolean> => liftMask(name, runtime, root);
