import { writeSync } from 'node:fs';

/** Writes the whole text: a nearly full disk takes a part of it before it reports that it is full. */
export const writeAll = (file: number, text: string): void => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
};
