import { isNetwork } from '../_shared/text/ip-address.ts';
import { log } from '../api.ts';

/** Whether `cidr` is a network. If not, logs it; callers then find no address in it, as in Salt. */
export const knownNetwork = (cidr: string): boolean => {
  if (isNetwork(cidr)) return true;
  log.error(`${cidr} is no network: an address with the bits of the net alone, as 10.0.0.0/8`);
  return false;
};
