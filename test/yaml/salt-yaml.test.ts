import { expect, test } from 'vitest';
import { type Data, Float } from '../../src/data/values/value.ts';
import { TsaltError } from '../../src/protocol/error.ts';
import type { RenderRequest, Stage } from '../../src/render/types.ts';
import { renderYaml } from '../../src/render/yaml.ts';
import cases from './salt-yaml.json' with { type: 'json' };

type Answer = {
  readonly value?: unknown;
  readonly error?: string;
  /** The exception of a fault that Salt tells with a traceback, and its line. */
  readonly refused?: string;
  readonly line?: number;
};

/** Random texts, and what the YAML renderer of Salt 3006.9 with libyaml 0.2.5 makes of them. */
const recorded = cases as unknown as readonly (readonly [text: string, answer: Answer])[];

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
    return { value: written(renderYaml(text, { request } as Stage)) };
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const line = error.at?.line;
    return { error: error.saltText ?? error.message, ...(line === undefined ? {} : { line }) };
  }
};

test('random texts are the values, or are refused with the sentences, that Salt has', () => {
  const differing = recorded.flatMap(([text, expected]) => {
    const actual = answerOf(text);
    const { refused, line } = expected;
    if (refused !== undefined)
      return actual.error !== undefined && (line === undefined || line === actual.line)
        ? []
        : [{ text, expected, actual }];
    const { line: _, ...told } = actual;
    return JSON.stringify(told) === JSON.stringify(expected) ? [] : [{ text, expected, actual }];
  });
  expect(differing).toEqual([]);
  expect(recorded.length).toBeGreaterThan(900);
});
