import { writeSync } from 'node:fs';
import { bytePieces } from '../protocol/text-pieces.ts';

/** Writes the whole text: a nearly full disk takes a part of it before it reports that it is full. */
export const writeAll = (file: number, text: string): void => {
  bytePieces(text, bytes => {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  });
};
