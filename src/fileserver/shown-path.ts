import path from 'node:path';

/** How a user knows a file: relative to where they stand when it is below, else absolute. */
export const shownPath = (file: string): string => {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
};
