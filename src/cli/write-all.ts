import { writeSync } from 'node:fs';
import { bytePieces } from '../protocol/text-pieces.ts';

/** Writes the whole text. A nearly full disk accepts a part before it reports an error. */
export const writeAll = (file: number, text: string): void => {
  bytePieces(text, bytes => {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  });
};
