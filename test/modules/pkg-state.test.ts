import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LowChunk } from '../../src/modules/api.ts';
import * as aptAvailable from '../../src/modules/exec/aptpkg/available.ts';
import * as aptHold from '../../src/modules/exec/aptpkg/hold.ts';
import * as aptInstall from '../../src/modules/exec/aptpkg/install.ts';
import * as aptList from '../../src/modules/exec/aptpkg/list.ts';
import * as aptRefresh from '../../src/modules/exec/aptpkg/refresh.ts';
import * as aptRemove from '../../src/modules/exec/aptpkg/remove.ts';
import * as aptSelections from '../../src/modules/exec/aptpkg/selections.ts';
import { installed } from '../../src/modules/state/pkg/installed.ts';
import { latest } from '../../src/modules/state/pkg/latest.ts';
import { mod_aggregate } from '../../src/modules/state/pkg/mod_aggregate.ts';
import { mod_init } from '../../src/modules/state/pkg/mod_init.ts';
import { removed } from '../../src/modules/state/pkg/removed.ts';
import { contextOf, testing, within } from './_context.ts';

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

let folder: string;
const path = process.env.PATH;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-pkg-'));
  process.env.PATH = `${folder}:${path}`;
  const lines = Array.from({ length: 30 }, (_, at) => `install ok installed p${at} 1.${at} amd64`);
  writeFileSync(join(folder, 'list'), `${lines.join('\n')}\n`);
  for (const name of ['dpkg-query', 'apt-get', 'apt-cache', 'dpkg']) {
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\necho "${name} $*" >> ${folder}/log\n[ ${name} = dpkg-query ] && cat ${folder}/list; exit 0\n`,
    );
    chmodSync(join(folder, name), 0o755);
  }
});

afterEach(() => {
  process.env.PATH = path;
});

const log = (): string[] => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');

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

test('arguments that contradict each other are told', async () => {
  const context = contextOf({ pkg }, { grains: { osarch: 'amd64' } });
  expect(
    await within(context, () => state.installed('x', { pkgs: ['a'], sources: [{ b: '/b' }] })),
  ).toMatchObject({ result: false, comment: 'Only one of "pkgs" and "sources" is permitted.' });
  expect(await within(context, () => state.installed('x', { pkgs: [] }))).toMatchObject({
    result: true,
    comment: 'No packages to install provided',
  });
});
