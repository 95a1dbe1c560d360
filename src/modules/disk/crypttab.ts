import { isFile } from '../_shared/files/file-paths.ts';
import { readFileSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';

/** A line of crypttab(5). */
export type CrypttabEntry = { name: string; device: string; password: string; options: string };

export const crypttabKeys = ['name', 'device', 'password', 'options'] as const;

/** A line with its line end, and the entry it holds; undefined for comments and invalid lines. */
type Line = { readonly text: string; readonly entry: CrypttabEntry | undefined };

export const readCrypttab = (config: string): Line[] => {
  if (!isFile(config)) return [];
  try {
    return (readFileSync(config, 'utf8').match(/[^\n]*\n|[^\n]+$/g) ?? []).map(text => ({
      text,
      entry: entryOf(text),
    }));
  } catch (error) {
    throw new CommandExecutionError(`Could not read from ${config}: ${(error as Error).message}`);
  }
};

const entryOf = (line: string): CrypttabEntry | undefined => {
  if (line.startsWith('#')) return undefined;
  const words = line.split(/\s+/).filter(word => word !== '');
  const [name, device, password, options = ''] = words;
  return name === undefined || device === undefined || password === undefined || words.length > 4
    ? undefined
    : { name, device, password, options };
};

/** Formats an entry as a line, with Salt's columns. */
export const crypttabLine = ({ name, device, password, options }: CrypttabEntry): string =>
  `${name.padEnd(12)} ${device.padEnd(44)} ${password.padEnd(22)} ${options}\n`;

/** Whether an entry has what another one says under these keys. */
export const isLike = (
  entry: CrypttabEntry,
  wanted: CrypttabEntry,
  keys: readonly (keyof CrypttabEntry)[] = crypttabKeys,
): boolean => keys.every(key => entry[key] === wanted[key]);
