import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterAll, expect, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { KeyRing } from '../../../src/transport/keys.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { fault } from '../../helpers/fault.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-keys');
afterAll(remove);

test('the wrong passphrase of one host does not affect others that use the key', async () => {
  const path = join(dir, 'key');
  writeFileSync(path, newKey('ed25519', 'right').private);
  let parsed = 0;
  const ring = new KeyRing(async () => (data, passphrase) => {
    parsed += 1;
    return ssh2.utils.parseKey(data, passphrase);
  });

  expect((await fault(ring.load(path, 'bad', new Secret('wrong')))).code).toBe('key-passphrase');
  expect((await ring.load(path, 'good', new Secret('right'))).isPrivateKey()).toBe(true);
  expect((await fault(ring.load(path, 'none'))).code).toBe('key-no-passphrase');
  expect(await ring.load(path, 'also good', new Secret('right'))).toBe(
    await ring.load(path, 'good', new Secret('right')),
  );
  expect(parsed).toBe(3);
});
