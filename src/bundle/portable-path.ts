import { posix, relative, sep } from 'node:path';

/** A folder of modules on this machine, with its name on every machine. */
export type ModuleFolder = { readonly path: string; readonly name: string };

/**
 * Returns a file's name as hosts see it, which does not depend on where the tree is on the control
 * node.
 */
export const portablePath = ({ path, name }: ModuleFolder, file: string): string =>
  posix.join(name, relative(path, file).replaceAll(sep, '/'));

/** Returns the reason why a module was left out, with the location in the form for hosts. */
export const reasonIn = (folder: ModuleFolder, reason: string): string =>
  reason.replace(
    / \((\/.*?)((?::\d+:\d+)?)\)$/,
    (_, file: string, at: string) => ` (${portablePath(folder, file)}${at})`,
  );

/**
 * Removes the folders of its sources from a bundle. esbuild names every CommonJS scope by the path
 * of its file, which stack traces show; the file's own name stays.
 */
export const withoutFolders = (text: string): { text: string; cuts: Cut[] } => {
  const cuts: Cut[] = [];
  const short = text.replace(
    /(\b__(?:commonJS|esm)\d*\(\{(?:async )?)(["'`])(?:\\.|(?!\2)[^\\])*\//g,
    (whole: string, head: string, quote: string, at: number) => {
      const kept = head + quote;
      cuts.push({ at: at + kept.length, length: whole.length - kept.length });
      return kept;
    },
  );
  return { text: short, cuts };
};

/** A part that was removed from a text: its offset in the original text, and its length. */
export type Cut = { readonly at: number; readonly length: number };
