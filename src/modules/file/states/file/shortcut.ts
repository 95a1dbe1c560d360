import { failed } from '../../../_shared/states/returns.ts';
import type { StateReturn } from '../../../api.ts';

/**
 * Refused: shortcuts are files of Windows. `file.symlink` creates a link.
 *
 * @param name the shortcut
 * @param target its target
 */
export const shortcut = async (
  name: string,
  { target }: { target: string; [argument: string]: unknown },
): Promise<StateReturn> =>
  failed(name, `file.shortcut is for Windows only: make a link to ${target} with file.symlink.`);
