import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dumpJson } from '../../../src/data/formats/json-dump.ts';
import { dumpYaml } from '../../../src/data/formats/yaml-dump.ts';
import { cloneData } from '../../../src/data/values/clone.ts';
import { markOrdered } from '../../../src/data/values/ordered.ts';
import { type Data, type Dict, Float } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';

type Case = {
  readonly value: unknown;
  readonly flow: boolean | null;
  readonly sort: boolean;
  readonly yaml: string;
  readonly json: string;
  readonly indented: string;
};

/** Written by PyYAML (libyaml) and Python's json for values of our own. */
const cases = JSON.parse(
  readFileSync(new URL('../../data/dump-cases.json', import.meta.url), 'utf8'),
) as Case[];

type Marked = {
  readonly $int?: string;
  readonly $float?: string;
  readonly $map?: [unknown, unknown][];
};

const toValue = (value: unknown): Data => {
  if (Array.isArray(value)) return value.map(toValue);
  if (typeof value !== 'object' || value === null) return value as Data;
  const { $int, $float, $map } = value as Marked;
  if ($int !== undefined) return Number.isSafeInteger(Number($int)) ? Number($int) : BigInt($int);
  if ($float !== undefined) {
    const number = Number($float.replace('inf', 'Infinity'));
    return Number.isInteger(number) || !Number.isFinite(number) ? new Float(number) : number;
  }
  return new Map(($map ?? []).map(([key, item]) => [toValue(key) as string, toValue(item)]));
};

test('YAML is what PyYAML writes', () => {
  for (const { value, flow, sort, yaml } of cases)
    expect(dumpYaml(toValue(value), { defaultFlowStyle: flow, sortKeys: sort })).toBe(yaml);
});

test('JSON is what Python writes', () => {
  for (const { value, json, indented } of cases) {
    expect(dumpJson(toValue(value))).toBe(json);
    expect(dumpJson(toValue(value), { indent: 2, ascii: true })).toBe(indented);
  }
});

test('a value that occurs twice is written once and named', () => {
  const shared = [1];
  const dict: Dict = new Map<string, Data>([
    ['a', shared],
    ['b', [shared, new Map()]],
  ]);
  expect(dumpYaml(dict, { defaultFlowStyle: false })).toBe('a: &id001\n- 1\nb:\n- *id001\n- {}\n');
});

test('data that contains itself is written with an alias', () => {
  const list: Data[] = [];
  list.push([list]);
  expect(dumpYaml(list)).toBe('&id001\n- - *id001\n');
});

const scalar = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.stringMatching(/^[-+0-9.:_xobeEyesno~<=' "#,{}[\]&*!|>%@`?\n]{0,12}$/),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc
    .double({ noNaN: true })
    .map(value => (Number.isInteger(value) || !Number.isFinite(value) ? new Float(value) : value)),
);
const { data } = fc.letrec<{ data: Data }>(tie => ({
  data: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('data'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.string({ maxLength: 8 }), tie('data')), { maxLength: 4 })
      .map(pairs => new Map(pairs)),
  ),
}));

test('dumped data reads back as the same data, in every style', () => {
  fc.assert(
    fc.property(data, fc.constantFrom(true, false, null), (value, defaultFlowStyle) => {
      const text = dumpYaml(value, { defaultFlowStyle, sortKeys: false });
      expect(loadYaml(text)).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

test('data of the yaml renderer keeps its order, data of a template is sorted', () => {
  const made = new Map([
    ['b', 1],
    ['a', 2],
  ]);
  expect(dumpYaml(made)).toBe('{a: 2, b: 1}\n');
  expect(dumpYaml(markOrdered(new Map(made)))).toBe('{b: 1, a: 2}\n');
  expect(dumpYaml(cloneData(markOrdered(new Map(made))))).toBe('{b: 1, a: 2}\n');
  expect(dumpYaml(markOrdered(new Map(made)), { sortKeys: true })).toBe('{a: 2, b: 1}\n');
});
