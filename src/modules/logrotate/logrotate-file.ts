import { join } from 'node:path';
import { readdirSync, readFileSync, statSync } from '../_shared/safe-fs/fs.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';

export type Setting = string | number | boolean;

/** A line of a configuration: its position, key and value. */
type Line = { readonly at: number; readonly key: string; readonly value: Setting };

/** A block, `/var/log/a /var/log/b { … }`. */
export type LogrotateBlock = {
  readonly names: readonly string[];
  /** The lines of the opening and the closing brace. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly Line[];
};

/** One file of logrotate. */
export type LogrotateFile = {
  readonly path: string;
  readonly text: readonly string[];
  readonly lines: readonly Line[];
  readonly blocks: readonly LogrotateBlock[];
};

const scripts = /^(?:prerotate|postrotate|firstaction|lastaction|preremove)$/;

const settingOf = (words: readonly string[]): Setting => {
  const text = words.join(' ');
  if (text === '') return true;
  return /^-?\d+$/.test(text) ? Number(text) : text;
};

/** Reads one file, and what stands where in it. */
export const readLogrotate = (path: string): LogrotateFile => {
  const text = readFileSync(path, 'utf8').split('\n');
  const lines: Line[] = [];
  const blocks: LogrotateBlock[] = [];
  let open: { names: string[]; from: number; lines: Line[] } | undefined;
  let names: string[] = [];
  let inScript = false;
  for (const [at, raw] of text.entries()) {
    const line = raw.trim();
    if (inScript) {
      inScript = line !== 'endscript';
      continue;
    }
    if (line === '' || line.startsWith('#')) continue;
    if (scripts.test(line)) inScript = true;
    else if (open && line === '}') {
      blocks.push({ ...open, to: at });
      open = undefined;
    } else if (open) {
      const [key = '', ...rest] = line.split(/\s+/);
      open.lines.push({ at, key, value: settingOf(rest) });
    } else if (line.endsWith('{')) {
      const own = wordsOf(line.slice(0, -1));
      open = { names: [...names, ...own], from: at, lines: [] };
      names = [];
    } else if (/^["'/~*]/.test(line)) names.push(...wordsOf(line));
    else {
      const [key = '', ...rest] = line.split(/\s+/);
      lines.push({ at, key, value: settingOf(rest) });
    }
  }
  return { path, text, lines, blocks };
};

const wordsOf = (line: string): string[] => {
  try {
    return splitCommandArgs(line);
  } catch {
    return line.split(/\s+/);
  }
};

/** Reads a configuration with all files that it includes, in logrotate's order. */
export const readAll = (path: string): LogrotateFile[] => {
  const main = readLogrotate(path);
  const included = main.lines
    .filter(({ key, value }) => key === 'include' && typeof value === 'string')
    .flatMap(({ value }) => filesOf(String(value)));
  return [main, ...included.map(readLogrotate)];
};

const filesOf = (path: string): string[] => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return [path];
  if (!stat?.isDirectory()) return [];
  return readdirSync(path)
    .filter(name => !/^\.|~$|\.(?:bak|dpkg-\w+|rpm\w+|swp)$/.test(name))
    .map(name => join(path, name))
    .filter(file => statSync(file).isFile())
    .sort();
};
