// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as npm from '../../../src/modules/npm/exec/npm.ts';
import * as npmState from '../../../src/modules/npm/states/npm.ts';
import * as gem from '../../../src/modules/ruby/exec/gem.ts';
import { fulfillsGem } from '../../../src/modules/ruby/gem-version.ts';
import * as gemState from '../../../src/modules/ruby/states/gem.ts';
import { commandLines } from '../../helpers/command-lines.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const folders: string[] = [];
const scratch = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `tsalt-${name}-`));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

const hasNpm = spawnSync('npm', ['--version']).status === 0;

test.skipIf(!hasNpm)(
  'an npm package comes and goes in a project',
  { timeout: 240_000 },
  async () => {
    const folder = scratch('npm');
    const source = join(folder, 'source');
    const dir = join(folder, 'project');
    for (const path of [source, dir]) mkdirSync(path);
    writeFileSync(join(source, 'package.json'), '{"name":"tsalt-probe","version":"1.0.0"}');
    writeFileSync(join(dir, 'package.json'), '{"name":"project","version":"1.0.0"}');
    const context = contextOf({ npm });
    expect(await within(testing(context), () => npmState.installed(source, { dir }))).toMatchObject(
      {
        result: null,
        changes: { old: [], new: [source] },
      },
    );
    expect(await within(context, () => npmState.installed(source, { dir }))).toMatchObject({
      changes: { old: [], new: [source] },
      comment: `Package(s) '${source}' successfully installed`,
    });
    expect(await within(context, () => npm.list(null, { dir }))).toHaveProperty('tsalt-probe');
    expect(
      await within(context, () => npmState.installed('tsalt-probe@1.0.0', { dir })),
    ).toMatchObject({
      result: true,
      changes: nothing,
      comment: "Package(s) 'tsalt-probe@1.0.0' satisfied by tsalt-probe@1.0.0",
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

test.skipIf(!hasNpm)(
  'a project is bootstrapped from a registry, and the cache is cleaned',
  { timeout: 240_000 },
  async () => {
    const folder = scratch('npm');
    const dir = join(folder, 'project');
    const probe = join(folder, 'probe');
    for (const path of [dir, probe]) mkdirSync(path);
    writeFileSync(join(probe, 'package.json'), '{"name":"tsalt-probe","version":"1.0.0"}');
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json'], { cwd: probe, stdio: 'pipe' }).toString(),
    );
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      if (request.url?.endsWith('.tgz'))
        response.end(readFileSync(join(probe, String(packed.filename))));
      else {
        const dist = {
          // Not where the npm registry has it: only npm knows that this is of the package.
          tarball: `${url}/files/${packed.filename}`,
          integrity: packed.integrity,
        };
        const versions = { '1.0.0': { name: 'tsalt-probe', version: '1.0.0', dist } };
        const document = { name: 'tsalt-probe', 'dist-tags': { latest: '1.0.0' }, versions };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(document));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const before = { ...process.env };
    process.env.npm_config_registry = `http://127.0.0.1:${port}/`;
    process.env.npm_config_cache = join(folder, 'cache');
    const context = contextOf({ npm });
    const run = <T>(work: () => Promise<T>) => within(context, work);
    const boot = () => npmState.bootstrap(dir);
    try {
      const wanted = { name: 'project', dependencies: { 'tsalt-probe': '^1.0.0' } };
      writeFileSync(join(dir, 'package.json'), JSON.stringify(wanted));
      const told = await within(testing(context), boot);
      expect(told, String(told.comment)).toMatchObject({
        result: null,
        changes: { old: [], new: { added: 1 } },
      });
      expect(await run(boot)).toMatchObject({ result: true, changes: { [dir]: 'Bootstrapped' } });
      expect(await run(() => npm.list('tsalt-probe', { dir }))).toMatchObject({
        'tsalt-probe': { version: '1.0.0' },
      });
      expect(await run(boot)).toMatchObject({
        result: true,
        changes: nothing,
        comment: 'Directory is already bootstrapped',
      });
      expect(await run(() => npm.cache_path())).toBe(join(folder, 'cache'));
      expect((await run(() => npm.cache_list('tsalt-probe'))).split('\n')).toEqual([
        expect.stringMatching(/tsalt-probe-1\.0\.0\.tgz$/),
        expect.stringMatching(/\/tsalt-probe$/),
      ]);
      expect(await run(() => npm.cache_list('tsalt-none'))).toBe('');
      const clean =
        (name: string | null, force = false) =>
        () =>
          npmState.cache_cleaned(name, { force });
      expect(await within(testing(context), clean('tsalt-probe'))).toMatchObject({ result: null });
      expect(await run(clean('tsalt-probe'))).toMatchObject({
        result: true,
        changes: { 'tsalt-probe': 'Removed' },
      });
      expect(await run(clean('tsalt-probe'))).toMatchObject({ result: true, changes: nothing });
      expect(await run(() => npm.uninstall('tsalt-probe', { dir }))).toBe(true);
      expect(await run(() => npm.install('tsalt-probe', { dir }))).toMatchObject({ added: 1 });
      await expect(run(() => npm.install('tsalt-none@9', { dir }))).rejects.toThrow(
        /ETARGET|E404|No matching version/,
      );
      const env = { npm_config_registry: `http://anna:hush@127.0.0.1:${port}/` };
      const again = { dir, force_reinstall: true, env };
      expect(await run(() => npmState.installed('tsalt-probe', again))).toMatchObject({
        result: true,
      });
      expect(await run(clean(null))).toMatchObject({
        result: false,
        comment: expect.stringContaining('--force'),
      });
      expect(await run(clean(null, true))).toMatchObject({ changes: { cache: 'Removed' } });
    } finally {
      server.close();
      for (const name of ['npm_config_registry', 'npm_config_cache'] as const)
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
    }
  },
);

const hasGem = spawnSync('gem', ['--version']).status === 0;

describe.skipIf(!hasGem)('the real gem', { timeout: 240_000 }, () => {
  test('gems and their sources come and go', async () => {
    const folder = scratch('gem');
    const source = join(folder, 'source');
    mkdirSync(join(source, 'gems'), { recursive: true });
    for (const version of ['1.0', '1.10', '2.0']) {
      const text = `Gem::Specification.new { |s| s.name = 'tsalt-gem'; s.version = '${version}'
        s.summary = 'x'; s.authors = ['x']; s.files = []; s.license = 'MIT'; s.homepage = 'https://example.com' }`;
      writeFileSync(join(folder, 'a.gemspec'), text);
      const output = join(source, 'gems', `tsalt-gem-${version}.gem`);
      execFileSync('gem', ['build', 'a.gemspec', '-o', output], { cwd: folder, stdio: 'pipe' });
    }
    execFileSync('gem', ['generate_index', '-d', source], { stdio: 'pipe' });
    const before = { ...process.env };
    process.env.HOME = folder;
    process.env.GEM_HOME = join(folder, 'home');
    const context = contextOf({ gem });
    const run = <T>(work: () => Promise<T>) => within(context, work);
    const address = `file://${source}`;
    const added = () => gemState.sources_add(address);
    const taken = (name: string) => () => gemState.sources_remove(name);
    try {
      expect(await within(testing(context), added)).toMatchObject({ result: null });
      expect(await run(added)).toMatchObject({ changes: { [address]: 'Installed' } });
      expect(await run(added)).toMatchObject({
        changes: nothing,
        comment: 'Gem source is already added.',
      });
      expect(await run(taken('https://rubygems.org/'))).toMatchObject({ result: true });
      expect(await run(() => gem.sources_list())).toEqual([address]);
      const installed = (version: string | null) => () =>
        gemState.installed('tsalt-gem', { version, rdoc: false, ri: false });
      expect(await within(testing(context), installed('1.0'))).toMatchObject({ result: null });
      expect(await run(() => gem.list('tsalt'))).toEqual({});
      expect(await run(installed('1.0'))).toMatchObject({ changes: { 'tsalt-gem': 'Installed' } });
      expect(await run(installed('1.0'))).toMatchObject({ result: true, changes: nothing });
      expect(await run(installed(null))).toMatchObject({ result: true, changes: nothing });
      expect(await run(() => gem.list_upgrades())).toMatchObject({ 'tsalt-gem': '2.0' });
      expect(await run(() => gem.version())).toMatch(/^\d+\.\d+/);
      await run(() => gem.update('tsalt-gem'));
      expect(await run(() => gem.install('tsalt-gem:1.10'))).toBe(
        'Successfully installed tsalt-gem-1.10\n1 gem installed',
      );
      expect(await run(() => gem.list('tsalt'))).toEqual({ 'tsalt-gem': ['2.0', '1.10', '1.0'] });
      expect(await run(installed('~> 1.0'))).toMatchObject({ result: true, changes: nothing });
      expect(await run(installed('~> 1.11'))).toMatchObject({ result: false });
      await run(() => gem.uninstall('tsalt-gem'));
      await run(() => gem.install('tsalt-gem', { version: '1.0' }));
      await run(() => gem.update('tsalt-gem'));
      expect(await run(() => gem.list('tsalt'))).toEqual({ 'tsalt-gem': ['2.0', '1.0'] });
      expect(await run(installed('9'))).toMatchObject({ result: false, changes: nothing });
      const removed = () => gemState.removed('tsalt-gem');
      expect(await within(testing(context), removed)).toMatchObject({ result: null });
      expect(await run(removed)).toMatchObject({ changes: { 'tsalt-gem': 'Removed' } });
      expect(await run(removed)).toMatchObject({ result: true, changes: nothing });
      const file = join(source, 'gems', 'tsalt-gem-1.0.gem');
      expect(await run(() => gemState.installed(file))).toMatchObject({
        changes: { [file]: 'Installed' },
      });
      expect(await run(() => gem.list('tsalt'))).toEqual({ 'tsalt-gem': ['1.0'] });
      await run(removed);
      await run(taken(address));
      expect(await run(taken(address))).toMatchObject({ result: true, changes: nothing });
      const ruby = { ruby: 'ruby-3@web' };
      expect(await run(() => gemState.installed('tsalt-gem', ruby))).toMatchObject({
        result: false,
        comment: expect.stringContaining('gem finds ruby ruby-3@web by RVM only'),
      });
    } finally {
      for (const name of ['HOME', 'GEM_HOME'] as const)
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
    }
  });

  test('a password in the address of a source is not an argument of gem', async () => {
    const folder = scratch('gem');
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.headers.authorization}`, commandLines().join('\n'));
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const home = process.env.HOME;
    process.env.HOME = folder;
    try {
      const source = `http://anna:hush-hush@127.0.0.1:${port}/`;
      const made = await within(contextOf({ gem }), () =>
        gemState.installed('tsalt-gem', { source }),
      );
      expect(made).toMatchObject({ result: false });
      expect(JSON.stringify(made)).not.toContain('hush');
      expect(seen[0]).toBe(`Basic ${Buffer.from('anna:hush-hush').toString('base64')}`);
      expect(seen.join('')).not.toContain('hush-hush');
    } finally {
      process.env.HOME = home;
      server.close();
    }
  });
});

test.each([
  ['1.2.9', '~> 1.2.3', true],
  ['1.3', '~> 1.2.3', false],
  ['1.9', '~> 1.2', true],
  ['2.0', '~> 1', false],
  ['1.10', '>= 1.9, < 2', true],
  ['1.0', '1.0.0', true],
  ['1.0.rc1', '>= 1.0', false],
  ['1.0.rc2', '> 1.0.rc1', true],
  ['1.0.b', '1.0.a', false],
  ['1.0', '!= 1.0', false],
])('gem %s is as %s wants it: %s', (version, wanted, expected) => {
  expect(fulfillsGem([version], wanted)).toBe(expected);
});
