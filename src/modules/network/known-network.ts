import { isNetwork } from '../_shared/text/ip-address.ts';
import { log } from '../api.ts';

/** What is no network holds no address, as in Salt; the log says so. */
export const knownNetwork = (cidr: string): boolean => {
  if (isNetwork(cidr)) return true;
  log.error(`${cidr} is no network: an address with the bits of the net alone, as 10.0.0.0/8`);
  return false;
};
