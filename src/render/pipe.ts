import { TsaltError } from '../protocol/error.ts';
import type { Renderer, RenderRequest } from './types.ts';

export type PipeStage = {
  readonly name: string;
  readonly argument: string;
  readonly renderer: Renderer;
  readonly kind: Renderer['kind'];
};

const defaultPipe = 'liquid|yaml';

/** Salt's names from before pipes existed, including Salt's spelling mistakes. */
const oldNames: ReadonlyMap<string, string> = new Map(
  ['yaml', 'json', 'yamlex'].flatMap(format =>
    ['jinja', 'mako', 'wempy', 'liquid'].map(
      template => [`${format}_${template}`, `${template}|${format}`] as const,
    ),
  ),
);

const shebang = /^#!(?!\/)([^\r\n]*)/;

/**
 * Returns the pipe on the first line of a text, `#!jinja|yaml`; undefined for a path (`#!/bin/sh`).
 */
export const shebangOf = (text: string): string | undefined => {
  const found = shebang.exec(text)?.[1]?.trim();
  return found === undefined || found === '' ? undefined : found;
};

/** A renderer by its name. */
export type FindRenderer = (name: string) => Renderer | undefined;

/**
 * Returns the stages of a request's pipe, after checking them as a whole: every renderer is known
 * and allowed, and each one accepts the result of the one before. If this throws, nothing has been
 * rendered.
 *
 * @param wanted the kind of result that the pipe must have.
 * @throws TsaltError `pipe-…`
 */
export const pipeOf = (
  request: RenderRequest,
  lookup: FindRenderer,
  known: () => readonly string[],
  wanted: 'data' | 'text' | 'any',
): PipeStage[] => {
  const first = request.shebang === false ? undefined : shebangOf(request.text);
  const written = first ?? request.pipe ?? defaultPipe;
  const fail = failIn(request, written, first !== undefined);

  const parts = (oldNames.get(written.trim()) ?? written).split('|').map(part => part.trim());
  const stages: PipeStage[] = [];
  let given: 'text' | 'data' = 'text';
  for (const part of parts) {
    const [, name = '', argument = ''] = /^(\S*)\s*(.*)$/s.exec(part) ?? [];
    if (name === '')
      throw fail('pipe-empty', 'a stage has no name', 'Write it like `#!jinja|yaml`.');
    const renderer = lookup(name);
    if (!renderer)
      throw fail(
        'pipe-unknown',
        `there is no renderer '${name}'`,
        /^py(dsl|objects)?$/.test(name)
          ? 'Python does not run here; write it as #!ts, in TypeScript.'
          : `Known are ${known().join(', ')}; yours go to _renderers.`,
      );
    requireAllowed(request, name, fail);
    requireUserFile(request, name, renderer);
    if (renderer.evaluates === 'program' && stages.length > 0)
      throw fail(
        'pipe-program',
        `'${name}' runs a file as it is written, but '${stages.at(-1)?.name}' before it changes the text`,
        `Let '${name}' stand alone.`,
      );
    const kind = renderer.kindWith?.(argument) ?? renderer.kind;
    if (given === 'data' && (kind === 'text' || kind === 'data'))
      throw fail(
        'pipe-order',
        `'${name}' takes text, but '${stages.at(-1)?.name}' before it returns data`,
        orderHint(
          stages.map(stage => stage.name),
          name,
          kind,
        ),
      );
    stages.push({ name, argument, renderer, kind });
    if (kind === 'data' || kind === 'any') given = 'data';
  }
  const last = stages.at(-1)?.name ?? '';
  if (wanted === 'data' && given === 'text')
    throw fail(
      'pipe-text',
      `'${last}' at its end returns text, but data is needed`,
      `End it with a format, like '${written}|yaml'.`,
    );
  return stages;
};

const failIn =
  ({ file }: RenderRequest, written: string, isFirstLine = false): Fail =>
  (code, reason, hint) =>
    new TsaltError(code, `The pipe '${written}' makes no sense: ${reason}.`, {
      kind: 'render',
      at: { file, ...(isFirstLine ? { line: 1 } : {}) },
      hint,
    });

type Fail = (code: string, reason: string, hint: string) => TsaltError;

/**
 * Refuses a renderer by `renderer_whitelist` and `renderer_blacklist`.
 *
 * @throws TsaltError `pipe-disallowed`
 */
export const requireAllowed = (
  request: RenderRequest,
  name: string,
  fail: Fail = failIn(request, name),
): void => {
  if (!isAllowed(request, name))
    throw fail(
      'pipe-disallowed',
      `the renderer '${name}' is disallowed by configuration`,
      'See renderer_whitelist and renderer_blacklist.',
    );
};

/**
 * Refuses a renderer that evaluates code unless the text is a whole file of the user.
 *
 * @throws TsaltError `pipe-origin`
 */
export const requireUserFile = (
  { origin, file }: RenderRequest,
  name: string,
  { evaluates }: Renderer,
): void => {
  if (evaluates === undefined || origin === 'user-file') return;
  throw new TsaltError(
    'pipe-origin',
    `The renderer '${name}' runs code, so it renders only files of file_roots, and this text is not one: put it into a file there and name that file (source: salt://…).`,
    { kind: 'render', at: { file } },
  );
};

const isAllowed = ({ whitelist, blacklist }: RenderRequest, name: string): boolean =>
  (!whitelist?.length || whitelist.includes(name)) && !blacklist?.includes(name);

const orderHint = (before: readonly string[], name: string, kind: Renderer['kind']): string =>
  kind === 'text'
    ? `Put '${name}' first: '${[name, ...before].join('|')}'.`
    : `A pipe has one format: leave out '${name}' or '${before.at(-1)}'.`;

/** Returns the text with an empty line for the shebang, so that line numbers stay the same. */
export const withoutShebang = (text: string): string =>
  shebangOf(text) === undefined ? text : text.replace(/^[^\r\n]*/, '');
