import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { pauseIfLong } from '../../data/pause.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { parseSaltUrl } from '../../fileserver/url.ts';
import type { FileResponse, ListedFile } from '../../protocol/job.ts';
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
import { hashLimit, listFolder, listWithHashes } from './list-folder.ts';

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
  readonly #known: Pick<Prefetch, 'files' | 'lists'>;
  readonly #rendered: Record<string, RenderedFile> = {};
  #covered = 0;
  #isStopped = false;
  #send: SendPiece | undefined;
  readonly #rendering: Promise<void>;

  private constructor(known: Pick<Prefetch, 'files' | 'lists'>, pieces: AsyncIterable<Piece>) {
    this.#known = known;
    this.#rendering = this.#collect(pieces);
    // `whole` throws it; on the host the states request what is missing.
    this.#rendering.catch(() => undefined);
  }

  /**
   * @param mayList whether the host may know the files of a folder; by default it requests them
   * @throws TsaltError a source cannot be read, or others may change it
   */
  static async begin(
    chunks: readonly LowChunk[],
    roots: FileRoots,
    render: RenderAhead,
    mayList: (path: string, saltenv: string) => boolean = () => false,
  ): Promise<RunPrefetch> {
    const sources = sourcesOf(chunks, roots);
    const files = await hashesOf(sources, roots);
    const lists = await listsOf(chunks, roots, mayList);
    return new RunPrefetch({ files, lists }, renderInPieces(sources, chunks.length, roots, render));
  }

  /**
   * Returns all of it, when every template has been rendered; after `handOver` without the pieces
   * that were sent.
   */
  async whole(): Promise<Prefetch> {
    await this.#rendering;
    return { ...this.#known, rendered: this.#rendered };
  }

  /**
   * Returns what is sent with the run: what is known now, and the number of chunks that it covers.
   * Pieces for the others are sent when they are known.
   */
  handOver(send: SendPiece): { readonly prefetch: Prefetch; readonly covered: number } {
    this.#send = send;
    const prefetch = { ...this.#known, rendered: this.#rendered };
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

/** Files that are listed with a run: a larger folder costs a run that skips its state too much. */
const mostListed = 2000;

/** Lists the folders of `file.recurse` states, which would request the lists. */
const listsOf = async (
  chunks: readonly LowChunk[],
  roots: FileRoots,
  mayList: (path: string, saltenv: string) => boolean,
): Promise<NonNullable<Prefetch['lists']>> => {
  const lists: Record<string, readonly ListedFile[]> = {};
  let room = mostListed;
  for (const chunk of chunks) {
    if (chunk.state !== 'file' || chunk.fun !== 'recurse') continue;
    const [source] = [chunk.source].flat();
    if (typeof source !== 'string' || !source.startsWith('salt://')) continue;
    const { path, saltenv = chunk.__env__ } = parseSaltUrl(source.replace(/\/+$/, ''));
    const key = prefetchedFileKey(path, saltenv);
    const folder = { path, saltenv };
    if (posix.normalize(path) !== path || lists[key] || !mayList(path, saltenv)) continue;
    await pauseIfLong();
    const { length } = listFolder(roots, folder);
    // Without files, the host looks for others of its sources.
    if (length === 0 || length > room) continue;
    room -= length;
    lists[key] = await listWithHashes(roots, folder);
  }
  return lists;
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
