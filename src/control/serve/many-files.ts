import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { ControlMethods } from '../../protocol/job.ts';
import { largestOfMany, type NamedFile, packOne } from '../../protocol/many-files.ts';
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
export const manyFiles = ({ roots, refs, allowed, renderNamed }: SingleFiles): Handler => {
  const read = async ([name, saltenv]: NamedFile): Promise<Uint8Array | undefined> => {
    if (saltenv === undefined) {
      const answer = await renderNamed({ key: name, ahead: true });
      return answer instanceof WithContent ? inMemory(answer) : undefined;
    }
    allowed(name, saltenv);
    const found = roots.find(name, saltenv);
    if (!found || found.size > largestOfMany) return undefined;
    refs.follow(name, saltenv, () => roots.read(name, saltenv));
    const content = roots.content(name, saltenv);
    if (content instanceof Uint8Array) return content;
    // The file has grown since it was found.
    content.destroy();
    return undefined;
  };
  return (said: unknown) => new WithContent(null, packed(readGetMany(said).items, read));
};

async function* packed(
  items: readonly NamedFile[],
  read: (item: NamedFile) => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array> {
  const turns = new Turns(turnLength);
  let parts: Uint8Array[] = [];
  let size = 0;
  for (const item of items) {
    // What is wrong with an item is reported to the request of its own.
    const bytes = await read(item).catch(() => undefined);
    const one = packOne(bytes && bytes.length <= largestOfMany ? bytes : undefined);
    for (const part of one) size += part.length;
    parts.push(...one);
    if (size < pieceSize && !turns.areOver) continue;
    yield Buffer.concat(parts);
    [parts, size] = [[], 0];
    await turns.pause();
  }
  if (size > 0) yield Buffer.concat(parts);
}

const inMemory = ({ content }: WithContent): Uint8Array | undefined =>
  content instanceof Uint8Array ? content : undefined;
