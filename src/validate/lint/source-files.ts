import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The lines of files with findings, read once. */
export class SourceFiles {
  readonly #files = new Map<string, string[] | undefined>();
  readonly #unsaved: ReadonlyMap<string, string>;

  /** @param unsaved texts of an editor that are read instead of files, by absolute path */
  constructor(unsaved: ReadonlyMap<string, string> = new Map()) {
    this.#unsaved = unsaved;
  }

  /** The lines of a file, as findings name it; undefined where it cannot be read. */
  lines(file: string): readonly string[] | undefined {
    return this.#lines(file);
  }

  #lines(file: string): string[] | undefined {
    if (!this.#files.has(file)) {
      const unsaved = this.#unsaved.get(resolve(file));
      this.#files.set(file, unsaved === undefined ? read(file) : unsaved.split('\n'));
    }
    return this.#files.get(file);
  }

  /** Replaces a line of a file. */
  replace(file: string, line: number, text: string): void {
    const lines = this.#lines(file);
    if (lines === undefined || lines[line - 1] === undefined) return;
    lines[line - 1] = text;
    writeFileSync(file, lines.join('\n'));
  }

  /**
   * Whether a comment switches a rule off: `# tsalt-lint: disable=ID` on the line or on the one above
   * it, or `# tsalt-lint: disable-file=ID` anywhere in the file.
   */
  isDisabled(rule: string, file: string, line: number | undefined): boolean {
    const lines = this.lines(file);
    if (lines === undefined) return false;
    if (lines.some(text => names(text, 'disable-file').has(rule))) return true;
    if (line === undefined) return false;
    const near = [lines[line - 1] ?? '', commentAbove(lines, line)];
    return near.some(text => names(text, 'disable').has(rule));
  }
}

const read = (file: string): string[] | undefined => {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return undefined;
  }
};

/** The line above, if it has nothing but a comment. */
const commentAbove = (lines: readonly string[], line: number): string => {
  const above = lines[line - 2] ?? '';
  return /^\s*(#|\{#)/.test(above) ? above : '';
};

const names = (text: string, word: string): ReadonlySet<string> => {
  const found = /#\s*tsalt-lint:\s*(disable(?:-file)?)=([\w,\s-]+)/.exec(text);
  return new Set(found?.[1] === word ? found[2]?.split(',').map(name => name.trim()) : []);
};
