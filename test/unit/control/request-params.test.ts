import { expect, test } from 'vitest';
import {
  readCall,
  readComputed,
  readDecision,
  readGet,
  readGetMany,
  readGrains,
  readList,
  readPush,
  readRender,
} from '../../../src/control/serve/request-params.ts';
import { fault } from '../../helpers/fault.ts';

const place = { path: 'salt://a', saltenv: 'base' };
const wide = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, 1]));
const template = { source: 'salt://a', saltenv: 'base', template: 'jinja', context: {}, chunk: {} };

test.each([
  [
    'file.get',
    readGet,
    [{ ...place, have: 'x', peek: true }],
    { path: {} },
    { have: null },
    { peek: 1 },
  ],
  [
    'file.getMany',
    readGetMany,
    [{ items: [['salt://a', 'base'], ['key']] }],
    { items: null },
    { items: Array.from({ length: 257 }, () => ['key']) },
    ...[[], 'key', [1], ['a', 1], ['a', 'b', 'c'], ['a'.repeat(4097)], { 0: 'a' }].map(item => ({
      items: [item],
    })),
  ],
  [
    'file.list',
    readList,
    [place, { ...place, hashes: true }],
    { saltenv: null },
    { path: 'a'.repeat(4097) },
    { hashes: 1 },
  ],
  [
    'file.render',
    readRender,
    [{ key: 'a', text: 'x', have: 'y', accumulator: { a: [1] } }],
    ...[{ key: 1 }, { text: null }, { accumulator: [] }, { have: 1 }],
  ],
  [
    'file.renderComputed',
    readComputed,
    [{ ...template, text: 'x', have: 'y' }],
    ...[
      { template: {} },
      { chunk: null },
      { context: [] },
      { context: wide },
      { text: 1 },
      { source: 1 },
    ],
  ],
  ['file.push', readPush, [{ path: [] }]],
  [
    'state.decide',
    readDecision,
    [{ tag: 'a', id: 'b', sls: null, name: 'c', comment: '', changes: {}, result: null }],
    ...[{ tag: 1 }, { sls: 1 }, { changes: [] }, { result: 'x' }, { comment: null }],
    { comment: 'x'.repeat(2_000_000) },
  ],
  ['control.grains', readGrains, [{ grains: {} }], { grains: [] }, { grains: null }],
  ['control.call', readCall, [{ fun: 'a.b', args: [], kwargs: {} }], { fun: {} }, { args: {} }],
] as const)(
  'the parameters of %s are checked before they are used',
  async (_, read, [right], ...others) => {
    expect(read(right)).toBe(right);
    for (const wrong of [
      null,
      undefined,
      1,
      'x',
      [right],
      ...others.map(other => ({ ...(right as object), ...(other as object) })),
    ])
      expect((await fault((async () => read(wrong))())).code).toBe('wire-params');
  },
);
