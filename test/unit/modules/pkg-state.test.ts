import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { LowChunk } from '../../../src/modules/api.ts';
import * as aptAvailable from '../../../src/modules/pkg/exec/aptpkg/available.ts';
import * as aptHold from '../../../src/modules/pkg/exec/aptpkg/hold.ts';
import * as aptInstall from '../../../src/modules/pkg/exec/aptpkg/install.ts';
import * as aptList from '../../../src/modules/pkg/exec/aptpkg/list.ts';
import * as aptRefresh from '../../../src/modules/pkg/exec/aptpkg/refresh.ts';
import * as aptRemove from '../../../src/modules/pkg/exec/aptpkg/remove.ts';
import * as aptSelections from '../../../src/modules/pkg/exec/aptpkg/selections.ts';
import { downloaded } from '../../../src/modules/pkg/states/pkg/downloaded.ts';
import { installed } from '../../../src/modules/pkg/states/pkg/installed.ts';
import { latest } from '../../../src/modules/pkg/states/pkg/latest.ts';
import { mod_aggregate } from '../../../src/modules/pkg/states/pkg/mod_aggregate.ts';
import { mod_init } from '../../../src/modules/pkg/states/pkg/mod_init.ts';
import {
  patch_downloaded,
  patch_installed,
} from '../../../src/modules/pkg/states/pkg/patch_installed.ts';
import { removed } from '../../../src/modules/pkg/states/pkg/removed.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const state = { mod_aggregate, mod_init, installed, latest, removed };
const pkg = {
  ...aptInstall,
  ...aptList,
  ...aptAvailable,
  ...aptRemove,
  ...aptHold,
  ...aptSelections,
  ...aptRefresh,
};

const { folder, program, log } = notedPrograms();

beforeEach(() => {
  const lines = Array.from({ length: 30 }, (_, at) => `install ok installed p${at} 1.${at} amd64`);
  writeFileSync(join(folder(), 'list'), `${lines.join('\n')}\n`);
  program('dpkg-query', `cat ${folder()}/list`);
  for (const name of ['apt-get', 'apt-cache', 'dpkg']) program(name, 'exit 0');
});

test('thirty packages that are there cost one process', async () => {
  const context = contextOf({ pkg }, { grains: { osarch: 'amd64' } });
  for (let at = 0; at < 30; at += 1)
    expect(await within(context, () => state.installed(`p${at}`))).toMatchObject({
      result: true,
      comment: 'All specified packages are already installed',
    });
  expect(log().filter(line => line.startsWith('dpkg-query'))).toHaveLength(1);
});

test('test mode starts apt for nothing', async () => {
  const context = testing(contextOf({ pkg }, { grains: { osarch: 'amd64' } }));
  await within(context, () => state.installed('new', { refresh: true }));
  await within(context, () => state.removed('p1'));
  await within(context, () => state.latest('p2', { refresh: true }));
  expect(log().filter(line => line.startsWith('apt-get'))).toEqual([]);
});

test('a package called constructor is not there', async () => {
  const context = contextOf({ pkg }, { grains: { osarch: 'amd64' } });
  const found = await within(context, () => pkg.version('constructor'));
  expect(found).toBe('');
  for (const condition of [null, '1.0'])
    expect(
      await within(context, () => state.removed('constructor', { version: condition })),
    ).toMatchObject({ result: true, comment: 'All specified packages are already absent' });
  expect(
    await within(testing(context), () => state.installed('constructor', { version: '1.0' })),
  ).toMatchObject({ result: null });
});

test('the lists are fetched once per run, before the first installation', async () => {
  const context = contextOf({ pkg }, { grains: { osarch: 'amd64' } });
  await within(context, async () => {
    await state.mod_init({ state: 'pkg', fun: 'installed' } as LowChunk);
    await state.installed('one');
    await state.installed('two');
  });
  expect(log().filter(line => line === 'apt-get -q update')).toHaveLength(1);
});

const chunk = (id: string, more: object): LowChunk => ({
  state: 'pkg',
  fun: 'installed',
  name: id,
  __id__: id,
  __sls__: 'a',
  __env__: 'base',
  order: 1,
  ...more,
});

test('aggregation gathers packages of the same function that are still to come', async () => {
  const low = chunk('lamp', { pkgs: ['php'], aggregate: true });
  const chunks = [
    low,
    chunk('memcached', {}),
    chunk('pinned', { version: '1.2' }),
    chunk('held', { hold: true }),
    chunk('files', { sources: [{ x: '/x.deb' }] }),
    chunk('gone', { fun: 'removed' }),
    chunk('elsewhere', { fromrepo: 'backports' }),
    chunk('done', {}),
  ];
  const result = await state.mod_aggregate(low, chunks, { 'pkg_|-done_|-done_|-installed': {} });
  expect(result.pkgs).toEqual(['php', 'memcached', { pinned: '1.2' }]);
  expect(chunks.map(one => one.__agg__ === true)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('the state that takes over the others keeps its own package', async () => {
  const low = chunk('first', { version: '1.0', __agg__: true });
  const result = await state.mod_aggregate(low, [low, chunk('second', {})], {});
  expect(result.pkgs).toEqual([{ first: '1.0' }, 'second']);
});

test('a package that several states want is installed once', async () => {
  const first = chunk('first', { pkgs: ['a', 'b'] });
  const others = [
    chunk('second', { pkgs: ['b', 'c'] }),
    chunk('third', { pkgs: [{ a: '1.0' }] }),
    chunk('fourth', { pkgs: [{ a: '1.0' }] }),
  ];
  expect(await state.mod_aggregate(first, [first, ...others], {})).toMatchObject({
    pkgs: ['b', 'c', { a: '1.0' }],
  });
});

test('arguments that contradict each other are reported', async () => {
  const context = contextOf({ pkg }, { grains: { osarch: 'amd64' } });
  expect(
    await within(context, () => state.installed('x', { pkgs: ['a'], sources: [{ b: '/b' }] })),
  ).toMatchObject({ result: false, comment: 'Only one of "pkgs" and "sources" is permitted.' });
  expect(await within(context, () => state.installed('x', { pkgs: [] }))).toMatchObject({
    result: true,
    comment: 'No packages to install provided',
  });
});

test('packages are downloaded once', async () => {
  const cache: { [name: string]: { [version: string]: object } } = { old: { '1.0': {} } };
  const calls: unknown[] = [];
  const downloads = contextOf({
    pkg: {
      list_downloaded: () => structuredClone(cache),
      install: (_: null, options: { pkgs: { [name: string]: string | null }[] }) => {
        calls.push(options);
        for (const one of options.pkgs)
          for (const name of Object.keys(one)) if (name !== 'nope') cache[name] = { '2.0': {} };
        return {};
      },
    },
  });
  const both = () => downloaded('x', { pkgs: ['zsh', { old: '>=2' }] });
  expect(await within(testing(downloads), both)).toEqual({
    name: 'x',
    result: null,
    changes: {},
    comment: 'The following packages would be downloaded: zsh, old',
  });
  expect(calls).toEqual([]);
  expect(await within(downloads, both)).toEqual({
    name: 'x',
    result: true,
    changes: { zsh: { old: '', new: '2.0' }, old: { old: '1.0', new: '2.0' } },
    comment: 'Packages downloaded: zsh, old',
  });
  expect(calls).toEqual([
    {
      pkgs: [{ zsh: null }, { old: '>=2' }],
      downloadonly: true,
      fromrepo: null,
      ignore_epoch: null,
    },
  ]);
  expect(await within(downloads, both)).toEqual({
    name: 'x',
    result: true,
    changes: {},
    comment: 'All specified packages (matching specified versions) are already downloaded',
  });
  expect(await within(downloads, () => downloaded('nope'))).toMatchObject({
    result: false,
    comment: 'The following packages failed to download: nope',
  });
});

test('advisories are installed, and only those that are not', async () => {
  const calls: unknown[] = [];
  const patches = contextOf({
    pkg: {
      list_patches: () => ({}),
      list_installed_patches: () => ({ 'A-1': {} }),
      install: (_: null, options: object) => {
        calls.push(options);
        return { bash: { old: '1', new: '2' } };
      },
    },
  });
  const state = () => patch_installed('x', { advisory_ids: ['A-1', 'A-2'] });
  expect(await within(testing(patches), state)).toMatchObject({
    result: null,
    comment: 'The following advisory patches would be downloaded: A-2',
  });
  expect((await within(patches, state)).changes).toEqual({ bash: { old: '1', new: '2' } });
  expect(await within(patches, () => patch_installed('A-1'))).toEqual({
    name: 'A-1',
    result: true,
    changes: {},
    comment: 'Advisory patch A-1 is already installed',
  });
  await within(patches, () => patch_downloaded('A-3'));
  expect(calls).toEqual([
    { advisory_ids: ['A-2'], downloadonly: false },
    { advisory_ids: ['A-3'], downloadonly: true },
  ]);
  expect(await within(contextOf({ pkg: {} }), () => patch_downloaded('A-3'))).toMatchObject({
    result: false,
    comment: 'The pkg.patch_downloaded state is not available on this platform',
  });
});
