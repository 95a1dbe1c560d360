import { createHash } from 'node:crypto';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { FileAnswer } from '../../protocol/job.ts';
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

/** A template that must run on the host's present state cannot be rendered ahead of time. */
export class NeedsHost extends Error {}

/** Renders a template file's text before its state runs. Throws `NeedsHost` where that cannot be. */
export type RenderAhead = (
  request: PrefetchedRender,
  text: string,
  file: string,
) => Promise<string>;

/**
 * What the run will ask for, found out ahead: hashes of sources, and rendered templates. So a
 * run that changes nothing needs no further round trip. A template that calls the host is
 * left for when its state runs, since an earlier state may change the answer.
 */
export const prefetch = async (
  chunks: readonly LowChunk[],
  roots: FileRoots,
  render: RenderAhead,
): Promise<Prefetch> => {
  const files: Record<string, FileAnswer> = {};
  const rendered: Record<string, RenderedFile> = {};
  for (const chunk of chunks) {
    if (chunk.state !== 'file') continue;
    const source = firstSource(chunk, roots);
    if (source === undefined) continue;
    if (typeof chunk.template === 'string') {
      const request = renderRequest(templateArguments(chunk, source), chunk.__env__);
      const result = await renderAhead(request, source, chunk, roots, render);
      if (result) rendered[prefetchKey(request)] = result;
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

/** Above this a file is only hashed when its state runs: the run should start first. */
export const hashLimit = 64 * 1024 * 1024;

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
  source: string,
  chunk: LowChunk,
  roots: FileRoots,
  render: RenderAhead,
): Promise<RenderedFile | undefined> => {
  try {
    const file = roots.find(source, chunk.__env__);
    if (!file) return undefined;
    const text = await render(request, roots.read(source, chunk.__env__), file.path);
    const bytes = Buffer.from(text, 'utf8');
    return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
  } catch {
    // Its state will say what is wrong with it when it runs, if it runs.
    return undefined;
  }
};
