import { expect, test } from 'vitest';
import { closureOf } from '../../../src/compiler/closure.ts';
import { type Dict, toDict } from '../../../src/data/values/value.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const chunk = (id: string, more: Record<string, Plain> = {}): Dict =>
  toDict({ state: 'test', fun: 'nop', name: id, __id__: id, __sls__: 'a', ...more });

const idsOf = (chunks: readonly Dict[], id: string): unknown[] =>
  closureOf(chunks, id).map(one => one.get('__id__'));

test('an ID brings what it requires by ID, name, SLS, glob or alone, in order', () => {
  const chunks = [
    chunk('lone'),
    chunk('by-name', { name: '/etc/x', state: 'file' }),
    chunk('other', { __sls__: 'b', onchanges: [{ id: 'deep' }] }),
    chunk('deep'),
    chunk('glob-1'),
    chunk('plain'),
    chunk('wrong-state', { name: '/etc/y', state: 'file' }),
    chunk('start', {
      require: [{ file: '/etc/x' }, { sls: 'b' }, { test: '/etc/y' }],
      watch: [{ test: 'glob-*' }],
      prereq: ['plain'],
      listen: [{ test: 'lone' }],
    }),
  ];
  const wanted = ['by-name', 'other', 'deep', 'glob-1', 'plain', 'start'];
  expect(idsOf(chunks, 'start')).toEqual(wanted);
});

test('a long chain and a wide fan take no time that grows with their square', () => {
  const time = (count: number): number => {
    const chunks = Array.from({ length: count }, (_, at) =>
      chunk(`s${at}`, { require: [{ sls: 'a' }, ...(at > 0 ? [{ test: `s${at - 1}` }] : [])] }),
    );
    const start = cpuTime();
    expect(closureOf(chunks, `s${count - 1}`)).toHaveLength(count);
    return cpuTime() - start;
  };
  // Ten times the states; a square would take a hundred times as long.
  expect(time(20_000) / time(2000)).toBeLessThan(50);
});
