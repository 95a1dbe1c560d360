import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as gem from '../../src/modules/exec/gem.ts';
import * as npm from '../../src/modules/exec/npm.ts';
import * as npmState from '../../src/modules/state/npm.ts';
import { nothing } from '../helpers/nothing.ts';
import { contextOf, testing, within } from './_context.ts';

const hasNpm = spawnSync('npm', ['--version']).status === 0;

test.skipIf(!hasNpm)(
  'an npm package comes and goes in a project',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-npm-'));
    const source = join(folder, 'source');
    const dir = join(folder, 'project');
    for (const path of [source, dir]) mkdirSync(path);
    writeFileSync(join(source, 'package.json'), '{"name":"tsalt-probe","version":"1.0.0"}');
    writeFileSync(join(dir, 'package.json'), '{"name":"project","version":"1.0.0"}');
    const context = contextOf({ npm });
    expect(await within(testing(context), () => npmState.installed(source, { dir }))).toMatchObject(
      {
        result: null,
      },
    );
    await within(context, () => npmState.installed(source, { dir }));
    expect(await within(context, () => npm.list({ dir }))).toHaveProperty('tsalt-probe');
    expect(
      await within(context, () => npmState.installed('tsalt-probe@1.0.0', { dir })),
    ).toMatchObject({
      result: true,
      changes: nothing,
    });
    expect(await within(context, () => npmState.removed('tsalt-probe', { dir }))).toMatchObject({
      changes: { 'tsalt-probe': 'Removed' },
    });
    expect(await within(context, () => npmState.removed('tsalt-probe', { dir }))).toMatchObject({
      changes: nothing,
      comment: "Package 'tsalt-probe' is not installed",
    });
  },
);

test('gem lists versions by name', async () => {
  expect(
    gem._parseGems(
      'bigdecimal (default: 3.1.3)\nrake (13.0.6, 12.3.3)\nnokogiri (1.13.10 x86_64-linux)\n',
    ),
  ).toEqual({
    bigdecimal: ['3.1.3'],
    rake: ['13.0.6', '12.3.3'],
    nokogiri: ['1.13.10'],
  });
  await expect(within(contextOf({}), () => gem.install('--bad'))).rejects.toThrow(
    'Not the name of a gem',
  );
});
