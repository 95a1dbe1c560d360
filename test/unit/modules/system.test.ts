import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as clock from '../../../src/modules/system/exec/system/clock.ts';
import * as names from '../../../src/modules/system/exec/system/names.ts';
import * as power from '../../../src/modules/system/exec/system/power.ts';
import { shutdown } from '../../../src/modules/system/states/system.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-system-'));
const path = process.env.PATH;
const context = contextOf({ system: { ...clock, ...names, ...power } });

beforeAll(() => {
  const program = join(folder, 'shutdown');
  writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$@"\n');
  chmodSync(program, 0o755);
  process.env.PATH = `${folder}:${path}`;
  // The real one would take this machine down: without the stand-in no test may run.
  if (which('shutdown') !== program) throw new Error('shutdown would be the real one');
});

afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

test('a message is never an option of shutdown', async () => {
  const said = await within(context, () => power.reboot(2, { message: '-c' }));
  expect(said).toBe('-r|--|+2|-c|');
  expect(await within(context, () => power.poweroff())).toBe('-P|--|+1|');
});

test('an invalid time is refused', async () => {
  await expect(within(context, () => power.reboot('tomorrow'))).rejects.toThrow(
    'Not a time for shutdown: tomorrow',
  );
});

test('a power-off is scheduled, a prediction schedules none', async () => {
  const state = () => shutdown('retired', { timeout: 90, in_seconds: true, message: 'bye' });
  expect(await within(testing(context), state)).toMatchObject({ result: null, changes: nothing });
  expect(await within(context, state)).toMatchObject({
    result: true,
    changes: { new: 'A shutdown has been scheduled' },
  });
});

test('the clock is returned here and elsewhere', async () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 0, 5, 9), toFake: ['Date'] });
  try {
    expect(await within(context, () => clock.get_system_time('+0000'))).toBe('12:05:09 AM');
    expect(await within(context, () => clock.get_system_time('-1100'))).toBe('01:05:09 PM');
    expect(await within(context, () => clock.get_system_date('-0500'))).toBe('Fri 11/20/2026');
    expect(await within(context, () => clock.get_system_date_time('+0530'))).toBe(
      '2026-11-21 05:35:09',
    );
    await expect(within(context, () => clock.get_system_time('5'))).rejects.toThrow('UTC offset');
  } finally {
    vi.useRealTimers();
  }
});

test('the clock is set by date, what is left out stays', async () => {
  const told = join(folder, 'told');
  for (const [name, script] of [
    ['date', `printf '%s ' "$@" > '${told}'`],
    ['hwclock', 'exit 1'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
    if (which(name) !== join(folder, name)) throw new Error(`${name} would be the real one`);
  }
  const set = async (work: () => Promise<boolean>): Promise<string> => {
    expect(await within(context, work)).toBe(true);
    return readFileSync(told, 'utf8').trim();
  };
  const whole = { years: 2026, months: 5, days: 2, hours: 11, minutes: 30, seconds: 0 };
  expect(await set(() => clock.set_system_date_time(whole))).toBe('050211302026.00');
  expect(await set(() => clock.set_system_date_time({ ...whole, utc_offset: '-0500' }))).toBe(
    '-u 050216302026.00',
  );
  expect(await set(() => clock.set_system_time('11:20 PM'))).toMatch(/^\d{4}2320\d{4}\.00$/);
  expect(await set(() => clock.set_system_date('03-28-13'))).toMatch(/^0328\d{4}2013\.\d\d$/);
  expect(await within(context, () => clock.set_system_time('quarter past'))).toBe(false);
  await expect(within(context, () => clock.set_system_date('28 March'))).rejects.toThrow(
    'Invalid date format',
  );
  await expect(
    within(context, () => clock.set_system_date_time({ ...whole, months: 2, days: 30 })),
  ).rejects.toThrow('There is no 2026-02-30');
});

test('a runlevel is one of init(8)', async () => {
  await expect(within(context, () => power.init('3; reboot'))).rejects.toThrow('Not a runlevel');
});
