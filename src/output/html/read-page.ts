import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program and the style of the page. */
export type Page = { readonly script: string; readonly style: string };

/**
 * Reads the page from its sources.
 *
 * @param folder where these are; beside this file by default
 */
export const readPage = (folder = dirname(fileURLToPath(import.meta.url))): Page => {
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const built = (name: string): string => {
    const { outputFiles } = buildSync({
      entryPoints: [join(folder, 'page', name)],
      bundle: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      minify: true,
      charset: 'ascii',
    });
    return outputFiles[0]?.text.trim() ?? '';
  };
  return { script: built('main.ts'), style: built('style.css') };
};
