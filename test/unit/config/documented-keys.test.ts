import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  composed,
  hostDefaults,
  hostOptions,
  keyFiles,
  keys,
  otherSaltOptions,
  secretOptions,
} from '../../../src/config/keys.ts';

const page = readFileSync('docs/reference/configuration.md', 'utf8');

test('the reference names every configuration key', () => {
  const names = [
    ...Object.keys(keys),
    ...Object.keys(composed),
    ...Object.keys(hostDefaults),
    ...hostOptions,
    ...otherSaltOptions,
    ...keyFiles,
    ...secretOptions,
  ];
  // In code of its own (`strict`), or as a key of an example in YAML.
  const isNamed = (name: string): boolean =>
    new RegExp(`\`${name}[\`:]|^ *${name}:`, 'm').test(page);
  expect([...new Set(names)].filter(name => !isNamed(name)).sort()).toEqual([]);
});
