import { hostname } from 'node:os';
import { readOr } from '../_shared/files/read-file.ts';

/** The names of this host. A `type` instead of an `interface`, so that it counts as grains data. */
export type HostNames = { localhost: string; fqdn: string; host: string; domain: string };

/**
 * Returns this host's names from the kernel and /etc/hosts. DNS is not queried: it may be slow or
 * unavailable.
 */
export const hostNames = (own = hostname(), hosts = readOr('/etc/hosts') ?? ''): HostNames => {
  const fqdn = own.includes('.') ? own : (fullNameIn(hosts, own) ?? own);
  const dot = fqdn.indexOf('.');
  return {
    localhost: own,
    fqdn,
    host: dot === -1 ? fqdn : fqdn.slice(0, dot),
    domain: dot === -1 ? '' : fqdn.slice(dot + 1),
  };
};

/** Returns the addresses of a name in /etc/hosts. */
export const addressesIn = (hosts: string, name: string): string[] =>
  hostLines(hosts)
    .filter(([, ...names]) => names.includes(name))
    .flatMap(([address]) => (address === undefined ? [] : [address]));

const fullNameIn = (hosts: string, own: string): string | undefined =>
  hostLines(hosts)
    .filter(([, ...names]) => names.includes(own))
    .flatMap(([, ...names]) => names)
    .find(name => name.includes('.') && name.startsWith(`${own}.`));

const hostLines = (hosts: string): string[][] =>
  hosts
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim())
    .filter(line => line !== '')
    .map(line => line.split(/\s+/));
