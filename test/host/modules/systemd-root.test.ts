import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as boot from '../../../src/modules/service/exec/systemd_service/boot.ts';
import * as lists from '../../../src/modules/service/exec/systemd_service/lists.ts';
import * as masks from '../../../src/modules/service/exec/systemd_service/masks.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

const root = mkdtempSync(join(tmpdir(), 'tsalt-root-'));
const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);

beforeAll(() => {
  for (const folder of ['etc/systemd/system', 'usr/lib/systemd/system', 'etc/init.d', 'etc/rc3.d'])
    mkdirSync(join(root, folder), { recursive: true });
  const unit = '[Service]\nExecStart=/bin/true\n';
  const units = join(root, 'usr/lib/systemd/system');
  writeFileSync(join(units, 'tsalt.service'), `${unit}[Install]\nWantedBy=multi-user.target\n`);
  writeFileSync(join(units, 'tsalt-fixed.service'), unit);
  writeFileSync(join(root, 'etc/init.d/tsalt-old'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(root, 'etc/rc3.d/S01tsalt-old'), '');
});
afterAll(() => removeFolder(root));

test.skipIf(!which('systemctl'))(
  'units below another root are enabled and masked there',
  async () => {
    expect(await run(() => boot.enabled('tsalt', { root }))).toBe(false);
    expect(await run(() => lists.get_all({ root }))).toEqual(['tsalt', 'tsalt-fixed', 'tsalt-old']);
    expect(await run(() => lists.get_static({ root }))).toEqual(['tsalt-fixed']);
    expect(await run(() => lists.get_disabled({ root }))).toEqual(['tsalt']);
    expect(await run(() => boot.enable('tsalt', { root }))).toBe(true);
    expect(await run(() => boot.enabled('tsalt', { root }))).toBe(true);
    expect(await run(() => boot.disabled('tsalt', { root }))).toBe(false);
    expect(await run(() => lists.get_enabled({ root }))).toEqual(['tsalt', 'tsalt-old']);
    expect(await run(() => boot.disable('tsalt', { root }))).toBe(true);
    expect(await run(() => boot.enabled('tsalt', { root }))).toBe(false);
    expect(await run(() => masks.mask('tsalt', { root }))).toBe(true);
    expect(await run(() => masks.masked('tsalt', { root }))).toBe(true);
    expect(await run(() => masks.masked('tsalt', {}))).toBe(false);
    await expect(run(() => boot.enable('tsalt', { root }))).rejects.toThrow(/masked/);
    expect(await run(() => boot.enable('tsalt', { root, unmask: true }))).toBe(true);
    expect(await run(() => masks.masked('tsalt', { root }))).toBe(false);
    await expect(run(() => boot.enable('tsalt-nope', { root }))).rejects.toThrow(/tsalt-nope/);
  },
);

test.skipIf(!which('systemd-firstboot'))(
  'settings of the first boot are written below a root',
  async () => {
    const settings = { hostname: 'web7', timezone: 'UTC', machine_id: `${'0'.repeat(31)}1`, root };
    expect(await run(() => boot.firstboot(settings))).toBe(true);
    expect(readFileSync(join(root, 'etc/hostname'), 'utf8')).toBe('web7\n');
    expect(readFileSync(join(root, 'etc/machine-id'), 'utf8')).toBe(`${settings.machine_id}\n`);
    await expect(run(() => boot.firstboot({ machine_id: 'x', root }))).rejects.toThrow(
      'systemd-firstboot error',
    );
  },
);
