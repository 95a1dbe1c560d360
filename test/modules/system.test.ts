import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as system from '../../src/modules/exec/system.ts';
import { which } from '../../src/modules/lib/which.ts';
import { shutdown } from '../../src/modules/state/system.ts';
import { nothing } from '../helpers/nothing.ts';
import { contextOf, testing, within } from './_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-system-'));
const path = process.env.PATH;
const context = contextOf({ system });

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
  rmSync(folder, { recursive: true, force: true });
});

test('a message is never an option of shutdown', async () => {
  const said = await within(context, () => system.reboot(2, { message: '-c' }));
  expect(said).toBe('-r|--|+2|-c|');
  expect(await within(context, () => system.poweroff())).toBe('-P|--|+1|');
});

test('what is no time is refused', async () => {
  await expect(within(context, () => system.reboot('tomorrow'))).rejects.toThrow(
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
