import type { LowChunk } from '../../../api.ts';
import { makeRefreshDue } from '../../packages.ts';

/** Makes one refresh of the package lists due: called by the engine before the first pkg state. */
export const mod_init = async (low: LowChunk): Promise<boolean> => {
  if (low.fun !== 'installed' && low.fun !== 'latest') return false;
  makeRefreshDue();
  return true;
};
