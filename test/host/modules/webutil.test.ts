import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as webutil from '../../../src/modules/apache/exec/htpasswd.ts';
import * as state from '../../../src/modules/apache/states/webutil.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

describe.skipIf(!which('htpasswd'))('htpasswd', { timeout: 240_000 }, () => {
  let folder: string;
  let file: string;
  const context = contextOf({ webutil });
  const text = (): string => readFileSync(file, 'utf8');
  const settles = async (work: () => Promise<StateReturn>): Promise<void> => {
    const told = await within(testing(context), work);
    expect(told).toMatchObject({ result: null });
    expect(await within(context, work)).toMatchObject({ result: true, changes: told.changes });
    const again = await within(context, work);
    expect(again).toEqual({ ...again, result: true, changes: {} });
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsalt-htpasswd-'));
    file = join(folder, 'users');
  });
  afterEach(() => removeFolder(folder));

  test('users come, get another password, and go', async () => {
    const ann = { password: 'first one', htpasswd_file: file, options: 'B' };
    await settles(() => state.user_exists('ann', ann));
    expect(text()).toMatch(/^ann:\$2y\$/);
    await settles(() => state.user_exists('bob', { ...ann, options: 's' }));
    expect(text().split('\n')[1]).toMatch(/^bob:\{SHA\}/);
    const changed = { ...ann, password: 'second', update: true };
    expect(
      await within(context, () => state.user_exists('ann', { ...changed, update: false })),
    ).toEqual({ name: 'ann', result: true, changes: {}, comment: 'User already known' });
    await settles(() => state.user_exists('ann', changed));
    expect(await within(context, () => webutil.verify(file, 'ann', 'second'))).toBe(true);
    expect(await within(context, () => webutil.verify(file, 'ann', 'first one'))).toBe(false);
    const before = text();
    const forced = { ...changed, force: true };
    expect(await within(context, () => state.user_exists('ann', forced))).toMatchObject({
      changes: { ann: true },
    });
    expect(text()).not.toBe(before);
    await settles(() => state.user_absent('ann', { htpasswd_file: file }));
    expect(text()).toMatch(/^bob:/);
  });

  test('impossible requests are reported', async () => {
    const run = (work: () => Promise<StateReturn>): Promise<StateReturn> => within(context, work);
    expect(await run(() => state.user_exists('ann', { password: 'x' }))).toMatchObject({
      result: false,
      comment: 'htpasswd_file is needed: the path of the file.',
    });
    expect((await run(() => state.user_exists('ann', { htpasswd_file: file }))).comment).toBe(
      "A password is needed for the user 'ann'.",
    );
    const none = join(folder, 'none', 'users');
    expect(
      await run(() => state.user_exists('ann', { password: 'x', htpasswd_file: none })),
    ).toMatchObject({ result: false, changes: {} });
    const two = { password: 'x\ny', htpasswd_file: file };
    expect((await run(() => state.user_exists('ann', two))).comment).toContain('one line');
    expect((await run(() => state.user_exists('a:b', { ...two, password: 'x' }))).result).toBe(
      false,
    );
    const odd = { password: 'x', htpasswd_file: file, options: 'B /etc' };
    expect((await run(() => state.user_exists('ann', odd))).comment).toContain('are letters');
    writeFileSync(file, 'bob:x\n');
    expect(await run(() => state.user_absent('ann', { htpasswd_file: file }))).toMatchObject({
      result: true,
      comment: 'User already not in file',
    });
    expect(await within(context, () => webutil.userdel(none, 'ann'))).toContain('does not exist');
  });
});
