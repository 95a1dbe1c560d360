import { TsaltError } from '../protocol/error.ts';
import type { Renderer, RenderRequest } from './types.ts';

export type PipeStage = {
  readonly name: string;
  readonly argument: string;
  readonly renderer: Renderer;
  readonly kind: Renderer['kind'];
};

const defaultPipe = 'liquid|yaml';

/** Salt's names from before there were pipes, spelling mistakes of Salt's included. */
const oldNames: ReadonlyMap<string, string> = new Map(
  ['yaml', 'json', 'yamlex'].flatMap(format =>
    ['jinja', 'mako', 'wempy', 'liquid'].map(
      template => [`${format}_${template}`, `${template}|${format}`] as const,
    ),
  ),
);

const shebang = /^#!(?!\/)([^\r\n]*)/;

/** The pipe a text asks for on its first line, `#!jinja|yaml`; a path (`#!/bin/sh`) is none. */
export const shebangOf = (text: string): string | undefined => {
  const found = shebang.exec(text)?.[1]?.trim();
  return found === undefined || found === '' ? undefined : found;
};

/** A renderer by its name. */
export type Lookup = (name: string) => Renderer | undefined;

/**
 * The stages of a request's pipe, checked as a whole: every renderer is known and allowed,
 * each takes what the one before it gives. Nothing has been rendered when this throws.
 *
 * @param wanted what the end of the pipe has to give.
 * @throws TsaltError `pipe-…`
 */
export const pipeOf = (
  request: RenderRequest,
  lookup: Lookup,
  known: () => readonly string[],
  wanted: 'data' | 'text' | 'any',
): PipeStage[] => {
  const first = request.shebang === false ? undefined : shebangOf(request.text);
  const written = first ?? request.pipe ?? defaultPipe;
  const where = { file: request.file, ...(first === undefined ? {} : { line: 1 }) };
  const fail = (code: string, reason: string, hint: string): TsaltError =>
    new TsaltError(code, `The pipe '${written}' makes no sense: ${reason}.`, {
      kind: 'render',
      at: where,
      hint,
    });

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
    if (!isAllowed(request, name))
      throw fail(
        'pipe-disallowed',
        `the renderer '${name}' is disallowed by configuration`,
        'See renderer_whitelist and renderer_blacklist.',
      );
    const kind = renderer.kindWith?.(argument) ?? renderer.kind;
    if (given === 'data' && (kind === 'text' || kind === 'data'))
      throw fail(
        'pipe-order',
        `'${name}' takes text, but '${stages.at(-1)?.name}' before it gives data`,
        `Put '${name}' first: ${suggestion([...stages.map(stage => stage.name)], name)}.`,
      );
    stages.push({ name, argument, renderer, kind });
    if (kind === 'data' || kind === 'any') given = 'data';
  }
  const last = stages.at(-1)?.name ?? '';
  if (wanted === 'data' && given === 'text')
    throw fail(
      'pipe-text',
      `'${last}' at its end gives text, but data is needed`,
      `End it with a format, like '${written}|yaml'.`,
    );
  return stages;
};

/** By `renderer_whitelist` and `renderer_blacklist`. */
export const isAllowed = ({ whitelist, blacklist }: RenderRequest, name: string): boolean =>
  (!whitelist?.length || whitelist.includes(name)) && !blacklist?.includes(name);

const suggestion = (before: readonly string[], name: string): string =>
  `'${[name, ...before].join('|')}'`;

/** The text with an empty line where the shebang stood: line numbers stay. */
export const withoutShebang = (text: string): string =>
  shebangOf(text) === undefined ? text : text.replace(/^[^\r\n]*/, '');
