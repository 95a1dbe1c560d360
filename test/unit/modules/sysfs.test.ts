import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as sysfs from '../../../src/modules/kernel/exec/sysfs.ts';

const statistics = 'class/net/lo/statistics';

test('attributes are found, read and distinguished', async () => {
  expect(await sysfs.target('class/net/lo')).toBe('/sys/devices/virtual/net/lo');
  expect(await sysfs.target('/sys/class/net/lo', false)).toBe('lo');
  expect(await sysfs.target('no/such/thing')).toBe(false);
  expect(await sysfs.target('../etc/passwd')).toBe(false);
  const mtu = Number(readFileSync('/sys/class/net/lo/mtu', 'utf8'));
  expect(await sysfs.read('class/net/lo/mtu')).toBe(mtu);
  expect(await sysfs.attr('class/net/lo/mtu')).toBe(mtu);
  expect(await sysfs.attr('class/net/lo')).toBe('/sys/devices/virtual/net/lo');
  expect(await sysfs.read(['mtu', 'nope'], 'class/net/lo')).toEqual({ mtu });
  expect(await sysfs.read(statistics)).toMatchObject({ rx_bytes: expect.any(Number) });
  expect(await sysfs.interfaces(statistics)).toMatchObject({
    r: expect.arrayContaining(['rx_bytes', 'tx_bytes']),
    w: [],
  });
  expect(await sysfs.interfaces('class/net/lo/mtu')).toBe(false);
  expect(await sysfs.write('no/such/thing', 1)).toBe(false);
  expect(await sysfs.attr(`${statistics}/rx_bytes`, 1)).toBe(false);
});
