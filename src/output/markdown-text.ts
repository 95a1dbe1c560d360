import { harmless } from './text.ts';

/** A code block whose fence is longer than any run of backticks inside. */
export const codeFence = (value: string, language = ''): string[] => {
  const text = harmless(value);
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const mark = '`'.repeat(longest + 1);
  return ['', `${mark}${language}`, text, mark];
};

/** Text within a line, with nothing that Markdown would obey. */
export const inlineMarkdown = (value: string): string =>
  harmless(value)
    .replaceAll('\n', ' ')
    .replace(/[\\`*_{}[\]<>#|]/g, character => `\\${character}`);
