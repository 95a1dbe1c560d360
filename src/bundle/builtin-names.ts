import { readFileSync } from 'node:fs';
import { discoverBuiltins } from './discover.ts';

/** Returns the names by which the built-in modules of a kind are called, `__virtualname__` included. */
export const builtinNames = (root: string, kind: string): ReadonlySet<string> => {
  const found = discoverBuiltins(root).modules.filter(module => module.kind === kind);
  return new Set(found.flatMap(({ name, files }) => [name, ...files.flatMap(virtualName)]));
};

const virtualName = (file: string): string[] => {
  const [, name] = /__virtualname__\s*=\s*'([^']+)'/.exec(readFileSync(file, 'utf8')) ?? [];
  return name === undefined ? [] : [name];
};
