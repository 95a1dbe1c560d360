import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { TargetType } from '../config/request.ts';
import type { Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { readAddress } from '../roster/address.ts';

const flags: readonly (readonly [string, TargetType])[] = [
  ['pcre', 'pcre'],
  ['list', 'list'],
  ['nodegroup', 'nodegroup'],
  ['grain', 'grain'],
  ['grain-pcre', 'grain_pcre'],
  ['pillar', 'pillar'],
  ['pillar-pcre', 'pillar_pcre'],
  ['ipcidr', 'ipcidr'],
  ['compound', 'compound'],
];

/**
 * Returns the type of target that the flags select. Throws `usage-target` if they contradict each
 * other.
 */
export const targetType = (given: Readonly<Record<string, unknown>>): TargetType => {
  const chosen = flags.filter(([flag]) => given[flag] === true);
  if (chosen.length > 1)
    throw new TsaltError(
      'usage-target',
      `Only one kind of target can be chosen, not ${chosen.map(([flag]) => `--${flag}`).join(' and ')}.`,
      { hint: 'Use -C to combine kinds.' },
    );
  return chosen[0]?.[1] ?? 'glob';
};

/** The id of this machine when it runs an orchestration, as top files of the pillar match it. */
export const controlId = 'control';

/** A host without a roster: roster keys for `checkHost`. */
export type AdHoc = { readonly id: string; readonly keys: Dict };

/**
 * Reads `@local`, `@control`, `@chroot/DIR`, `@docker/NAME`, `@podman/NAME`, `user@host:port` and
 * other targets that contain their own address.
 *
 * @returns undefined for targets that need a roster
 */
export const adHocTarget = (target: string): AdHoc | undefined => {
  if (target === '@local')
    return { id: 'local', keys: keysOf({ transport: 'local', host: 'localhost' }) };
  if (target === '@control')
    return { id: controlId, keys: keysOf({ transport: 'local', host: 'localhost' }) };
  const inside = /^@(chroot|docker|podman)\/(.+)$/.exec(target);
  if (inside) {
    const [, kind = '', name = ''] = inside;
    const chroot = kind === 'chroot';
    const host = chroot ? `/${name.replace(/^\/+/, '')}` : `${kind}:${name}`;
    const id = name.replace(/^\/+|\/+$/g, '').replaceAll('/', '-');
    return { id, keys: keysOf({ transport: chroot ? 'chroot' : 'container', host }) };
  }
  if (target.startsWith('@'))
    throw new TsaltError('usage-target', `There is no connector '${target}'.`, {
      hint: 'The connectors are @local, @control, @chroot/DIR, @docker/NAME and @podman/NAME.',
    });
  const address = readAddress(target);
  const explicit = /[@]|^ssh:\/\//.test(target) || address?.port !== undefined;
  if (address === undefined) {
    if (/^ssh:\/\/|^[^*?[\]!]*@/.test(target) && !target.includes(' '))
      throw new TsaltError('usage-target', `The target '${target}' is not a valid user@host:port.`);
    return undefined;
  }
  return explicit || isIP(address.host) !== 0
    ? { id: address.host, keys: addressKeys(address) }
    : undefined;
};

/**
 * Returns a plain name that is in the DNS but in no roster, which salt-ssh also accepts as a host.
 */
export const resolvableTarget = async (target: string): Promise<AdHoc | undefined> => {
  const address = readAddress(target);
  if (address === undefined) return undefined;
  const found = await lookup(address.host).catch(() => undefined);
  return found === undefined ? undefined : { id: address.host, keys: addressKeys(address) };
};

const addressKeys = (address: { host: string; user?: string; port?: number }): Dict =>
  keysOf({ ...address });

const keysOf = (keys: Readonly<Record<string, string | number>>): Dict =>
  new Map(Object.entries(keys));
