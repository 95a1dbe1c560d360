import { hash } from 'node:crypto';
import { pauseIfLong } from '../../data/pause.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { FileResponse } from '../../protocol/job.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { ownTurn } from '../../protocol/own-turn.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import {
  type Prefetch,
  type PrefetchedRender,
  prefetchedFileKey,
  prefetchKey,
  type RenderedFile,
  type RenderedPiece,
  renderRequest,
  templateArguments,
} from '../../protocol/prefetch.ts';

/** The template depends on the host's present state, so it cannot be rendered ahead of time. */
export class NeedsHost extends Error {}

/**
 * Renders a template file's text before its state runs. Throws `NeedsHost` if that is impossible.
 */
export type RenderAhead = (
  request: PrefetchedRender,
  text: string,
  file: string,
) => Promise<string>;

/**
 * Finds out ahead what the run will request: hashes of sources and rendered templates, and the
 * text of small ones. A run without changes then needs no further round trip, nor does one that
 * writes a few small files. A template that calls the host is rendered when its state runs, since
 * an earlier state may change the result.
 *
 * Sources are hashed first. Templates are rendered in the order of their states, also while the
 * first of these run already: `handOver` says where what comes later is sent.
 */
export class RunPrefetch {
  readonly #files: NonNullable<Prefetch['files']>;
  readonly #rendered: Record<string, RenderedFile> = {};
  #covered = 0;
  #isStopped = false;
  #send: SendPiece | undefined;
  readonly #rendering: Promise<void>;

  private constructor(files: NonNullable<Prefetch['files']>, pieces: AsyncIterable<Piece>) {
    this.#files = files;
    this.#rendering = this.#collect(pieces);
    // `whole` throws it; on the host the states request what is missing.
    this.#rendering.catch(() => undefined);
  }

  /** @throws TsaltError a source cannot be read, or others may change it */
  static async begin(
    chunks: readonly LowChunk[],
    roots: FileRoots,
    render: RenderAhead,
  ): Promise<RunPrefetch> {
    const sources = sourcesOf(chunks, roots);
    const files = await hashesOf(sources, roots);
    return new RunPrefetch(files, renderInPieces(sources, chunks.length, roots, render));
  }

  /**
   * Returns all of it, when every template has been rendered; after `handOver` without the pieces
   * that were sent.
   */
  async whole(): Promise<Prefetch> {
    await this.#rendering;
    return { files: this.#files, rendered: this.#rendered };
  }

  /**
   * Returns what is sent with the run: what is known now, and the number of chunks that it covers.
   * Pieces for the others are sent when they are known.
   */
  handOver(send: SendPiece): { readonly prefetch: Prefetch; readonly covered: number } {
    this.#send = send;
    const prefetch = { files: this.#files, rendered: this.#rendered };
    return { prefetch, covered: this.#covered };
  }

  /** The run has ended: nothing more is rendered or sent. */
  stop = (): void => {
    this.#isStopped = true;
  };

  async #collect(pieces: AsyncIterable<Piece>): Promise<void> {
    try {
      for await (const piece of pieces) {
        if (this.#isStopped) return;
        this.#covered = piece.covered;
        if (this.#send) {
          await this.#send(piece);
          // Messages leave in the next turn.
          await ownTurn();
        } else {
          Object.assign(this.#rendered, piece.rendered);
          await pauseIfLong();
        }
      }
    } catch (error) {
      // Nothing more comes, also for a run that is sent later: states would wait forever.
      this.#covered = Number.MAX_SAFE_INTEGER;
      await this.#send?.({ rendered: {}, covered: this.#covered });
      throw error;
    }
  }
}

type Piece = Omit<RenderedPiece, 'run'>;

/** Sends templates that were rendered after the run; resolves when the wire takes more. */
type SendPiece = (piece: Piece) => Promise<void> | undefined;

type Source = { readonly chunk: LowChunk; readonly at: number; readonly source: string };

/** The first source of each file state that exists. */
const sourcesOf = (chunks: readonly LowChunk[], roots: FileRoots): Source[] =>
  chunks.flatMap((chunk, at) => {
    const source = chunk.state === 'file' ? firstSource(chunk, roots) : undefined;
    return source === undefined ? [] : [{ chunk, at, source }];
  });

const isTemplate = ({ template }: LowChunk): boolean => typeof template === 'string';

const hashesOf = async (
  sources: readonly Source[],
  roots: FileRoots,
): Promise<Record<string, FileResponse>> => {
  const files: Record<string, FileResponse> = {};
  for (const { chunk, source } of sources) {
    const found = isTemplate(chunk) ? undefined : roots.find(source, chunk.__env__);
    if (!found || found.size > hashLimit) continue;
    const sha256 = await roots.hash(source, chunk.__env__);
    const { size, mode } = found;
    files[prefetchedFileKey(source, chunk.__env__)] = { found: true, sha256, size, mode };
  }
  return files;
};

/** @param count the number of chunks of the run */
async function* renderInPieces(
  sources: readonly Source[],
  count: number,
  roots: FileRoots,
  render: RenderAhead,
): AsyncGenerator<Piece> {
  const read = readOnce(roots);
  let room = mostText;
  let rendered: Record<string, RenderedFile> = {};
  let inPiece = 0;
  for (const { chunk, at, source } of sources) {
    if (!isTemplate(chunk)) continue;
    if (inPiece === pieceSize) {
      yield { rendered, covered: at };
      [rendered, inPiece] = [{}, 0];
    }
    inPiece += 1;
    const request = renderRequest(templateArguments(chunk, source), chunk.__env__);
    const result = await renderAhead(request, () => read(source, chunk.__env__), render);
    if (!result) continue;
    const { sha256, size } = result;
    const isSent = size <= Math.min(room, smallText);
    if (isSent) room -= size;
    rendered[prefetchKey(request)] = isSent ? result : { sha256, size };
  }
  yield { rendered, covered: count };
}

/** Templates of a piece: enough that the host is busy until the next one arrives. */
const pieceSize = 50;

/** Bytes of rendered text that are sent with a run: those of longer texts cost slow links too much. */
const mostText = 8 * 1024;
const smallText = 2048;

/** Larger files are hashed only when their state runs, so that the run starts sooner. */
export const hashLimit = 64 * 1024 * 1024;

type Template = { readonly path: string; readonly text: string };

/** Reads each template once, however many states render it. */
const readOnce = (roots: FileRoots) => {
  const known = new Map<string, Template | undefined>();
  return (source: string, saltenv: string): Template | undefined => {
    const key = `${saltenv}\0${source}`;
    if (known.has(key)) return known.get(key);
    const path = roots.find(source, saltenv)?.path;
    const template = path === undefined ? undefined : { path, text: roots.read(source, saltenv) };
    known.set(key, template);
    return template;
  };
};

const firstSource = (chunk: LowChunk, roots: FileRoots): string | undefined =>
  [chunk.source]
    .flat()
    .flatMap(item =>
      typeof item === 'string' ? [item] : isPlainDict(item) ? Object.keys(item) : [],
    )
    .filter(item => item.startsWith('salt://'))
    .find(item => roots.find(item, chunk.__env__));

const renderAhead = async (
  request: ReturnType<typeof renderRequest>,
  read: () => Template | undefined,
  render: RenderAhead,
): Promise<(RenderedFile & { readonly text: string }) | undefined> => {
  try {
    const template = read();
    if (!template) return undefined;
    const text = await render(request, template.text, template.path);
    return { sha256: hash('sha256', text), size: Buffer.byteLength(text), text };
  } catch {
    // If the state runs, it reports what is wrong with the file.
    return undefined;
  }
};
