import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as pip from '../../src/modules/exec/pip.ts';
import {
  comparePython,
  parseRequirement,
  satisfies,
} from '../../src/modules/lib/python-version.ts';
import * as state from '../../src/modules/state/pip_state.ts';
import { nothing } from '../helpers/nothing.ts';
import { contextOf, testing, within } from './_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-pip-'));
const venv = join(folder, 'venv');
const hasVenv = spawnSync('python3', ['-m', 'venv', venv]).status === 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A wheel with nothing in it but its name. */
const wheel = (name: string, version: string): void => {
  const links = join(folder, 'links');
  mkdirSync(links, { recursive: true });
  const code = `
import zipfile
info = '${name}-${version}.dist-info'
with zipfile.ZipFile('${links}/${name}-${version}-py3-none-any.whl', 'w') as z:
    z.writestr(info + '/METADATA', 'Metadata-Version: 2.1\\nName: ${name}\\nVersion: ${version}\\n')
    z.writestr(info + '/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr(info + '/RECORD', '')
`;
  expect(spawnSync('python3', ['-c', code]).status).toBe(0);
};

test.skipIf(!hasVenv)(
  'packages come and go in a virtual environment',
  { timeout: 180_000 },
  async () => {
    wheel('tsalt_probe', '1.0');
    wheel('tsalt_probe', '2.0');
    const context = contextOf({ pip });
    const options = { bin_env: venv, no_index: true, find_links: join(folder, 'links') };
    const wanted = 'tsalt-probe<2';
    expect(await within(testing(context), () => state.installed(wanted, options))).toMatchObject({
      result: null,
      comment: 'Python package tsalt-probe<2 is set to be installed',
    });
    const first = await within(context, () => state.installed(wanted, options));
    expect(first).toMatchObject({
      result: true,
      comment: 'All packages were successfully installed',
    });
    expect(Object.keys(first.changes).join()).toMatch(/^tsalt[-_]probe==1\.0$/);
    expect(await within(context, () => state.installed(wanted, options))).toMatchObject({
      changes: nothing,
      result: true,
    });
    await within(context, () => state.installed('tsalt_probe>=2', options));
    expect(
      Object.values(await within(context, () => pip.list('tsalt', { bin_env: venv }))),
    ).toEqual(['2.0']);
    expect(await within(context, () => state.installed('no-such-thing', options))).toMatchObject({
      result: false,
      comment: expect.stringContaining('No matching distribution found'),
    });
    expect(
      await within(context, () => state.removed('tsalt-probe', { bin_env: venv })),
    ).toMatchObject({
      changes: { 'tsalt-probe': 'Removed' },
    });
    expect(
      await within(context, () => state.removed('tsalt-probe', { bin_env: venv })),
    ).toMatchObject({
      changes: nothing,
      comment: 'Package is not installed.',
    });
  },
);

test('an option is no requirement', async () => {
  await expect(
    within(contextOf({ pip }), () => pip.install('--index-url=http://x', {})),
  ).rejects.toThrow('Not a requirement');
});

test('versions are ordered as Python orders them', () => {
  const sorted = [
    '1.0.dev1',
    '1.0a1',
    '1.0a2',
    '1.0b1',
    '1.0rc1',
    '1.0',
    '1.0.post1',
    '1.0.1',
    '1.1',
    '1!0.1',
  ];
  expect(sorted.toReversed().sort(comparePython)).toEqual(sorted);
});

test.each([
  ['2.3', '>=2,<3', true],
  ['3.0', '>=2,<3', false],
  ['2.3.4', '~=2.3', true],
  ['3.0', '~=2.3', false],
  ['2.3.4', '==2.3.*', true],
  ['2.30', '==2.3.*', false],
])('%s satisfies %s: %s', (version, specs, expected) => {
  expect(satisfies(version, parseRequirement(`x${specs}`)?.specs ?? [])).toBe(expected);
});

test('the password of an index is no argument of pip', async () => {
  const program = join(folder, 'telling-pip');
  writeFileSync(program, '#!/bin/sh\necho "$*"; env | grep ^PIP_\n', { mode: 0o755 });
  const { stdout } = await within(contextOf({ pip }), () =>
    pip.install('flask', {
      bin_env: program,
      index_url: 'https://ci:s3cret@pypi.example.com/simple',
      extra_index_url: 'https://pypi.example.org/simple',
    }),
  );
  const [argv, ...env] = stdout.trim().split('\n');
  expect(argv).toBe('install --extra-index-url=https://pypi.example.org/simple flask');
  expect(env).toContain('PIP_INDEX_URL=https://ci:s3cret@pypi.example.com/simple');
});
