import { type Data, isDict } from '../data/values/value.ts';
import { loadYaml } from './load.ts';

/**
 * Parses a command-line argument as Salt does (`salt.utils.args.yamlify_arg`): as YAML, unless YAML
 * would lose a part of the text. Never throws: invalid YAML is returned as a string.
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
