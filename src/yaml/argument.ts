import { type Data, isDict } from '../data/values/value.ts';
import { loadYaml } from './load.ts';

/**
 * A command-line argument as Salt types it (`salt.utils.args.yamlify_arg`): YAML, but text
 * stays text where YAML would lose some of it. Never throws: what is no YAML is text.
 */
export const loadYamlArgument = (text: string): Data => {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === '---' || trimmed === '...') return text;
  if (text.includes('_') && /^[0-9_]*$/.test(trimmed)) return text;
  if (/[\t\r\n]/.test(text)) return text;
  if (text === 'None') return null;
  let value: Data;
  try {
    value = loadYaml(text);
  } catch {
    return text;
  }
  if (text.includes('#')) return typeof value === 'string' || value === null ? text : value;
  if (isDict(value)) return text.startsWith('{') ? value : text;
  if (Array.isArray(value)) return text.startsWith('[') ? value : text;
  if (value === '' && (text === '|' || text === '!')) return text;
  return value === null && text === '!' ? text : value;
};
