import { readdirSync, readFileSync } from '../safe-fs/fs.ts';

/** A small text file's content, or undefined when it cannot be read. For /proc, /sys and /etc. */
export const readOr = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** The names in a folder, sorted; none when it cannot be read. */
export const readNames = (folder: string): string[] => {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
};

/** `KEY=value` lines with shell quotes, as in os-release(5). */
export const parseAssignments = (text: string): Map<string, string> => {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*?)\s*$/.exec(line);
    if (!match) continue;
    const [, key = '', raw = ''] = match;
    const quote = raw[0];
    const value =
      (quote === '"' || quote === "'") && raw.length > 1 && raw.endsWith(quote)
        ? raw.slice(1, -1)
        : raw;
    values.set(key, quote === "'" ? value : value.replace(/\\(["$`\\])/g, '$1'));
  }
  return values;
};
