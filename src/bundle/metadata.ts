import { parse } from '@babel/parser';
import type { ModuleMeta } from '../protocol/meta.ts';
import { describeModule } from './describe.ts';
import { discoverBuiltins } from './discover.ts';
import { createSources } from './source.ts';
import { sourceRoot } from './source-root.ts';

/** Metadata of the built-in modules alone, without a cache: for the reference manual and its test. */
export const builtinMetadata = (root: string = sourceRoot()): ModuleMeta[] => {
  const sources = createSources(parse);
  return discoverBuiltins(root).modules.map(found => describeModule(sources, found).meta);
};
