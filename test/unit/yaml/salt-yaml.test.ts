import { expect, test } from 'vitest';
import { type Data, Float } from '../../../src/data/values/value.ts';
import { TsaltError } from '../../../src/protocol/error.ts';
import type { RenderRequest, Stage } from '../../../src/render/types.ts';
import { renderYaml } from '../../../src/render/yaml.ts';
import cases from '../../yaml/salt-yaml.json' with { type: 'json' };
import divergences from '../../yaml/salt-yaml-divergences.json' with { type: 'json' };

type Answer = {
  readonly value?: unknown;
  readonly error?: string;
  /** The exception of an error that Salt reports with a traceback, and its line. */
  readonly refused?: string;
  readonly line?: number;
};

/** Random texts, and what the YAML renderer of Salt 3006.9 with libyaml 0.2.5 makes of them. */
const recorded = cases as unknown as readonly (readonly [text: string, answer: Answer])[];

/**
 * The texts that js-yaml (YAML 1.2) reads otherwise than libyaml (YAML 1.1), and our answer. Most
 * are refused by both in other words. js-yaml also reads block scalars and tabs at the top level,
 * `{a:}`, and U+2028 as a letter; libyaml reads top-level text that goes on further left.
 */
const differently = new Map(divergences as unknown as readonly (readonly [string, Answer])[]);

/** As the answers are written: ordered pairs for a mapping, Python's text for a float. */
const written = (value: Data): unknown => {
  if (value instanceof Map)
    return { $map: [...value].map(([key, item]) => [written(key), written(item)]) };
  if (Array.isArray(value)) return value.map(written);
  if (value instanceof Float) return { $float: value.toString() };
  return typeof value === 'bigint' ? { $int: String(value) } : value;
};

const answerOf = (text: string): Answer => {
  const request = { file: 'a.sls', context: {} } as RenderRequest;
  try {
    return { value: written(renderYaml(text, { request } as Stage) as Data) };
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const line = error.at?.line;
    return { error: error.saltText ?? error.message, ...(line === undefined ? {} : { line }) };
  }
};

const isSame = (expected: Answer, actual: Answer): boolean => {
  if (expected.refused !== undefined)
    return (
      actual.error !== undefined && (expected.line === undefined || expected.line === actual.line)
    );
  const { line: _, ...told } = actual;
  return JSON.stringify(told) === JSON.stringify(expected);
};

test('random texts are the values, or are refused with the sentences, that Salt has, but for the listed ones', () => {
  const differing = recorded.flatMap(([text, expected]) => {
    const actual = answerOf(text);
    return isSame(expected, actual) ? [] : [[text, actual] as const];
  });
  const unlisted = differing.filter(([text, actual]) => {
    const listed = differently.get(text);
    return !listed || !isSame(listed, actual);
  });
  expect(unlisted).toEqual([]);
  expect(differing.length).toBe(differently.size);
  expect(recorded.length).toBeGreaterThan(900);
});

test('few of the random texts are values on one side and refused on the other', () => {
  const answers = new Map(recorded);
  const opposite = [...differently].filter(
    ([text, ours]) => (ours.value === undefined) !== (answers.get(text)?.value === undefined),
  );
  expect(opposite.length).toBeLessThan(60);
});
