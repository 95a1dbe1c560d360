import { pythonRegex } from '../_shared/text/python-regex.ts';
import { CommandExecutionError } from '../api.ts';

export type BlockOptions = {
  readonly markerStart: string;
  readonly markerEnd: string;
  readonly content: string;
  readonly append?: boolean;
  readonly prepend?: boolean;
  readonly appendNewline?: boolean | null;
  readonly insertBefore?: string | null;
  readonly insertAfter?: string | null;
};

/**
 * Returns the lines of a file, which include their line ends, with the block between the markers
 * replaced.
 */
export const replaceBlock = (lines: readonly string[], options: BlockOptions): string[] => {
  const { markerStart, markerEnd } = options;
  const lineEnd = lines[0]?.endsWith('\r\n') ? '\r\n' : '\n';
  const result: (string | readonly string[])[] = [];
  let inBlock = false;
  let found = false;
  for (const line of lines) {
    if (line.includes(markerStart)) {
      inBlock = true;
      result.push(line);
    } else if (!inBlock) result.push(line);
    else if (line.includes(markerEnd)) {
      inBlock = false;
      found = true;
      result.push(body(options, lineEnd, line.slice(line.indexOf(markerEnd))));
    }
  }
  if (inBlock)
    throw new CommandExecutionError(
      'Unterminated marked block. End of file reached before marker_end.',
    );
  return found ? result.flat() : addBlock(lines, options, lineEnd);
};

const body = (
  { content, appendNewline, markerEnd }: BlockOptions,
  lineEnd: string,
  endLine = markerEnd,
): string[] => {
  const end = endLine.replace(/[\r\n]+$/, '') + lineEnd;
  const lines = content.split(/\r?\n/);
  const closes = appendNewline ?? !content.endsWith('\n');
  const last = lines.pop() ?? '';
  const inner = lines.map(line => line + lineEnd);
  return closes ? [...inner, last + lineEnd, end] : [...inner, last + end];
};

const addBlock = (lines: readonly string[], options: BlockOptions, lineEnd: string): string[] => {
  const { append, prepend, insertBefore, insertAfter, markerStart } = options;
  const block = [markerStart + lineEnd, ...body(options, lineEnd)];
  if (prepend) return [...block, ...lines];
  if (append) {
    const last = lines.at(-1);
    const closed =
      last === undefined || last.endsWith(lineEnd) ? lines : lines.with(-1, last + lineEnd);
    return [...closed, ...block];
  }
  const pattern = insertBefore || insertAfter;
  const regex = pattern ? pythonRegex(pattern) : undefined;
  const at = regex ? lines.findIndex(line => regex.test(line)) : -1;
  if (at < 0)
    throw new CommandExecutionError('Cannot edit marked block. Markers were not found in file.');
  const place = insertBefore ? at : at + 1;
  return [...lines.slice(0, place), ...block, ...lines.slice(place)];
};
