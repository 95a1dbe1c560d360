import { hash } from 'node:crypto';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { FileResponse } from '../../protocol/job.ts';
import { packPieces } from '../../protocol/listed-pieces.ts';
import { type Handler, WithContent } from '../../protocol/peer.ts';
import { isPlainDict, plainText } from '../../protocol/plain.ts';
import type { PrefetchedRender } from '../../protocol/prefetch.ts';
import { readable } from '../../transport/unreachable.ts';
import { hashedPieces, listFolder } from '../prepare/list-folder.ts';
import type { RenderAhead } from '../prepare/prefetch.ts';
import { cleanPath, envOf, type FileRefs } from './file-refs.ts';
import { manyFiles } from './many-files.ts';
import { type RenderRefs, sandboxed, type TemplateTrust } from './render-refs.ts';
import { readComputed, readGet, readList, readRender } from './request-params.ts';

/** Renders a template file's text for the host: `template:` of file states. */
export type TemplateRenderer = (
  request: PrefetchedRender,
  text: string,
  file: string,
  trust?: TemplateTrust,
) => Promise<string>;

/**
 * Escapes and shortens a host-supplied string for a message: it may be long or steer a terminal.
 */
const shown = (text: string): string => readable(text, 300);

/**
 * Makes the handlers for the file requests of one host. `refuse` ends the host's run. `check`
 * throws for a template engine that does not exist, which is an error of that state alone.
 */
export const fileHandlers = ({
  roots,
  refs,
  templates,
  render,
  renderAhead,
  takeKept,
  check,
  computes,
  refuse,
}: {
  roots: FileRoots;
  refs: FileRefs;
  templates: RenderRefs;
  render: TemplateRenderer;
  /** Renders a template before its state runs. The host's responses may change until then. */
  renderAhead: RenderAhead;
  /** Takes a text that was rendered ahead and kept. */
  takeKept: (request: PrefetchedRender, text: string) => string | undefined;
  check: (request: PrefetchedRender) => void;
  /** Whether the user's modules or slots may compute sources and variables on the host. */
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
    request: PrefetchedRender,
    trust: TemplateTrust,
    have: string | undefined,
    isAhead = false,
  ): Promise<FileResponse | WithContent> => {
    const now = isAhead ? renderAhead : render;
    const how: TemplateRenderer =
      trust === 'confined'
        ? render
        : async (asked, template, file) => takeKept(asked, template) ?? now(asked, template, file);
    const text = await templateText(request, { roots, allowed, render: how, trust });
    if (text === undefined) return { found: false };
    const bytes = Buffer.from(text, 'utf8');
    const sha256 = hash('sha256', bytes);
    const answer = { found: true, sha256, size: bytes.length } satisfies FileResponse;
    return have === sha256 ? { ...answer, same: true } : new WithContent(answer, bytes);
  };
  const renderNamed = async (said: unknown): Promise<FileResponse | WithContent> => {
    if (!isReference(said)) throw ended(unknownTemplate());
    const { key, text, accumulator, have, ahead } = readRender(said);
    const found = templates.resolve(key, { text, accumulator }, roots);
    if (!found) throw unknownTemplate();
    if (found.trust) return rendered(found.request, found.trust, have, ahead);
    check(found.request);
    throw new TsaltError(
      'template-refused',
      `A text of the host is not rendered by ${shown(found.request.template)}.`,
      {
        kind: 'host',
        hint: 'Put the template into the file roots and use it as a salt:// source; other texts are rendered by jinja and liquid only.',
      },
    );
  };
  return {
    'file.get': async (said: unknown) => {
      const { path, saltenv, have, peek } = readGet(said);
      allowed(path, saltenv);
      const found = roots.find(path, saltenv);
      if (!found) return { found: false } satisfies FileResponse;
      refs.follow(path, saltenv, () => roots.read(path, saltenv));
      const sha256 = await roots.hash(path, saltenv);
      const answer = {
        found: true,
        sha256,
        size: found.size,
        mode: found.mode,
      } satisfies FileResponse;
      return have === sha256 || peek
        ? { ...answer, same: true }
        : new WithContent(answer, roots.content(path, saltenv));
    },
    'file.list': async (said: unknown) => {
      const { path, saltenv, hashes } = readList(said);
      allowed(path, saltenv);
      const folder = { path: cleanPath(path) ?? '', saltenv: envOf(path, saltenv) };
      return hashes
        ? new WithContent(null, packPieces(hashedPieces(roots, folder)))
        : listFolder(roots, folder);
    },
    'file.getMany': manyFiles({ roots, refs, allowed, renderNamed }),
    'file.render': renderNamed,
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

/** The user's module may have built the path: an error of its state alone. */
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

/** An honest host refers to a template only by its hash. */
const isReference = (said: unknown): boolean =>
  isPlainDict(said) && typeof said.key === 'string' && /^[0-9a-f]{64}$/.test(said.key);

/** Returns the rendered text of a template request; undefined if its source does not exist. */
const templateText = async (
  request: PrefetchedRender,
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
    return render(request, request.text, plainText(request.chunk.name ?? 'contents'), trust);
  allowed(request.source, request.saltenv);
  const found = roots.find(request.source, request.saltenv);
  if (!found) return undefined;
  return render(request, roots.read(request.source, request.saltenv), found.path, trust);
};
