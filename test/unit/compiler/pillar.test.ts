import { expect, test } from 'vitest';
import { brokenPillar, compilePillar, pillarFailure } from '../../../src/compiler/pillar.ts';
import { type Dict, toDict, toPlainDict } from '../../../src/data/values/value.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { memoryLoader, type Texts } from '../../compiler/memory-loader.ts';

type Settings = {
  readonly strategy?: string;
  readonly pillarenv?: string;
  readonly includesOverride?: boolean;
  readonly extFirst?: boolean;
  readonly override?: PlainDict;
  readonly ext?: { name: string; fetch: (pillar: Dict) => Promise<Dict> }[];
};

const compileTexts = (texts: Texts, settings: Settings = {}) =>
  compilePillar({
    loader: memoryLoader(texts),
    subject: { id: 'web1', grains: toDict({ os: 'Debian' }), pillar: new Map(), nodegroups: {} },
    options: {
      stateTop: 'top.sls',
      pillarenv: settings.pillarenv,
      merge: { strategy: settings.strategy ?? 'smart', renderer: 'yaml', mergeLists: false },
      includesOverride: settings.includesOverride ?? false,
      safeRenderError: true,
      extFirst: settings.extFirst ?? false,
    },
    ext: settings.ext,
    ...(settings.override ? { override: toDict(settings.override) } : {}),
  });

const pillarOf = async (texts: Texts, settings?: Settings): Promise<PlainDict> =>
  toPlainDict((await compileTexts(texts, settings)).pillar);

test('targets with a lower `order` come first, whatever their place in the file', async () => {
  const top = "base:\n  '*':\n    - order: 2\n    - a\n  'web*':\n    - order: 1\n    - b\n";

  expect(await pillarOf({ base: { 'top.sls': top, 'a.sls': 'k: a', 'b.sls': 'k: b' } })).toEqual({
    k: 'a',
  });
});

test('a missing SLS is not an error if the top file has `ignore_missing`', async () => {
  const top = "base:\n  '*':\n    - ignore_missing: true\n    - nope\n    - a\n";

  expect(await pillarOf({ base: { 'top.sls': top, 'a.sls': 'k: a' } })).toEqual({ k: 'a' });
});

test('includes nest under their key, and win only where that is configured', async () => {
  const texts = {
    base: {
      'top.sls': "base: {'*': [a]}",
      'a.sls': 'include:\n  - b\n  - c: {key: x:y}\nk: a\n',
      'b.sls': 'k: b\n',
      'c.sls': 'z: 1\n',
    },
  };

  expect(await pillarOf(texts)).toEqual({ k: 'a', x: { y: { z: 1 } } });
  expect(await pillarOf(texts, { includesOverride: true })).toMatchObject({ k: 'b' });
});

test('external pillars merge over the files, or under them when they come first', async () => {
  const texts = { base: { 'top.sls': "base: {'*': [a]}", 'a.sls': 'd: {f: 1, k: file}' } };
  const ext = [{ name: 'x', fetch: async () => toDict({ d: { k: 'ext', e: 2 } }) }];

  expect(await pillarOf(texts, { ext })).toEqual({ d: { f: 1, k: 'ext', e: 2 } });
  expect(await pillarOf(texts, { ext, extFirst: true })).toEqual({ d: { f: 1, k: 'file', e: 2 } });
  expect(await pillarOf(texts, { ext, override: { d: { k: 'cli' } } })).toMatchObject({
    d: { k: 'cli' },
  });
});

test('an environment asked for is the only one', async () => {
  const texts = {
    base: { 'top.sls': "base: {'*': [a]}\ndev: {'*': [a]}", 'a.sls': 'k: base' },
    dev: { 'top.sls': "dev: {'*': [a]}", 'a.sls': 'k: dev' },
  };

  expect(await pillarOf(texts, { pillarenv: 'dev' })).toEqual({ k: 'dev' });
});

test('every fault is collected with its place, and the failure keeps them', async () => {
  const compiled = await compileTexts({
    base: { 'top.sls': "base: {'*': [a, b, nope]}", 'a.sls': 'x: [', 'b.sls': 'include: c\n' },
  });

  expect(compiled.problems.map(({ message, at }) => [message, at?.file])).toEqual([
    ["Rendering SLS 'a' failed. Please see master log for details.", 'a.sls'],
    ["Include Declaration in SLS 'b' is not formed as a list", 'b.sls'],
    ["Specified SLS 'nope' in environment 'base' is not available on the salt master", 'top.sls'],
  ]);
  const failure = pillarFailure(compiled.problems, compiled.pillar);
  expect(failure.kind).toBe('pillar');
  expect(brokenPillar(failure)?.problems).toBe(compiled.problems);
  expect(brokenPillar(new Error('other'))).toBeUndefined();
});
