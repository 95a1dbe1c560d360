import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
afterEach(() => host.remove());

const pillar = {
  'libvirt.serverkey.pem': '-----BEGIN RSA PRIVATE KEY-----\nserver\n',
  'libvirt.servercert.pem': '-----BEGIN CERTIFICATE-----\nserver\n',
  'libvirt.cacert.pem': '-----BEGIN CERTIFICATE-----\nca\n',
};

test('keys of libvirt come from the pillar, and only root reads them', async () => {
  host = makeHost({ pillar });
  const options = { basepath: join(host.root, 'pki') };
  expect(await host.test('virt.keys', 'all', options)).toMatchObject({
    result: null,
    comment: 'Libvirt keys are set to be updated',
  });
  expect(existsSync(options.basepath)).toBe(false);
  const told = await host.state('virt.keys', 'all', options);
  expect(told).toEqual({
    name: 'all',
    result: true,
    comment: 'Updated libvirt certs and keys',
    changes: { serverkey: 'new', servercert: 'new', cacert: 'new' },
  });
  expect(host.file('pki/libvirt/private/serverkey.pem')).toBe(pillar['libvirt.serverkey.pem']);
  const modeOf = (path: string): number => statSync(join(options.basepath, path)).mode & 0o777;
  expect(modeOf('libvirt/private/serverkey.pem')).toBe(0o600);
  expect(modeOf('CA/cacert.pem')).toBe(0o644);
  host.write('pki/libvirt/servercert.pem', 'old');
  expect(await host.state('virt.keys', 'all', options)).toMatchObject({
    changes: { servercert: 'update' },
  });
  expect(await host.state('virt.keys', 'all', options)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'All keys are correct',
  });
});

test('a host without keys in its pillar is reported', async () => {
  host = makeHost();
  expect(await host.state('virt.keys', 'all', { basepath: host.root })).toMatchObject({
    result: false,
    comment: expect.stringContaining('has no keys of libvirt'),
  });
});
