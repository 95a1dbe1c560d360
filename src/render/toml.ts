import { parse, TomlDate, TomlError } from 'smol-toml';
import { type Data, Float } from '../data/values/value.ts';
import { fromJs } from './js-value.ts';
import { renderError } from './render-error.ts';
import { parseBody } from './taint/parse-body.ts';
import type { Stage } from './types.ts';

/** Renders TOML 1.0; ints stay ints, floats floats, dates become strings. */
export const renderToml = (text: string, stage: Stage): Data =>
  parseBody(text, stage, body => tomlOf(body, text, stage));

const tomlOf = (body: string, text: string, { request }: Stage): Data => {
  try {
    return readToml(body);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.split('\n');
    const { line, column } = error;
    throw renderError('toml-syntax', message, { file: request.file, text, line, column });
  }
};

/** Parses TOML that is not an SLS. @throws TomlError */
export const readToml = (text: string): Data =>
  fromJs(withTypes(parse(text, { integersAsBigInt: true })));

const withTypes = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isInteger(value) ? new Float(value) : value;
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map(withTypes);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, withTypes(item)]));
};
