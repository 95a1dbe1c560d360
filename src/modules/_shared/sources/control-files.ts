import type { FileResponse, ListedFile } from '../../../protocol/job.ts';
import { unpackPieces } from '../../../protocol/listed-pieces.ts';
import { lowTag } from '../../../protocol/low.ts';
import { ManyUnpacker } from '../../../protocol/many-files.ts';
import {
  type Prefetched,
  type PrefetchedPiece,
  type PrefetchedRender,
  prefetchedFileKey,
  prefetchKey,
  type RenderedFile,
  renderRequest,
  templateArguments,
} from '../../../protocol/prefetch.ts';
import { renderIdentity, sourcesIn } from '../../../protocol/render-identity.ts';
import { CommandExecutionError, currentLow, getContext, withContext } from '../../api.ts';
import { contentOf, type FileContent, receive } from '../files/file-content.ts';
import { hashBytes } from '../files/file-hash.ts';
import { expandUser } from '../files/file-paths.ts';
import { type ComingFile, FetchAhead, type Fetched, type FetchMany } from './fetch-ahead.ts';

/** A file of the control node, or a template's result, as far as it is known here. */
export type ControlFile = {
  readonly sha256: string;
  readonly size: number;
  readonly mode?: number | undefined;
  /** The content as text, where it came along. */
  readonly text?: string;
  /** The content; fetched when it did not come along. Not to be called when the hash is `have`. */
  readonly content: () => FileContent | Promise<FileContent>;
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
  const key = prefetchedFileKey(path, saltenv);
  const known = prefetch().files?.[key] ?? ofRun().listed.get(key);
  if (known && !known.found) return undefined;
  const fetch = (more?: { have?: string | undefined; peek?: boolean }): Promise<Fetched> =>
    fetchFrom('file.get', { path, saltenv, ...more }, wish.near);
  if (known?.sha256 !== undefined) return lazily(known, () => ofRun().ahead.take(key, fetch));
  const { answer, content } = await fetch(
    wish.peek ? { peek: true } : { have: await wish.have?.() },
  );
  if (!answer.found) return undefined;
  return answered(answer, content, fetch);
};

/**
 * Renders a template on the control node. Throws with its message when that fails.
 *
 * @returns at once where its result or its hash came ahead
 */
export const controlTemplate = (
  request: PrefetchedRender,
  wish: Wish = {},
): ControlFile | undefined | Promise<ControlFile | undefined> => {
  const key = prefetchKey(request);
  const known = prefetch().rendered?.[key];
  return known ? cameAhead(request, key, known, wish) : renderNow(request, key, wish);
};

const cameAhead = (
  request: PrefetchedRender,
  key: string,
  known: RenderedFile,
  { near }: Wish,
): ControlFile => {
  const { ahead } = ofRun();
  return known.text === undefined
    ? lazily(known, () => ahead.take(key, () => fetchTemplate(request, undefined, near)))
    : inline(known, known.text, () => ahead.begin());
};

const renderNow = async (
  request: PrefetchedRender,
  key: string,
  wish: Wish,
): Promise<ControlFile | undefined> => {
  const known = await arriving(request, key);
  if (known) return cameAhead(request, key, known, wish);
  const fetch = (have?: string): Promise<Fetched> => fetchTemplate(request, have, wish.near);
  const { answer, content } = await ofRun().ahead.take(key, async () => fetch(await wish.have?.()));
  if (!answer.found) return undefined;
  return answered(answer, content, fetch);
};

/** The files below a folder of the control node: relative, sorted. */
export const controlList = async (path: string, saltenv: string): Promise<string[]> => {
  const known = prefetch().lists?.[prefetchedFileKey(path, saltenv)];
  if (known) return known.map(([name]) => name);
  const listed = await link().request<unknown>('file.list', { path, saltenv });
  if (!Array.isArray(listed)) return [];
  return listed.filter((item): item is string => typeof item === 'string');
};

/**
 * As `controlList`, with the hashes of the files: their states need not ask for them.
 *
 * @param onPiece is called with some of the names, while the hashes of others are still computed
 */
export const controlListForUse = async (
  path: string,
  saltenv: string,
  onPiece: (names: readonly string[]) => void = () => {},
): Promise<string[]> => {
  const here = getContext();
  const { listed } = ofRun();
  const names: string[] = [];
  const take = (piece: readonly ListedFile[]): void => {
    for (const [name, size, mode, sha256] of piece) {
      names.push(name);
      if (sha256 === null) continue;
      const key = prefetchedFileKey(joined(path, name), saltenv);
      listed.set(key, { found: true, size, mode, sha256 });
    }
  };
  const known = prefetch().lists?.[prefetchedFileKey(path, saltenv)];
  if (known) take(known);
  else {
    const unpack = unpackPieces(piece => {
      take(piece);
      withContext(here, () => onPiece(piece.map(([name]) => name)));
    });
    await link().request('file.list', { path, saltenv, hashes: true }, unpack);
  }
  return names;
};

/** What `controlListForUse` told about a file. */
export const listedFile = (path: string, saltenv: string): KnownFile | undefined =>
  ofRun().listed.get(prefetchedFileKey(path, saltenv));

/** A file that will be used soon. */
type ExpectedFile = {
  readonly path: string;
  readonly saltenv: string;
  /** Its content is not fetched where this file has it. */
  readonly dest?: string;
  readonly template?: PrefetchedRender | undefined;
};

/**
 * Announces files in the order of their use: when one of them is fetched, the next ones follow.
 *
 * @returns ends it
 */
export const expectFiles = (files: readonly ExpectedFile[]): (() => void) => {
  const { ahead, listed } = ofRun();
  return ahead.announce(
    files.map(({ path, saltenv, dest, template }) => {
      if (template)
        return comingTemplate(
          prefetchKey(template),
          template,
          dest,
          String(currentLow()?.name ?? ''),
        );
      const key = prefetchedFileKey(path, saltenv);
      return comingFile(key, path, saltenv, dest, listed.get(key));
    }),
  );
};

const joined = (folder: string, name: string): string =>
  folder === '' ? name : `${folder.replace(/\/+$/, '')}/${name}`;

type KnownFile = Required<Omit<FileResponse, 'same'>>;

type OfRun = { readonly ahead: FetchAhead; readonly listed: Map<string, KnownFile> };

/** By the `__context__` of a run. */
const runs = new WeakMap<object, OfRun>();

const ofRun = (): OfRun => {
  const here = getContext();
  const known = runs.get(here.context);
  if (known) return known;
  const made: OfRun = { ahead: new FetchAhead(fetchMany), listed: new Map() };
  runs.set(here.context, made);
  const sent = prefetch();
  // A piece arrives outside of any state, and may have files requested at once.
  sent.eachPiece?.(piece =>
    withContext(here, () => made.ahead.announceLater(() => filesOf(piece, sent))),
  );
  return made;
};

/** Waits for the hash of a template that is still being rendered; undefined if there is none. */
const arriving = async (
  { text }: PrefetchedRender,
  key: string,
): Promise<RenderedFile | undefined> => {
  const sent = prefetch();
  const low = currentLow();
  if (text !== undefined || low === undefined) return undefined;
  const arrival = sent.arrival?.(lowTag(low));
  if (arrival === undefined) return undefined;
  await arrival;
  return sent.rendered?.[key];
};

/** The files of `file.managed` states whose hashes came ahead, without their content. */
const filesOf = ({ chunks, rendered }: PrefetchedPiece, { files = {} }: Prefetched): ComingFile[] =>
  chunks.flatMap(chunk => {
    if (chunk.state !== 'file' || chunk.fun !== 'managed') return [];
    const name = String(chunk.name);
    const dest = expandUser(name);
    for (const source of sourcesIn(chunk.source)) {
      if (typeof chunk.template === 'string') {
        const request = renderRequest(templateArguments(chunk, source), chunk.__env__);
        const key = prefetchKey(request);
        const known = rendered[key];
        if (known)
          return known.text === undefined ? [comingTemplate(key, request, dest, name, known)] : [];
      } else {
        const key = prefetchedFileKey(source, chunk.__env__);
        if (files[key]) return [comingFile(key, source, chunk.__env__, dest, files[key])];
      }
    }
    return [];
  });

const comingFile = (
  key: string,
  path: string,
  saltenv: string,
  dest: string | undefined,
  known: FileResponse | undefined,
): ComingFile => ({
  key,
  dest,
  sha256: known?.sha256,
  size: known?.size ?? usualSize,
  fetch: have => fetchFrom('file.get', { path, saltenv, have }, undefined),
  named: [path, saltenv],
});

const comingTemplate = (
  key: string,
  request: PrefetchedRender,
  dest: string | undefined,
  state: string,
  known?: RenderedFile,
): ComingFile => ({
  key,
  dest,
  sha256: known?.sha256,
  size: known?.size ?? usualSize,
  // A template that fails now is requested again by its state.
  fetch: have =>
    fetchTemplate(request, have, undefined, { state, ahead: true }).catch(() => undefined),
  // What `file.accumulated` collected is sent with a request of its own.
  ...(request.text === undefined &&
    request.context.accumulator === undefined && {
      named: [hashBytes(renderIdentity(request, state))],
    }),
});

/** @param isUsedAtOnce see `ManyUnpacker` */
const manyFetcher =
  (isUsedAtOnce: boolean): FetchMany =>
  (items, take) => {
    const here = getContext();
    let at = 0;
    const { push } = new ManyUnpacker(bytes => {
      take(at, bytes);
      at += 1;
    }, isUsedAtOnce);
    return link().request<null>('file.getMany', { items }, bytes =>
      withContext(here, () => push(bytes)),
    );
  };

const fetchMany = manyFetcher(false);

/** Fetches files whose bytes may be others once `take` has returned. */
export const requestMany = manyFetcher(true);

/** Bytes counted for content whose size is not known. */
const usualSize = 16 * 1024;

const prefetch = (): Prefetched =>
  (getContext().context.__prefetch__ as Prefetched | undefined) ?? {};

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
  { state = String(currentLow()?.name ?? ''), ahead = false } = {},
): Promise<Fetched> => {
  const { text, context } = request;
  const { accumulator } = context;
  const params = {
    key: hashBytes(renderIdentity(request, state)),
    ...(text !== undefined && { text }),
    ...(accumulator !== undefined && { accumulator }),
    ...(have !== undefined && { have }),
    ...(ahead && { ahead }),
  };
  try {
    return await fetchFrom('file.render', params, near);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'template-unknown' || ahead) throw error;
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
    const answer = await link().request<FileResponse>(method, params, receiver.sink);
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
  answer: FileResponse,
  content: FileContent | undefined,
  fetch: () => Promise<Fetched>,
): ControlFile => {
  if (!content) return lazily(answer, fetch);
  const { sha256, size } = content;
  return { sha256, size, mode: answer.mode, content: () => content };
};

const lazily = (
  answer: FileResponse | RenderedFile,
  fetch: () => Fetched | Promise<Fetched>,
): ControlFile => ({
  sha256: answer.sha256 ?? '',
  size: answer.size ?? 0,
  mode: 'mode' in answer ? answer.mode : undefined,
  content: () => {
    const fetched = fetch();
    return fetched instanceof Promise ? fetched.then(contentIn) : contentIn(fetched);
  },
});

const contentIn = ({ content }: Fetched): FileContent => {
  if (!content) throw new CommandExecutionError('the control node did not send a file it has');
  return content;
};

/** @param onUse the run writes files: those whose content did not come with it are needed soon */
const inline = ({ sha256, size }: RenderedFile, text: string, onUse: () => void): ControlFile => ({
  sha256,
  size,
  text,
  content: () => {
    onUse();
    return contentOf(text, sha256);
  },
});
