import path from 'node:path';

/**
 * Returns a file's path for messages: relative if it is below the working folder, otherwise
 * absolute.
 */
export const shownPath = (file: string): string => {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
};
