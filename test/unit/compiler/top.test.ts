import { expect, test } from 'vitest';
import {
  loadTop,
  matchesAsData,
  type TopOptions,
  topMatches,
  verifyTop,
} from '../../../src/compiler/top.ts';
import { toDict, toPlainDict } from '../../../src/data/values/value.ts';
import { memoryLoader, type Texts } from '../../compiler/memory-loader.ts';

const read = async (texts: Texts, options: Partial<TopOptions> = {}) => {
  const loader = memoryLoader(texts);
  const result = await loadTop(loader, {
    stateTop: 'top.sls',
    strategy: 'merge',
    defaultTop: 'base',
    envOrder: [],
    ...options,
  });
  const subject = {
    id: 'web1',
    grains: toDict({ os: 'Debian' }),
    pillar: new Map(),
    nodegroups: {},
  };
  const matches = topMatches(result.top, subject, {
    saltenv: options.saltenv,
    envs: loader.envs(),
  });
  return { ...result, matches: toPlainDict(matchesAsData(matches)) };
};

const two: Texts = {
  base: { 'top.sls': "base: {'*': [b]}\ndev: {'*': [from_base]}" },
  dev: { 'top.sls': "dev: {'*': [from_dev]}\nbase: {'*': [extra]}" },
};

test.each([
  ['merge', { base: ['b'], dev: ['from_base'] }],
  ['same', { base: ['b'], dev: ['from_dev'] }],
  ['merge_all', { base: ['b', 'extra'], dev: ['from_base', 'from_dev'] }],
])('strategy %s', async (strategy, expected) => {
  expect((await read(two, { strategy })).matches).toEqual(expected);
});

test('a top file may include further top files by glob', async () => {
  const texts = {
    base: {
      'top.sls': "include: ['tops.*']\nbase: {'*': [a]}",
      'tops/web.sls': "base: {'web*': [web]}",
      'tops/db.sls': "base: {'db*': [db]}",
    },
  };

  expect((await read(texts)).matches).toEqual({ base: ['a', 'web'] });
});

test('an SLS of another environment and a subfilter', async () => {
  const texts = {
    base: {
      'top.sls':
        "base:\n  '*':\n    - dev: d\n    - subfilter: {'G@os:Debian': [deb], 'G@os:Arch': [arch]}\n",
    },
    dev: {},
  };

  expect((await read(texts)).matches).toEqual({ dev: ['d'], base: ['deb'] });
});

test('a top file that does not render leaves nothing, and says where', async () => {
  const { matches, problems, fatal } = await read({ base: { 'top.sls': "base:\n  '*': [a" } });

  expect(matches).toEqual({});
  expect(fatal).toBeUndefined();
  expect(problems[0]?.at?.file).toBe('top.sls');
});

test('every malformed target is reported with its line', async () => {
  const { top } = await read({ base: { 'top.sls': "base:\n  '*': a\n  'b*':\n    - ''\n" } });

  expect(verifyTop(top).map(({ message, at }) => [message, at?.line])).toEqual([
    ['Malformed topfile (state declarations not formed as a list)', 2],
    ['Environment base contains an empty sls index', 3],
  ]);
});
