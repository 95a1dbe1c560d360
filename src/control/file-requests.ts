import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { pyStr } from '../data/python-text.ts';
import { saltRequirementsNamed } from '../data/requirements-files.ts';
import { choosesOnlyNames, type Ranges } from '../data/taint.ts';
import { missing, traverse } from '../data/traverse.ts';
import type { Dict } from '../data/value.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import { parseSaltUrl } from '../fileserver/url.ts';
import { TsaltError } from '../protocol/error.ts';
import type { ControlMethods, FileAnswer } from '../protocol/job.ts';
import type { LowChunk } from '../protocol/low.ts';
import { type Handler, WithContent } from '../protocol/peer.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import { prefetchKey } from '../protocol/prefetch.ts';
import { mergeDicts } from '../protocol/whole-floats.ts';
import { readable } from '../transport/faults.ts';
import { readGet, readList, readRender } from './request-params.ts';

/** Renders a template file's text for the host: `template:` of file states. */
export type TemplateRenderer = (
  request: ControlMethods['file.render'],
  text: string,
  file: string,
  trust?: TemplateTrust,
) => Promise<string>;

/**
 * A text of the job's own may use all that templates have. One that came from the host is
 * confined: it sees no file roots and calls only what the host itself may call.
 */
export type TemplateTrust = 'job' | 'confined';

/**
 * What a host may fetch. A host is not trusted: it gets the `salt://` paths that its jobs
 * name (and what lies below a folder they name, and what pip's requirements among them name), and
 * those of `extra_filerefs`. Anything else ends its run. A path that holds what the host sent names
 * a file only where that part chooses no more than a name within one segment.
 */
export class FileRefs {
  readonly #taintOf: (text: string) => Ranges | undefined;
  readonly #named = new Set<string>();
  readonly #templates = new Set<string>();
  /** Templates that the job names but only the host can read: by engine, and by source or file. */
  readonly #elsewhere = new Set<string>();
  /** Files of pip's requirements: what they name belongs to the job too. */
  readonly #requirements = new Set<string>();
  readonly #envs = new Set(['base']);
  /** Engines with the variables that the job gives them. */
  readonly #variables = new Set<string>();

  /** @param taintOf the parts of a text that the host sent; by default there are none */
  constructor(taintOf: (text: string) => Ranges | undefined = () => undefined) {
    this.#taintOf = taintOf;
  }

  /** Allows every `salt://` path in these arguments. */
  add(value: Plain | readonly LowChunk[] | PlainDict): void {
    if (typeof value === 'string') {
      if (value.startsWith('salt://')) this.#nameIfChosenHere(value);
      // A path within a text counts where the host had no part in the text.
      else if (value.includes('salt://') && !this.#taintOf(value))
        for (const [url] of value.matchAll(saltUrls)) this.#name(url);
    } else if (Array.isArray(value)) this.#addList(value as Plain[]);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        this.add(key);
        if (/saltenv|__env__/.test(key) && typeof item === 'string' && !this.#taintOf(item))
          this.#envs.add(item);
        this.add(item as Plain);
        if (key === 'requirements' && !this.#taintOf([item].flat().join(' ')))
          for (const [url] of [item].flat().join(' ').matchAll(saltUrls)) this.#require(url);
      }
  }

  /** Beside a path without a name, as in `cp.cache_file salt://x dev`, any word may be its saltenv. */
  #addList(items: readonly Plain[]): void {
    for (const item of items) this.add(item);
    if (!items.some(item => typeof item === 'string' && item.startsWith('salt://'))) return;
    for (const item of items)
      if (typeof item === 'string' && /^[\w.-]+$/.test(item) && !this.#taintOf(item))
        this.#envs.add(item);
  }

  #require(url: string): void {
    const path = clean(url);
    if (path === undefined) return;
    this.#name(url);
    this.#requirements.add(path);
  }

  /** Allows what a file names, where it is one of pip's requirements. */
  follow(path: string, read: () => string): void {
    if (!this.#requirements.has(clean(path) ?? '')) return;
    const url = `salt://${path.replace(/^salt:\/\//, '')}`;
    for (const child of saltRequirementsNamed(url, read())) this.#require(child);
  }

  #nameIfChosenHere(url: string): void {
    const ranges = this.#taintOf(url);
    if (!ranges || choosesOnlyNames(url, ranges)) this.#name(url);
  }

  #name(url: string): void {
    const path = clean(url);
    if (path !== undefined) this.#named.add(path);
    const { saltenv } = parseSaltUrl(url);
    if (saltenv !== undefined) this.#envs.add(saltenv);
  }

  /** Allows what these chunks name: their sources, and the texts and engines of their templates. */
  addChunks(chunks: readonly LowChunk[], pillar: Dict = new Map()): void {
    for (const chunk of chunks) {
      this.add(chunk);
      const template = templateOf(chunk);
      if (template === undefined) continue;
      if (this.#taintOf(template)) throw chosenEngine(chunk, template);
      this.#variables.add(variablesKey(template, variablesOf(chunk)));
      for (const text of [...contentsOf(chunk), ...contentsFromPillar(chunk, pillar)])
        if (this.#taintOf(text)) this.#elsewhere.add(textKey(template, text));
        else this.#templates.add(textKey(template, text));
      for (const source of [chunk.source, chunk.sources, chunk.name].flat().flatMap(namesOf)) {
        const path = isElsewhere(source) ? undefined : clean(source);
        if (path !== undefined) this.#templates.add(`${template} ${path}`);
        else this.#elsewhere.add(`${template} ${source}`);
      }
      if (chunk.contents_grains !== undefined && chunk.contents_grains !== null)
        this.#elsewhere.add(`${template} grains of ${String(chunk.name)}`);
    }
  }

  /**
   * Whether the job named this template with this engine, and how far it is trusted. A text that
   * a host made up must never be rendered as the job's: a template can read the file roots, and
   * some engines run code. Where the job names a source that only the host can read, its text is
   * rendered confined, by the engines that are sandboxed. Files the host may fetch can be
   * rendered by those too.
   */
  templateTrust(request: ControlMethods['file.render']): TemplateTrust | undefined {
    const { template, source, text, chunk } = request;
    const isSandboxed = sandboxed.includes(template);
    const confined = isSandboxed ? 'confined' : undefined;
    const isJob = this.#hasVariables(request);
    if (text === undefined) {
      const isNamed = this.#templates.has(`${template} ${clean(source)}`);
      return isJob && (isNamed || (isSandboxed && this.#isBelow(template, source)))
        ? 'job'
        : confined;
    }
    const key = textKey(template, text);
    if (this.#templates.has(key)) return isJob ? 'job' : confined;
    const named = source === '' ? `grains of ${String(chunk.name)}` : source;
    return this.#elsewhere.has(key) || this.#elsewhere.has(`${template} ${named}`)
      ? confined
      : undefined;
  }

  /** Whether the variables of a request are those that a chunk of the job gives this engine. */
  #hasVariables({ template, context, chunk }: ControlMethods['file.render']): boolean {
    if (!isPlainDict(chunk) || !isPlainDict(context)) return false;
    const isPlainChunk = Object.entries(chunk).every(
      ([key, value]) => chunkVariables.has(key) && typeof value !== 'object',
    );
    return isPlainChunk && this.#variables.has(variablesKey(template, context));
  }

  /** Whether a template lies below a folder that the job names for this engine (`file.recurse`). */
  #isBelow(template: string, source: string): boolean {
    const path = clean(source) ?? '';
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (this.#templates.has(`${template} ${path.slice(0, at)}`)) return true;
    return false;
  }

  /** Whether the job names anything in this environment. */
  allowsEnv(saltenv: string): boolean {
    return this.#envs.has(saltenv);
  }

  /** Whether the job names this file, or a folder above it, in this environment. */
  allows(path: string, saltenv: string): boolean {
    const wanted = clean(path);
    if (wanted === undefined || !this.#envs.has(envOf(path, saltenv))) return false;
    if (this.#named.has(wanted) || this.#named.has('')) return true;
    for (let at = wanted.lastIndexOf('/'); at > 0; at = wanted.lastIndexOf('/', at - 1))
      if (this.#named.has(wanted.slice(0, at))) return true;
    return false;
  }
}

/** What templates of file states see of their chunk; modules send it as the state was given it. */
const chunkVariables = new Set(['attrs', 'group', 'mode', 'name', 'source', 'user']);

/** `defaults` and `context` of a chunk, as file states lay them over each other. */
const variablesOf = ({ defaults, context }: LowChunk): PlainDict =>
  mergeDicts(
    isPlainDict(defaults) ? defaults : undefined,
    isPlainDict(context) ? context : undefined,
  );

/** Lines that other states accumulate are added on the host. */
const variablesKey = (template: string, context: PlainDict): string => {
  const { accumulator: _, ...rest } = context;
  return prefetchKey({ template, context: rest, source: '', saltenv: '', chunk: {} });
};

const chosenEngine = ({ __sls__, __id__ }: LowChunk, template: string): TsaltError =>
  new TsaltError(
    'template-tainted',
    `The host chose the template engine ${shown(template)} of ID '${__id__}' in SLS '${__sls__}'.`,
    { kind: 'render', hint: 'Write the engine into the SLS: `- template: jinja`.' },
  );

const saltUrls = /salt:\/\/[^\s'"<>,;]+/g;

/** The engine of a chunk's templates; some states have one without being told. */
const templateOf = ({ state, fun, template }: LowChunk): string | undefined =>
  typeof template === 'string'
    ? template
    : template === undefined && state === 'file' && rendersSources.has(fun)
      ? 'jinja'
      : undefined;

const rendersSources = new Set(['append', 'prepend', 'blockreplace']);

const sandboxed = ['jinja', 'liquid'];

/** The sources in an item of a `source` argument, which may carry its hash beside it. */
const namesOf = (item: Plain | undefined): string[] =>
  typeof item === 'string' ? [item] : isPlainDict(item) ? Object.keys(item) : [];

/** A source that is not in the file roots: on the host, or in the web. */
const isElsewhere = (source: string): boolean =>
  source.startsWith('/') || /^(?!salt:)[a-z][a-z0-9+.-]*:\/\//i.test(source);

const textKey = (template: string, text: string): string =>
  `${template}\0${createHash('sha256').update(text.trimEnd()).digest('hex')}`;

const contentsOf = ({ contents }: LowChunk): string[] =>
  Array.isArray(contents)
    ? [contents.map(String).join('\n')]
    : contents === undefined || contents === null
      ? []
      : [String(contents)];

/** `contents_pillar`: the host gets the value from here, and has it rendered here. */
const contentsFromPillar = (
  { contents_pillar, contents_delimiter }: LowChunk,
  pillar: Dict,
): string[] => {
  if (contents_pillar === undefined || contents_pillar === null) return [];
  const between = typeof contents_delimiter === 'string' ? contents_delimiter : ':';
  const lines = [contents_pillar].flat().flatMap(key => {
    const value = traverse(pillar, String(key), between);
    return value === missing ? [] : [value].flat().map(pyStr);
  });
  return [lines.join('\n')];
};

/** A path inside the roots in its one spelling; undefined for one that leads out of them. */
const clean = (path: string): string | undefined => {
  const bare = parseSaltUrl(path).path;
  if (bare.includes('\0') || posix.isAbsolute(bare)) return undefined;
  const normal = posix.normalize(bare).replace(/\/$/, '');
  return normal === '..' || normal.startsWith('../') ? undefined : normal === '.' ? '' : normal;
};

const envOf = (path: string, saltenv: string): string => parseSaltUrl(path).saltenv ?? saltenv;

/** What a host sent, for a message: it may be of any length, and steer a terminal. */
const shown = (text: string): string => readable(text, 300);

/**
 * Handlers of the file requests of one host. `refuse` ends the host's run; `check` throws for a
 * template whose engine does not exist, which is a fault of its state alone.
 */
export const fileHandlers = ({
  roots,
  refs,
  render,
  check,
  refuse,
}: {
  roots: FileRoots;
  refs: FileRefs;
  render: TemplateRenderer;
  check: (request: ControlMethods['file.render']) => void;
  refuse: (error: TsaltError) => void;
}): Record<string, Handler> => {
  const allowed = (path: string, saltenv: string): void => {
    if (refs.allows(path, saltenv)) return;
    const error = new TsaltError(
      'file-refused',
      `The host asked for ${shown(path.replace(/^(?!salt:\/\/)/, 'salt://'))}, which its job does not name.`,
      {
        kind: 'host',
        hint: 'If a custom module computes this path, name it in extra_filerefs in tsalt.yaml.',
      },
    );
    refuse(error);
    throw error;
  };
  return {
    'file.get': async (said: unknown) => {
      const { path, saltenv, have, peek } = readGet(said);
      allowed(path, saltenv);
      const found = roots.find(path, saltenv);
      if (!found) return { found: false } satisfies FileAnswer;
      refs.follow(path, () => roots.read(path, saltenv));
      const sha256 = await roots.hash(path, saltenv);
      const answer = {
        found: true,
        sha256,
        size: found.size,
        mode: found.mode,
      } satisfies FileAnswer;
      return have === sha256 || peek
        ? { ...answer, same: true }
        : new WithContent(answer, roots.stream(path, saltenv));
    },
    'file.list': async (said: unknown) => {
      const { path, saltenv } = readList(said);
      allowed(path, saltenv);
      const folder = clean(path) ?? '';
      return roots
        .list(envOf(path, saltenv))
        .filter(file => folder === '' || file.startsWith(`${folder}/`))
        .map(file => (folder === '' ? file : file.slice(folder.length + 1)));
    },
    'file.render': async (said: unknown) => {
      const request = readRender(said);
      const trust = refs.templateTrust(request);
      if (!trust) {
        check(request);
        const what = request.text === undefined ? shown(request.source) : 'a text of its own';
        const error = new TsaltError(
          'template-refused',
          `The host asked to render ${what} by ${shown(request.template)}, which its job does not name.`,
          {
            kind: 'host',
            hint: 'Put the template into the file roots and name it as salt:// source; texts from elsewhere are rendered by jinja and liquid only.',
          },
        );
        refuse(error);
        throw error;
      }
      const text = await templateText(request, { roots, allowed, render, trust });
      if (text === undefined) return { found: false } satisfies FileAnswer;
      const bytes = Buffer.from(text, 'utf8');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const answer = { found: true, sha256, size: bytes.length } satisfies FileAnswer;
      return request.have === sha256 ? { ...answer, same: true } : new WithContent(answer, bytes);
    },
  };
};

/** The rendered text of a template request; undefined when its source is not there. */
export const templateText = async (
  request: ControlMethods['file.render'],
  {
    roots,
    allowed,
    render,
    trust,
  }: {
    roots: FileRoots;
    allowed: (path: string, saltenv: string) => void;
    render: TemplateRenderer;
    trust: TemplateTrust;
  },
): Promise<string | undefined> => {
  if (request.text !== undefined)
    return render(request, request.text, String(request.chunk.name ?? 'contents'), trust);
  allowed(request.source, request.saltenv);
  const found = roots.find(request.source, request.saltenv);
  if (!found) return undefined;
  return render(request, roots.read(request.source, request.saltenv), found.path, trust);
};
