import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { pyStr } from '../../data/python/python-text.ts';
import type { Ranges } from '../../data/taint.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import type { Dict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { parseSaltUrl } from '../../fileserver/url.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { isPlainDict, type PlainDict, plainText } from '../../protocol/plain.ts';
import type { PrefetchedRender } from '../../protocol/prefetch.ts';
import { isElsewhere, renderIdentity, sourcesIn } from '../../protocol/render-identity.ts';
import { containsSlot } from '../../protocol/slot-call.ts';
import { mergeWholeFloats } from '../../protocol/whole-floats.ts';
import { readable } from '../../transport/unreachable.ts';
import { callsOf, type ModuleCall, namedArguments } from '../prepare/calls-in-chunk.ts';
import { listFolder } from '../prepare/list-folder.ts';

/**
 * A template of the job may use everything that templates have. One that came from the host is
 * confined: it sees no file roots and calls only functions that the host itself may call.
 */
export type TemplateTrust = 'job' | 'confined';

/** One template that the run compiled: its engine, source and variables stay on the control node. */
type Entry = {
  readonly request: PrefetchedRender;
  /** Hashes of the strings that the job has for it (`contents`) and in which no host had a part. */
  readonly texts: ReadonlySet<string>;
  /** The host supplies the text: from its disk, the web, or its grains. */
  readonly isFromHost: boolean;
  /** The text is a file of the file roots. */
  readonly isInRoots: boolean;
};

/** Data that the host may add to its reference. */
type Added = {
  readonly text?: string | undefined;
  readonly accumulator?: PlainDict | undefined;
};

/**
 * The templates of one host's run. The host refers to one by the hash of what identifies it
 * (`protocol/render-identity.ts`); engine, source, variables and chunk are those kept here.
 */
export class RenderRefs {
  readonly #taintOf: (text: string) => Ranges | undefined;
  readonly #entries = new Map<string, Entry>();
  /** Entries of which no key was computed, with the name of their state: most hosts ask for none. */
  readonly #unkeyed: (readonly [entry: Entry, state: string])[] = [];
  /** Chunks with templates. No entry was made of those from `#read` on, for the same reason. */
  readonly #unread: (readonly [chunk: LowChunk, template: string, state: string])[] = [];
  #read = 0;
  /** Templates whose source is a folder, with the name of their state. */
  readonly #folders = new Map<Entry, string>();
  /** A slot computes arguments of a state on the host. */
  hasSlots = false;
  /** Values that `file.accumulated` may add to a template, as JSON. */
  readonly #accumulated = new Set<string>();

  constructor(taintOf: (text: string) => Ranges | undefined) {
    this.#taintOf = taintOf;
  }

  /** Adds the templates of these chunks. @throws TsaltError where the host chose an engine */
  addChunks(chunks: readonly LowChunk[], pillar: Dict, modules: readonly ModuleMeta[]): void {
    for (const chunk of chunks) {
      const state = plainText(chunk.name);
      this.hasSlots ||= containsSlot(chunk);
      for (const call of callsOf(chunk)) this.addCall(call, modules, state, envOf(chunk));
      if (chunk.state === 'file' && chunk.fun === 'accumulated')
        for (const item of [chunk.text].flat()) this.#accumulated.add(JSON.stringify(item ?? null));
      const template = templateOf(chunk);
      if (template === undefined) continue;
      if (this.#taintOf(template)) throw chosenEngine(chunk, template);
      this.#unread.push([chunk, template, state]);
      this.#addTexts(chunk, template, state, pillar);
    }
  }

  /** Adds the sources of a chunk. */
  #addSources(chunk: LowChunk, template: string, state: string): void {
    const base = sharedOf(chunk, template);
    const seen = chunkSeen(chunk);
    const sources = [chunk.source, chunk.sources].flatMap(sourcesIn);
    // In other states the name may be the source; in `cmd.script` arguments follow it.
    if (chunk.state !== 'file') sources.push(state, state.split(/\s/)[0] ?? '');
    for (const source of new Set(sources.filter(Boolean))) {
      const entry: Entry = {
        request: { ...base, source, chunk: { ...seen, source } },
        texts: new Set(),
        isFromHost: isElsewhere(source),
        isInRoots: !isElsewhere(source),
      };
      this.#unkeyed.push([entry, state]);
      if (chunk.state === 'file' && chunk.fun === 'recurse') this.#folders.set(entry, state);
    }
  }

  /** Adds the texts of a chunk. Which are tainted is decided now, before the host sends more. */
  #addTexts(chunk: LowChunk, template: string, state: string, pillar: Dict): void {
    const texts = [...contentsOf(chunk), ...contentsFromPillar(chunk, pillar)];
    const grains = chunk.contents_grains;
    const isOfGrains = grains !== undefined && grains !== null;
    if (texts.length === 0 && !isOfGrains) return;
    this.#unkeyed.push([
      {
        request: { ...sharedOf(chunk, template), source: '', chunk: { name: chunk.name } },
        texts: new Set(texts.filter(text => !this.#taintOf(text)).map(textHash)),
        isFromHost: isOfGrains || texts.some(text => this.#taintOf(text)),
        isInRoots: false,
      },
      state,
    ]);
  }

  /** Adds the templates of a call: the job's own function, or a call by a state (`module.run`). */
  addCall(call: ModuleCall, modules: readonly ModuleMeta[], state: string, saltenv: string): void {
    const bound = namedArguments(call, modules);
    if (!bound) return;
    const { named, extra } = bound;
    const isTemplate = call.fun === 'cp.get_template';
    const template = named.template ?? (isTemplate ? 'jinja' : undefined);
    if (typeof template !== 'string' || this.#taintOf(template)) return;
    const context = isPlainDict(named.context) ? named.context : {};
    const variables = isTemplate
      ? { ...extra, ...context }
      : mergeWholeFloats(isPlainDict(named.defaults) ? named.defaults : {}, context);
    const env = typeof named.saltenv === 'string' ? named.saltenv : saltenv;
    for (const source of Object.values(named)) {
      if (typeof source !== 'string' || source === '') continue;
      const request = { source, saltenv: env, template, context: variables, chunk: { source } };
      const isFromHost = isElsewhere(source);
      this.#unkeyed.push([
        { request, texts: new Set(), isFromHost, isInRoots: !isFromHost },
        state,
      ]);
    }
  }

  /** Makes and keys entries of chunks, in their order, until one is known that suffices. */
  #readUntil(isEnough: () => boolean): void {
    for (;;) {
      for (const [unkeyed, state] of this.#unkeyed.splice(0)) this.#add(unkeyed, state);
      if (isEnough()) return;
      const unread = this.#unread[this.#read];
      if (!unread) return;
      this.#read += 1;
      this.#addSources(...unread);
    }
  }

  #add(entry: Entry, state: string): void {
    const key = renderKey(entry.request, state);
    const known = this.#entries.get(key);
    const texts = new Set([...(known?.texts ?? []), ...entry.texts]);
    this.#entries.set(key, {
      ...entry,
      texts,
      isFromHost: entry.isFromHost || known?.isFromHost === true,
    });
  }

  /**
   * Finds the template behind a host's reference.
   *
   * @returns its request, with what the host may add to it; without `trust` if its engine must not
   *   render the host's texts. Undefined if the run has no such template.
   */
  resolve(
    key: string,
    { text, accumulator }: Added,
    roots: FileRoots,
  ): { request: PrefetchedRender; trust?: TemplateTrust } | undefined {
    // The host asks in the order of the states: of a file's template, the first entry says all.
    this.#readUntil(() => text === undefined && this.#entries.get(key)?.isInRoots === true);
    const entry = this.#entries.get(key) ?? this.#inFolders(key, roots);
    if (!entry) return undefined;
    const { template, context } = entry.request;
    if (accumulator !== undefined && !this.#isCollected(accumulator, context)) return undefined;
    const request = {
      ...entry.request,
      context: accumulator === undefined ? context : mergeWholeFloats(context, { accumulator }),
      ...(text === undefined ? {} : { text }),
    };
    const isKnown = text === undefined ? entry.isInRoots : entry.texts.has(textHash(text));
    if (isKnown) return { request, trust: 'job' };
    if (text === undefined || !entry.isFromHost) return undefined;
    return sandboxed.includes(template) ? { request, trust: 'confined' } : { request };
  }

  /** Lists the folders of `file.recurse`: each file in them is a template of its own. */
  #inFolders(key: string, roots: FileRoots): Entry | undefined {
    for (const [{ request }, state] of this.#folders) {
      const { path, saltenv = request.saltenv } = parseSaltUrl(request.source);
      const folder = path.replace(/\/+$/, '');
      const name = plainText(request.chunk.name);
      for (const file of listFolder(roots, { path: folder, saltenv })) {
        const source = `salt://${folder === '' ? '' : `${folder}/`}${file}`;
        const chunk = { ...request.chunk, source, name: posix.join(name, file) };
        const rendered = { ...request, saltenv, source, chunk };
        this.#add(
          { request: rendered, texts: new Set(), isFromHost: false, isInRoots: true },
          state,
        );
      }
    }
    // They are listed once.
    this.#folders.clear();
    return this.#entries.get(key);
  }

  /** Whether states of the job collect these values for templates. */
  #isCollected(accumulator: PlainDict, context: PlainDict): boolean {
    if (!isPlainDict(accumulator)) return false;
    const lists = Object.values(accumulator).filter(Array.isArray);
    if (lists.reduce((sum, list) => sum + list.length, 0) > mostCollected) return false;
    if (JSON.stringify(accumulator) === JSON.stringify(context.accumulator)) return true;
    return Object.values(accumulator).every(
      list =>
        Array.isArray(list) && list.every(item => this.#accumulated.has(JSON.stringify(item))),
    );
  }
}

/** Values that `file.accumulated` may have collected for one template. */
const mostCollected = 50_000;

/** Engines that run no code of their own: they may render what a host sends. */
export const sandboxed: readonly string[] = ['jinja', 'liquid'];

const renderKey = (request: PrefetchedRender, state: string): string =>
  hash('sha256', renderIdentity(request, state));

const textHash = (text: string): string => hash('sha256', text.trimEnd());

const chosenEngine = ({ __sls__, __id__ }: LowChunk, template: string): TsaltError =>
  new TsaltError(
    'template-tainted',
    `The host chose the template engine ${readable(template, 300)} of ID '${__id__}' in SLS '${__sls__}'.`,
    { kind: 'render', hint: 'Write the engine into the SLS: `- template: jinja`.' },
  );

/** The saltenv that a state's function sees; see `perform` in the runtime. */
const envOf = ({ saltenv, env, __env__ }: LowChunk): string =>
  plainText(saltenv ?? (typeof env === 'string' ? env : __env__) ?? 'base');

/** Returns the engine of a chunk's templates; some states have a default. */
const templateOf = ({ state, fun, template }: LowChunk): string | undefined =>
  typeof template === 'string'
    ? template
    : template === undefined && state === 'file' && rendersSources.has(fun)
      ? 'jinja'
      : undefined;

const rendersSources = new Set(['append', 'prepend', 'blockreplace']);

/** Merges `defaults` and `context` of a chunk as the states do. */
const variablesOf = ({ defaults, context }: LowChunk): PlainDict =>
  mergeWholeFloats(
    isPlainDict(defaults) ? defaults : undefined,
    isPlainDict(context) ? context : undefined,
  );

/** Returns what the requests of all templates of a chunk have in common. */
const sharedOf = (chunk: LowChunk, template: string) => ({
  template,
  saltenv: envOf(chunk),
  context: variablesOf(chunk),
});

/** Returns the part of the chunk that its templates see. */
const chunkSeen = (chunk: LowChunk): PlainDict => {
  const { name, user, owner, group, mode, file_mode, attrs, fun } = chunk;
  const seen: PlainDict = { name };
  const given = { user: user ?? owner, group, mode: fun === 'recurse' ? file_mode : mode, attrs };
  for (const [key, value] of Object.entries(given))
    if (value !== undefined && value !== null) seen[key] = value;
  return seen;
};

const contentsOf = ({ contents }: LowChunk): string[] =>
  Array.isArray(contents)
    ? [contents.map(plainText).join('\n')]
    : contents === undefined || contents === null
      ? []
      : [plainText(contents)];

/** `contents_pillar`: the control node sends the value to the host and renders it for the host. */
const contentsFromPillar = (
  { contents_pillar, contents_delimiter }: LowChunk,
  pillar: Dict,
): string[] => {
  if (contents_pillar === undefined || contents_pillar === null) return [];
  const between = typeof contents_delimiter === 'string' ? contents_delimiter : ':';
  const lines = [contents_pillar].flat().flatMap(key => {
    const value = traverse(pillar, plainText(key), between);
    return value === noValue ? [] : [value].flat().map(pyStr);
  });
  return [lines.join('\n')];
};
