import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CommandExecutionError, type EnsureSteps, ensure } from '../../../src/modules/api.ts';
import { createTestContext } from '../../../src/modules/testing.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-test-ensure-'));
  file = join(folder, 'setting');
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);

/** A state that writes `value` into the file. */
const written = (value: string, more: Partial<EnsureSteps<string | null>> = {}) =>
  ensure<string | null>('setting', {
    read,
    plan: old =>
      old === value
        ? `setting is already ${value}`
        : { would: 'setting would be set', done: 'setting was set', changes: { old, new: value } },
    apply: () => writeFileSync(file, value),
    ...more,
  });

const t = createTestContext();

test('ensure changes what differs, and nothing the second time', async () => {
  expect(await t.run(() => written('on'))).toEqual({
    name: 'setting',
    result: true,
    comment: 'setting was set',
    changes: { old: null, new: 'on' },
  });
  expect(read()).toBe('on');
  const again = { apply: () => expect.unreachable() };
  expect(await t.run(() => written('on', again))).toEqual({
    name: 'setting',
    result: true,
    comment: 'setting is already on',
    changes: {},
  });
});

test('ensure: test mode reports the planned change and applies nothing', async () => {
  expect(await t.with({ test: true }).run(() => written('on'))).toEqual({
    name: 'setting',
    result: null,
    comment: 'setting would be set',
    changes: { old: null, new: 'on' },
  });
  expect(read()).toBe(null);
});

test('ensure: a state that cannot be reached fails in test mode as well', async () => {
  const impossible = { plan: () => ({ impossible: 'there is no such setting' }) };
  for (const mode of [true, false])
    expect(await t.with({ test: mode }).run(() => written('on', impossible))).toEqual({
      name: 'setting',
      result: false,
      comment: 'there is no such setting',
      changes: {},
    });
});

test.each<[string, Partial<EnsureSteps<string | null>>, string]>([
  ['apply returns false', { apply: () => false }, 'setting could not be changed'],
  ['apply has no effect', { apply: () => undefined, verify: now => now === 'on' }, 'no'],
  ['apply fails', { apply: () => Promise.reject(new CommandExecutionError('disk full')) }, 'disk'],
  ['read fails', { read: () => Promise.reject(new CommandExecutionError('no disk')) }, 'no disk'],
])('ensure: %s, and the state fails without changes', async (_, steps, comment) => {
  const failed = comment === 'no' ? { failed: 'no' } : {};
  expect(await t.run(() => written('on', { ...steps, ...failed }))).toMatchObject({
    result: false,
    comment: expect.stringContaining(comment),
    changes: {},
  });
});

test('ensure: a bug of the module is not a failure of the state', async () => {
  const buggy = { apply: () => Promise.reject(new TypeError('x is undefined')) };
  await expect(t.run(() => written('on', buggy))).rejects.toThrow('x is undefined');
});

test('ensure computes the changes from both readings', async () => {
  const changes = { changes: (before: unknown, after: unknown) => ({ [`${before}`]: `${after}` }) };
  expect((await t.run(() => written('on', changes))).changes).toEqual({ null: 'on' });
});

test('ensure: the comment of a failure may depend on its reason', async () => {
  const failed = (reason?: string): string => `not set: ${reason ?? 'refused'}`;
  const full = { failed, apply: () => Promise.reject(new CommandExecutionError('disk full')) };
  expect((await t.run(() => written('on', full))).comment).toBe('not set: disk full');
  const refused = { failed, apply: () => false };
  expect((await t.run(() => written('on', refused))).comment).toBe('not set: refused');
});
