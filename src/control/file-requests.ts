import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { saltRequirementsNamed } from '../data/requirements-files.ts';
import { choosesOnlyNames, type Ranges } from '../data/taint.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import { parseSaltUrl } from '../fileserver/url.ts';
import { TsaltError } from '../protocol/error.ts';
import type { FileAnswer } from '../protocol/job.ts';
import type { LowChunk } from '../protocol/low.ts';
import { type Handler, WithContent } from '../protocol/peer.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import type { RenderRequest } from '../protocol/prefetch.ts';
import { readable } from '../transport/faults.ts';
import { type RenderRefs, sandboxed, type TemplateTrust } from './render-refs.ts';
import { readComputed, readGet, readList, readRender } from './request-params.ts';

/** Renders a template file's text for the host: `template:` of file states. */
export type TemplateRenderer = (
  request: RenderRequest,
  text: string,
  file: string,
  trust?: TemplateTrust,
) => Promise<string>;

/**
 * What a host may fetch. A host is not trusted: it gets the `salt://` paths that its jobs
 * name (and what lies below a folder they name, and what pip's requirements among them name), and
 * those of `extra_filerefs`. Anything else ends its run. A path that holds what the host sent names
 * a file only where that part chooses no more than a name within one segment.
 */
export class FileRefs {
  readonly #taintOf: (text: string) => Ranges | undefined;
  readonly #named = new Set<string>();
  /** Files of pip's requirements: what they name belongs to the job too. */
  readonly #requirements = new Set<string>();
  readonly #envs = new Set(['base']);

  /** @param taintOf the parts of a text that the host sent; by default there are none */
  constructor(taintOf: (text: string) => Ranges | undefined = () => undefined) {
    this.#taintOf = taintOf;
  }

  /** Allows every `salt://` path in these arguments. */
  add(value: Plain | readonly LowChunk[] | PlainDict): void {
    if (typeof value === 'string') {
      if (value.startsWith('salt://')) {
        this.#nameIfChosenHere(value);
        // `cmd.script` has its arguments behind the source.
        const [source = ''] = value.split(/\s/);
        if (source !== value && !this.#taintOf(value)) this.#name(source);
      }
      // A slot calls a function with its arguments in one text.
      else if (value.startsWith('__slot__:') && !this.#taintOf(value))
        for (const [url] of value.matchAll(slotUrls)) this.#name(url);
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

  /** Allows a path that stands in a module of the user; never the whole of the roots. */
  addSource = (url: string): void => {
    if (clean(url)) this.#name(url);
  };

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

/** As `saltUrls`, up to the end of the argument. */
const slotUrls = /salt:\/\/[^\s'"<>,;()]+/g;

const saltUrls = /salt:\/\/[^\s'"<>,;]+/g;

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
  templates,
  render,
  check,
  computes,
  refuse,
}: {
  roots: FileRoots;
  refs: FileRefs;
  templates: RenderRefs;
  render: TemplateRenderer;
  check: (request: RenderRequest) => void;
  /** Whether sources and variables may be computed on the host: by modules of the user, by slots. */
  computes: () => boolean;
  refuse: (error: TsaltError) => void;
}): Record<string, Handler> => {
  const ended = (error: TsaltError): TsaltError => {
    refuse(error);
    return error;
  };
  const allowed = (path: string, saltenv: string): void => {
    if (refs.allows(path, saltenv)) return;
    if (computes()) throw computedPath(path);
    throw ended(
      new TsaltError(
        'file-refused',
        `The host asked for ${shown(path.replace(/^(?!salt:\/\/)/, 'salt://'))}, which its job does not name.`,
        {
          kind: 'host',
          hint: 'If a custom module computes this path, name it in extra_filerefs in tsalt.yaml.',
        },
      ),
    );
  };
  const rendered = async (
    request: RenderRequest,
    trust: TemplateTrust,
    have: string | undefined,
  ): Promise<FileAnswer | WithContent> => {
    const text = await templateText(request, { roots, allowed, render, trust });
    if (text === undefined) return { found: false };
    const bytes = Buffer.from(text, 'utf8');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const answer = { found: true, sha256, size: bytes.length } satisfies FileAnswer;
    return have === sha256 ? { ...answer, same: true } : new WithContent(answer, bytes);
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
      if (!isReference(said)) throw ended(unknownTemplate());
      const { key, text, accumulator, have } = readRender(said);
      const found = templates.resolve(key, { text, accumulator }, roots);
      if (!found) throw unknownTemplate();
      if (found.trust) return rendered(found.request, found.trust, have);
      check(found.request);
      throw new TsaltError(
        'template-refused',
        `A text of the host is not rendered by ${shown(found.request.template)}.`,
        {
          kind: 'host',
          hint: 'Put the template into the file roots and name it as salt:// source; texts from elsewhere are rendered by jinja and liquid only.',
        },
      );
    },
    'file.renderComputed': async (said: unknown) => {
      const request = readComputed(said);
      if (!computes() || !sandboxed.includes(request.template))
        throw new TsaltError(
          'template-refused',
          `No state of this run has the template ${shown(request.source || 'in its contents')} with these arguments.`,
          {
            kind: 'host',
            hint: 'Write source, engine and variables of the template into the SLS.',
          },
        );
      return rendered(request, 'confined', request.have);
    },
  };
};

/** A module of the user may have put the path together: that is an error of its state alone. */
const computedPath = (path: string): TsaltError =>
  new TsaltError(
    'file-refused',
    `${shown(path.replace(/^(?!salt:\/\/)/, 'salt://'))} is named neither by this run nor by a module: write the path as one text into the state or the module, or name it in extra_filerefs in tsalt.yaml`,
    { kind: 'host' },
  );

const unknownTemplate = (): TsaltError =>
  new TsaltError(
    'template-unknown',
    'The host asked to render a template that its job does not name.',
    { kind: 'host' },
  );

/** No honest host names a template by anything but its hash. */
const isReference = (said: unknown): boolean =>
  isPlainDict(said) && typeof said.key === 'string' && /^[0-9a-f]{64}$/.test(said.key);

/** The rendered text of a template request; undefined when its source is not there. */
const templateText = async (
  request: RenderRequest,
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
