import { readFileSync } from 'node:fs';

type Package = { readonly version: string; readonly dependencies: Record<string, string> };

/** Reads this program's package.json: two folders above this source, or above `dist`. */
export const ownPackage = (): Package => {
  for (const path of ['../package.json', '../../package.json'])
    try {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      const found: unknown = JSON.parse(text);
      if (typeof found === 'object' && found !== null && 'name' in found)
        if (found.name === 'tsalt-ssh') return found as unknown as Package;
    } catch {
      // It may be in the next folder.
    }
  return { version: 'unknown', dependencies: {} };
};

/** The version of tsalt-ssh. */
export const ownVersion = (): string => ownPackage().version;
