import type { ListedFile } from './job.ts';

/** Request `file.list` with hashes: its content is one line of JSON for each piece of the folder. */
export async function* packPieces(
  pieces: AsyncIterable<readonly ListedFile[]>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(`${JSON.stringify(piece)}\n`);
}

const lineEnd = 10;

/** Returns a sink for that content. @param take is called with each piece, when it has arrived */
export const unpackPieces = (
  take: (piece: readonly ListedFile[]) => void,
): ((bytes: Uint8Array) => void) => {
  let parts: Uint8Array[] = [];
  return bytes => {
    let from = 0;
    for (let end = bytes.indexOf(lineEnd); end >= 0; end = bytes.indexOf(lineEnd, from)) {
      parts.push(bytes.subarray(from, end));
      take(JSON.parse(Buffer.concat(parts).toString('utf8')));
      [parts, from] = [[], end + 1];
    }
    // The wire reuses its memory.
    if (from < bytes.length) parts.push(Uint8Array.from(bytes.subarray(from)));
  };
};
