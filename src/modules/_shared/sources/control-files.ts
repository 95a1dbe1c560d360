import type { FileAnswer } from '../../../protocol/job.ts';
import {
  type Prefetch,
  type PrefetchedRender,
  prefetchedFileKey,
  prefetchKey,
  type RenderedFile,
} from '../../../protocol/prefetch.ts';
import { renderIdentity } from '../../../protocol/render-identity.ts';
import { __context__, CommandExecutionError, currentLow, getContext } from '../../api.ts';
import { contentOf, type FileContent, receive } from '../files/file-content.ts';
import { hashBytes } from '../files/file-hash.ts';

/** A file of the control node, or a template's result, as far as it is known here. */
export type ControlFile = {
  readonly sha256: string;
  readonly size: number;
  readonly mode?: number | undefined;
  /** The content; fetched when it did not come along. Not to be called when the hash is `have`. */
  readonly content: () => Promise<FileContent>;
};

type Wish = {
  /** The sha256 of what the host has: that content does not travel. Only asked when there is need. */
  readonly have?: (() => Promise<string | undefined>) | undefined;
  /** The file that will be written: large content waits beside it. */
  readonly near?: string | undefined;
  /** The content is perhaps not needed: it is fetched when it is asked for. */
  readonly peek?: boolean;
};

/** A `salt://` file by path and saltenv; undefined when there is none. */
export const controlFile = async (
  path: string,
  saltenv: string,
  wish: Wish = {},
): Promise<ControlFile | undefined> => {
  const known = prefetch().files?.[prefetchedFileKey(path, saltenv)];
  if (known && !known.found) return undefined;
  const fetch = (more?: { have?: string | undefined; peek?: boolean }): Promise<Fetched> =>
    fetchFrom('file.get', { path, saltenv, ...more }, wish.near);
  if (known?.sha256 !== undefined) return lazily(known, fetch);
  const { answer, content } = await fetch(
    wish.peek ? { peek: true } : { have: await wish.have?.() },
  );
  if (!answer.found) return undefined;
  return answered(answer, content, fetch);
};

/** Renders a template on the control node. Throws with its message when that fails. */
export const controlTemplate = async (
  request: PrefetchedRender,
  wish: Wish = {},
): Promise<ControlFile | undefined> => {
  const known = prefetch().rendered?.[prefetchKey(request)];
  const fetch = (have?: string): Promise<Fetched> => fetchTemplate(request, have, wish.near);
  if (known?.text !== undefined) return inline(known, known.text);
  if (known) return lazily(known, fetch);
  const { answer, content } = await fetch(await wish.have?.());
  if (!answer.found) return undefined;
  return answered(answer, content, fetch);
};

/** The files below a folder of the control node: relative, sorted. */
export const controlList = async (path: string, saltenv: string): Promise<string[]> => {
  const listed = await link().request<unknown>('file.list', { path, saltenv });
  if (!Array.isArray(listed)) return [];
  return listed.filter((item): item is string => typeof item === 'string');
};

type Fetched = { readonly answer: FileAnswer; readonly content?: FileContent };

const prefetch = (): Prefetch => (__context__.__prefetch__ as Prefetch | undefined) ?? {};

const link = (): NonNullable<ReturnType<typeof getContext>['control']> => {
  const { control } = getContext();
  if (!control)
    throw new CommandExecutionError('there is no control node to ask for files in this context');
  return control;
};

/**
 * Refers to the job's template by the hash of its arguments. Only where a module of the user
 * computed them, control does not know it.
 */
const fetchTemplate = async (
  request: PrefetchedRender,
  have: string | undefined,
  near: string | undefined,
): Promise<Fetched> => {
  const { text, context } = request;
  const { accumulator } = context;
  const params = {
    key: hashBytes(renderIdentity(request, String(currentLow()?.name ?? ''))),
    ...(text !== undefined && { text }),
    ...(accumulator !== undefined && { accumulator }),
    ...(have !== undefined && { have }),
  };
  try {
    return await fetchFrom('file.render', params, near);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'template-unknown') throw error;
    const computed = { ...request, ...(have !== undefined && { have }) };
    return fetchFrom('file.renderComputed', computed, near);
  }
};

const fetchFrom = async (
  method: 'file.get' | 'file.render' | 'file.renderComputed',
  params: unknown,
  near: string | undefined,
): Promise<Fetched> => {
  const receiver = receive(near);
  try {
    const answer = await link().request<FileAnswer>(method, params, receiver.sink);
    if (!answer.found || answer.same) return { answer };
    const content = receiver.finish();
    if (answer.sha256 !== undefined && answer.sha256 !== content.sha256) {
      content.discard();
      throw new CommandExecutionError('a file from the control node arrived damaged; run again');
    }
    return { answer, content };
  } catch (error) {
    receiver.discard();
    throw error;
  }
};

const answered = (
  answer: FileAnswer,
  content: FileContent | undefined,
  fetch: () => Promise<Fetched>,
): ControlFile => {
  if (!content) return lazily(answer, fetch);
  const { sha256, size } = content;
  return { sha256, size, mode: answer.mode, content: async () => content };
};

const lazily = (answer: FileAnswer | RenderedFile, fetch: () => Promise<Fetched>): ControlFile => ({
  sha256: answer.sha256 ?? '',
  size: answer.size ?? 0,
  mode: 'mode' in answer ? answer.mode : undefined,
  content: async () => {
    const { content } = await fetch();
    if (!content) throw new CommandExecutionError('the control node did not send a file it has');
    return content;
  },
});

const inline = ({ sha256, size }: RenderedFile, text: string): ControlFile => ({
  sha256,
  size,
  content: async () => contentOf(text),
});
