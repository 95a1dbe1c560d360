/** Keys of libvirt. Virtual machines themselves are not managed here. */
import { join } from 'node:path';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { makeDirs } from '../../_shared/files/make-dirs.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

const places: Readonly<Record<string, string>> = {
  serverkey: 'libvirt/private/serverkey.pem',
  servercert: 'libvirt/servercert.pem',
  clientkey: 'libvirt/private/clientkey.pem',
  clientcert: 'libvirt/clientcert.pem',
  cacert: 'CA/cacert.pem',
};

/**
 * The keys and certificates of libvirt are those of the pillar: `libvirt.serverkey.pem`,
 * `libvirt.servercert.pem`, `libvirt.clientkey.pem`, `libvirt.clientcert.pem` and
 * `libvirt.cacert.pem`, the keys readable by root only.
 *
 * Salt's master makes them by its external pillar `libvirt`. Here they come from a pillar file, or
 * from an external pillar of yours (`_pillar`), which knows for whom they are.
 *
 * @param name any name
 * @param basepath the folder of libvirt's keys
 * @unknown ignored
 * @example
 * libvirt_keys:
 *   virt.keys: []
 */
export const keys = async (
  name: string,
  { basepath = '/etc/pki' }: { basepath?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const changes: Record<string, string> = {};
    const texts = new Map<string, string>();
    for (const [key, place] of Object.entries(places)) {
      const text: unknown = await salt('pillar.get')(`libvirt.${key}.pem`, null);
      if (typeof text !== 'string' || text === '') continue;
      texts.set(key, text);
      const old = readOr(join(basepath, place));
      if (old !== text) changes[key] = old === undefined ? 'new' : 'update';
    }
    if (texts.size === 0)
      return failed(
        name,
        'The pillar of this host has no keys of libvirt: put libvirt.serverkey.pem, libvirt.servercert.pem and libvirt.cacert.pem there.',
      );
    const due = Object.keys(changes);
    if (due.length === 0) return unchanged(name, 'All keys are correct');
    if (__opts__.test) return would(name, 'Libvirt keys are set to be updated');
    for (const key of due) {
      const place = places[key] ?? '';
      const path = join(basepath, place);
      makeDirs(join(path, '..'));
      writeAtomic(path, texts.get(key) ?? '', {
        mode: place.includes('private/') ? 0o600 : 0o644,
      });
    }
    return changed(name, 'Updated libvirt certs and keys', changes);
  });
