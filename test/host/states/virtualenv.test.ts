import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const usable = spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0;
const missing = usable ? '' : ' (needs python3-venv)';

/** A wheel with one empty module: pip needs no network for it. */
const wheel = (version: string): Uint8Array =>
  zipSync({
    'tsalt_tiny.py': strToU8(''),
    [`tsalt_tiny-${version}.dist-info/METADATA`]: strToU8(
      `Metadata-Version: 2.1\nName: tsalt-tiny\nVersion: ${version}\n`,
    ),
    [`tsalt_tiny-${version}.dist-info/WHEEL`]: strToU8(
      'Wheel-Version: 1.0\nGenerator: tsalt\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ),
    [`tsalt_tiny-${version}.dist-info/RECORD`]: strToU8(''),
  });

describe.skipIf(missing)(`virtualenv.managed, by Python's own venv${missing}`, () => {
  let host: TestHost;
  beforeEach(() => {
    host = makeHost({ salt: { 'config.option': async () => null } });
  });
  afterEach(() => host.remove());

  test('is made once, filled from requirements, and cleared when asked', {
    tags: 'slow',
    timeout: 180_000,
  }, async () => {
    const venv = join(host.root, 'venv');
    const wheels = ['1.0', '2.0'].map(version => {
      const path = join(host.root, `tsalt_tiny-${version}-py3-none-any.whl`);
      writeFileSync(path, wheel(version));
      return path;
    });
    host.control.set('requirements.txt', `${wheels[0]}\n`);
    const args = { venv_bin: 'venv', requirements: 'salt://requirements.txt' };
    const run = (more = {}) => host.state('virtualenv_mod.managed', venv, { ...args, ...more });

    expect(await host.test('virtualenv_mod.managed', venv, args)).toMatchObject({
      result: null,
      comment: `Virtualenv ${venv} is set to be created`,
    });
    const made = await run();
    expect(made, String(made.comment)).toMatchObject({
      result: true,
      comment: 'Created new virtualenv',
      changes: { new: expect.stringMatching(/^Python 3/), packages: { old: '' } },
    });
    expect(readFileSync(join(venv, 'pyvenv.cfg'), 'utf8')).toContain('home = ');
    const version = (): string =>
      spawnSync(join(venv, 'bin/pip'), ['show', 'tsalt-tiny'], { encoding: 'utf8' }).stdout;
    expect(version()).toContain('Version: 1.0');
    // Any program that prints a version will do: virtualenv itself need not be installed.
    const [pip] = /\d[\d.]*/.exec(
      spawnSync(join(venv, 'bin/pip'), ['--version'], { encoding: 'utf8' }).stdout,
    ) ?? [''];
    expect(await host.call('virtualenv.virtualenv_ver', join(venv, 'bin/pip'))).toEqual(
      pip.split('.').map(Number),
    );
    await expect(host.call('virtualenv.virtualenv_ver', '/usr/bin/test')).rejects.toThrow(
      '/usr/bin/test --version tells no version',
    );
    const place = String(await host.call('virtualenv.get_distribution_path', venv, 'tsalt-tiny'));
    expect(place).toBe(await host.call('virtualenv.get_site_packages', venv));
    const typed = { package: 'pip', resource: 'py.typed' };
    expect(await host.call('virtualenv.get_resource_path', venv, typed)).toBe(
      join(place, 'pip/py.typed'),
    );
    expect(await host.call('virtualenv.get_resource_content', venv, typed)).toBe(
      readFileSync(join(place, 'pip/py.typed'), 'utf8'),
    );
    await expect(
      host.call('virtualenv.get_resource_path', venv, { package: 'no"such', resource: 'x' }),
    ).rejects.toThrow('There is no package no"such');
    await expect(host.call('virtualenv.get_distribution_path', venv, 'none')).rejects.toThrow(
      /^There is no distribution none$/,
    );
    await expect(host.call('virtualenv.get_site_packages', host.root)).rejects.toThrow(
      `Path '${host.root}' does not appear to be a virtualenv`,
    );
    expect(await run()).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'virtualenv exists',
    });

    host.control.set('requirements.txt', `${wheels[1]}\n`);
    expect((await run()).changes).toMatchObject({ packages: { new: [expect.any(String)] } });
    expect(version()).toContain('Version: 2.0');

    expect(await host.test('virtualenv_mod.managed', venv, { ...args, clear: true })).toMatchObject(
      {
        result: null,
        changes: {
          old: expect.stringMatching(/^Python 3/),
          cleared_packages: expect.arrayContaining([expect.stringContaining('tsalt-tiny')]),
        },
      },
    );
    expect(version()).toContain('Version: 2.0');
    expect(await run({ clear: true, requirements: null })).toMatchObject({
      result: true,
      comment: 'Cleared existing virtualenv',
      changes: {
        cleared_packages: expect.arrayContaining([expect.stringContaining('tsalt-tiny')]),
      },
    });
    expect(version()).toBe('');
  });

  test('the arguments for pip and the program are passed to them', {
    tags: 'slow',
    timeout: 180_000,
  }, async () => {
    const venv = join(host.root, 'venv');
    const links = join(host.root, 'links');
    mkdirSync(links);
    writeFileSync(join(links, 'tsalt_tiny-1.0-py3-none-any.whl'), wheel('1.0'));
    const cwd = join(host.root, 'work');
    mkdirSync(cwd);
    writeFileSync(join(host.root, 'all.txt'), 'tsalt-tiny\n');
    const teller = join(host.root, 'telling-venv');
    writeFileSync(
      teller,
      '#!/bin/sh\necho "$STYLE" > "${0%/*}/style"; exec python3 -m venv "$1"\n',
      {
        mode: 0o755,
      },
    );
    const args = {
      venv_bin: teller,
      env: [{ STYLE: 'plain' }],
      requirements: join(host.root, 'all.txt'),
      no_index: true,
      find_links: '../links',
      cwd,
      pip: false,
    };
    const run = (more = {}) => host.state('virtualenv_mod.managed', venv, { ...args, ...more });
    // find_links is looked for from here, not from the folder that pip runs in.
    expect(await run()).toMatchObject({
      result: false,
      comment: "'../links' is not a valid URL or path",
    });
    expect(host.file('style')).toBe('plain\n');
    const log = join(host.root, 'pip.log');
    const made = await run({ find_links: links, log });
    expect(made, String(made.comment)).toMatchObject({
      result: true,
      changes: { packages: { new: [expect.stringMatching(/^tsalt[-_]tiny==1\.0$/)] } },
    });
    expect(host.file('pip.log')).toContain('tsalt-tiny');
    expect(await run({ find_links: links, process_dependency_links: true })).toMatchObject({
      result: false,
      comment: expect.stringContaining('pip has no option for process_dependency_links any more'),
    });
    expect(await run({ clear: true, distribute: true })).toMatchObject({
      result: false,
      comment: expect.stringContaining('virtualenv has no option for distribute any more'),
    });
  });

  test('impossible requests are reported', async () => {
    const venv = join(host.root, 'venv');
    const run = (args: object) => host.state('virtualenv_mod.managed', venv, args);
    expect(await run({ requirements: 'salt://nowhere' })).toMatchObject({
      result: false,
      comment: "pip requirements file 'salt://nowhere' not found",
    });
    expect(await run({ venv_bin: 'venv', never_download: true })).toMatchObject({
      result: false,
      comment: "'never_download' is only for virtualenv",
    });
    expect(await run({ venv_bin: '/bin/true', python: '/nowhere/python' })).toMatchObject({
      result: false,
      comment: 'Cannot find requested python (/nowhere/python).',
    });
  });
});
