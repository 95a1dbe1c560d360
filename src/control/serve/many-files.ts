import type { FileRoots } from '../../fileserver/file-roots.ts';
import { readSmall } from '../../fileserver/read-small.ts';
import type { ControlMethods } from '../../protocol/job.ts';
import {
  largestOfMany,
  lengthBytes,
  type NamedFile,
  packLength,
} from '../../protocol/many-files.ts';
import { type Handler, WithContent } from '../../protocol/peer.ts';
import { Turns } from '../../protocol/turns.ts';
import type { FileRefs } from './file-refs.ts';
import { readGetMany } from './request-params.ts';

/** Milliseconds after which other hosts are answered, and what is read so far is sent. */
const turnLength = 20;
const pieceSize = 64 * 1024;

/** The parts of the handlers of `file.get` and `file.render`, which check what the host may have. */
type SingleFiles = {
  readonly roots: FileRoots;
  readonly refs: FileRefs;
  /** Throws for a path that the job does not name. */
  readonly allowed: (path: string, saltenv: string) => void;
  readonly renderNamed: (params: ControlMethods['file.render']) => Promise<unknown>;
};

/**
 * Makes the handler for `file.getMany`. Items are read one after the other and only while the host
 * reads them: a host that asks for many has only a piece of them in memory here.
 */
export const manyFiles =
  (files: SingleFiles): Handler =>
  (said: unknown) =>
    new WithContent(null, packed(readGetMany(said).items, files));

/** The memory of a request that has ended, for the next one. */
let spare: Buffer | undefined;

/** Each piece is valid until the next one is requested. */
async function* packed(
  items: readonly NamedFile[],
  files: SingleFiles,
): AsyncGenerator<Uint8Array> {
  const turns = new Turns(turnLength);
  const memory = spare ?? Buffer.allocUnsafeSlow(pieceSize + lengthBytes + largestOfMany + 1);
  spare = undefined;
  let size = 0;
  try {
    for (const [name, saltenv] of items) {
      const at = size + lengthBytes;
      const count =
        saltenv === undefined
          ? await renderInto(memory, at, name, files)
          : readInto(memory, at, name, saltenv, files);
      size = packLength(memory, size, count);
      if (size < pieceSize && !turns.areOver) continue;
      yield memory.subarray(0, size);
      size = 0;
      await turns.pause();
    }
    if (size > 0) yield memory.subarray(0, size);
  } finally {
    spare = memory;
  }
}

/** Returns the number of an item's bytes, or undefined: its own request reports what is wrong. */
const readInto = (
  into: Buffer,
  at: number,
  name: string,
  saltenv: string,
  { roots, refs, allowed }: SingleFiles,
): number | undefined => {
  try {
    allowed(name, saltenv);
    const found = roots.find(name, saltenv);
    if (!found || found.size > largestOfMany) return undefined;
    refs.follow(name, saltenv, () => roots.read(name, saltenv));
    return readSmall(found.path, found.size, into, at);
  } catch {
    return undefined;
  }
};

const renderInto = async (
  into: Buffer,
  at: number,
  key: string,
  { renderNamed }: SingleFiles,
): Promise<number | undefined> => {
  const answer = await renderNamed({ key, ahead: true }).catch(() => undefined);
  const bytes = answer instanceof WithContent ? answer.content : undefined;
  if (!(bytes instanceof Uint8Array) || bytes.length > largestOfMany) return undefined;
  into.set(bytes, at);
  return bytes.length;
};
