import { hash } from 'node:crypto';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { FileResponse } from '../../protocol/job.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import {
  type Prefetch,
  type PrefetchedRender,
  prefetchedFileKey,
  prefetchKey,
  type RenderedFile,
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
 * Finds out ahead what the run will request: hashes of sources and rendered templates, and the text
 * of small ones. A run without changes then needs no further round trip, nor does one that writes a
 * few small files. A template that calls the host is rendered when its state runs, since an earlier
 * state may change the result.
 */
export const prefetch = async (
  chunks: readonly LowChunk[],
  roots: FileRoots,
  render: RenderAhead,
): Promise<Prefetch> => {
  const files: Record<string, FileResponse> = {};
  const rendered: Record<string, RenderedFile> = {};
  const read = readOnce(roots);
  let room = mostText;
  for (const chunk of chunks) {
    if (chunk.state !== 'file') continue;
    const source = firstSource(chunk, roots);
    if (source === undefined) continue;
    if (typeof chunk.template === 'string') {
      const request = renderRequest(templateArguments(chunk, source), chunk.__env__);
      const result = await renderAhead(request, () => read(source, chunk.__env__), render);
      if (!result) continue;
      const { text, ...described } = result;
      const isSent = result.size <= Math.min(room, smallText);
      if (isSent) room -= result.size;
      rendered[prefetchKey(request)] = isSent ? result : described;
    } else {
      const found = roots.find(source, chunk.__env__);
      if (!found || found.size > hashLimit) continue;
      const sha256 = await roots.hash(source, chunk.__env__);
      files[prefetchedFileKey(source, chunk.__env__)] = {
        found: true,
        sha256,
        size: found.size,
        mode: found.mode,
      };
    }
  }
  return { files, rendered };
};

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
