import { excerptOf } from '../data/excerpt.ts';
import { isOverfilled, type Ranges } from '../data/taint.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { customRenderers } from './custom.ts';
import { unguard } from './escape-printed.ts';
import { looksLikeJinja } from './liquid/looks-like-jinja.ts';
import {
  type FindRenderer,
  type PipeStage,
  pipeOf,
  requireAllowed,
  requireUserFile,
} from './pipe.ts';
import { lookupIn, renderersIn } from './renderers.ts';
import { originsOfResult, retraced, traceOf } from './retrace.ts';
import type { Mapping, Origins } from './source-map.ts';
import { fence, unfence } from './taint/fence.ts';
import type { Renderer, RendererTable, RenderRequest, Stage } from './types.ts';
import { templateVariables } from './variables.ts';

/**
 * Renders a text through its whole pipe to data. An empty text is an empty dict.
 *
 * @throws TsaltError `pipe-…` before anything is rendered; else the error of the stage that
 * failed, with file, line and the lines around.
 */
export const render = (request: RenderRequest): Promise<Data> => renderTo('data', request);

/**
 * As `render`, for a value that may also be a string: the pipe may end with a template engine.
 *
 * @throws TsaltError as `render`
 */
export const renderValue = (request: RenderRequest): Promise<Data> => renderTo('any', request);

const renderTo = async (wanted: 'data' | 'any', request: RenderRequest): Promise<Data> => {
  const whole = withoutMark(request);
  if (whole.text.trim() === '') return new Map();
  const renderers = renderersOf(whole);
  const lookup = lookupIn(renderers);
  const stages = pipeOf(whole, lookup, () => renderersIn(renderers), wanted);
  return run(whole, stages, lookup);
};

/**
 * Renders only the template part, for `template:` of file states: `pipe` names one or more template
 * engines. Stages that return data are refused. Line ends of a Windows file are kept.
 *
 * @throws TsaltError as `render`
 */
export const renderText = async (request: RenderRequest): Promise<string> => {
  const given = withoutMark(request);
  const whole = { ...given, shebang: given.shebang ?? false };
  const { text, file } = whole;
  const { stages, lookup } = textStages(whole);
  const result = await run(whole, stages, lookup);
  if (typeof result !== 'string')
    throw new TsaltError('render-no-text', `The pipe '${whole.pipe}' returned no text.`, {
      kind: 'render',
      at: { file },
      hint: '`template:` takes a template engine, such as jinja or liquid.',
    });
  return text.includes('\r\n') && !result.includes('\r\n')
    ? result.replaceAll('\n', '\r\n')
    : result;
};

/**
 * Checks whether the engine exists and the configuration allows it, for any text.
 *
 * @throws TsaltError `pipe-…`
 */
export const checkTextPipe = (request: RenderRequest): void => {
  textStages({ ...request, shebang: request.shebang ?? false, origin: 'user-file' });
};

const textStages = (request: RenderRequest): TextStages => {
  const renderers = renderersOf(request);
  if (lastText && request.shebang === false && isFor(lastText, request, renderers)) return lastText;
  const lookup = lookupIn(renderers);
  const stages = pipeOf(request, lookup, () => renderersIn(renderers), 'text');
  const { pipe, whitelist, blacklist, origin } = request;
  lastText = { pipe, whitelist, blacklist, origin, renderers, stages, lookup };
  return lastText;
};

/** A pipe, and all by which it is checked when a text has no shebang. */
type CheckedPipe = Pick<RenderRequest, 'pipe' | 'whitelist' | 'blacklist' | 'origin'> & {
  readonly renderers: RendererTable;
};

type TextStages = CheckedPipe & {
  readonly stages: readonly PipeStage[];
  readonly lookup: FindRenderer;
};

const isFor = (known: CheckedPipe, request: RenderRequest, renderers: RendererTable): boolean =>
  known.renderers === renderers &&
  known.pipe === request.pipe &&
  known.whitelist === request.whitelist &&
  known.blacklist === request.blacklist &&
  known.origin === request.origin;

/** States often render by one engine in a row. */
let lastText: TextStages | undefined;

/** Returns the user's renderers: those of the request, or else the `_renderers` of the files. */
const renderersOf = ({ renderers, context, saltenv }: RenderRequest): RendererTable =>
  renderers ?? customRenderers(context.files, saltenv);

const withoutMark = (request: RenderRequest): RenderRequest =>
  request.text.startsWith('\ufeff') ? { ...request, text: request.text.slice(1) } : request;

const run = async (
  request: RenderRequest,
  stages: readonly PipeStage[],
  lookup: FindRenderer,
): Promise<Data> => {
  let made: Dict | undefined;
  // Shared texts, and most formats, do not need them.
  const variables = (): Dict => {
    made ??= templateVariables(request);
    return made;
  };
  const inner = (name: string): Renderer => {
    const found = lookup(name);
    if (!found)
      throw new TsaltError('pipe-unknown', `There is no renderer '${name}'.`, {
        kind: 'render',
        at: { file: request.file, line: 1 },
      });
    requireAllowed(request, name);
    requireUserFile(request, name, found);
    return found;
  };
  let value: Data = request.text;
  let tainted = request.context.taint?.of(request.text);
  let origins: Origins;
  let engines = stages.filter(stage => stage.kind === 'text').length;
  const isGuarded = engines > 1;
  for (const { name, argument, renderer, kind } of stages) {
    if (kind === 'text') engines -= 1;
    if ((kind === 'data' || kind === 'any') && typeof value === 'string')
      request.onRendered?.(value);
    if (kind === 'data' && tainted) requireModest(value, tainted, request);
    const guarded = engines > 0;
    let printed: Ranges | undefined | 'unknown' = 'unknown';
    let map: Mapping | undefined;
    let inside: Origins;
    const isFenced = kind === 'text' && tainted !== undefined && typeof value === 'string';
    const input: Data = isFenced && tainted ? fence(String(value), tainted) : value;
    const stage: Stage = {
      name,
      argument,
      request,
      variables,
      guarded,
      tainted,
      printed: ranges => {
        printed = ranges;
      },
      origins,
      mapped: own => {
        map = own;
      },
      traced: own => {
        inside = own;
      },
      renderer: inner,
    };
    try {
      const result = await renderer.render(input, stage);
      if (!traced.has(name) || renderer.evaluates !== undefined)
        request.context.onReads?.(undefined);
      const next = taintOfResult(request, { input, result, before: tainted, printed, isFenced });
      const given = value;
      ({ value, tainted } = next);
      if (isGuarded && typeof value === 'string' && engines === 0) value = unguard(value);
      origins =
        inside ??
        originsOfResult({
          file: request.file,
          input: given,
          result: value,
          before: origins,
          // Fence marks move the offsets in the engine's output.
          map: isFenced ? undefined : map,
        });
    } catch (error) {
      throw named(error, name, stages, request, origins);
    }
  }
  if (typeof value === 'string' && tainted) request.context.taint?.learn(value, tainted);
  const trace = traceOf(origins, request.file);
  if (trace) request.onTrace?.(trace);
  return value;
};

/** Limit of the lines and items of one file's data that a host filled. */
const mostItems = 100_000;

/** @throws TsaltError `render-long` */
const requireModest = (value: Data, tainted: Ranges, request: RenderRequest): void => {
  if (typeof value !== 'string' || !isOverfilled(value, tainted, mostItems)) return;
  throw new TsaltError(
    'render-long',
    `What ${request.context.taint?.owner} sent fills more than ${mostItems} lines or items of this file.`,
    {
      kind: 'render',
      at: { file: request.file },
      hint: 'Print less of what a host sends: let a state read it on the host.',
    },
  );
};

/** Renderers that read no data of a host, or record their reads (`share/share.ts`). */
const traced: ReadonlySet<string> = new Set(
  'jinja liquid yaml yamlex json json5 toml text'.split(' '),
);

/** Returns the result of a stage, with its tainted parts if it is text. */
const taintOfResult = (
  { context: { taint } }: RenderRequest,
  { input, result, before, printed, isFenced }: StageResult,
): { readonly value: Data; readonly tainted: Ranges | undefined } => {
  if (!taint || typeof result !== 'string') return { value: result, tainted: undefined };
  if (result === input && !isFenced) return { value: result, tainted: before };
  // The output of an engine that does not report taint is searched for host-supplied strings.
  const own = printed === 'unknown' ? taint.partsOf(result) : printed;
  if (!isFenced || !before) return { value: result, tainted: own };
  const { text, ranges } = unfence(result, before, own);
  return { value: text, tainted: ranges };
};

type StageResult = {
  readonly input: Data;
  readonly result: Data;
  readonly before: Ranges | undefined;
  readonly printed: Ranges | undefined | 'unknown';
  readonly isFenced: boolean;
};

/**
 * Adds to an error which stage of a pipe failed and, if its lines are not those of the file, which
 * text they refer to.
 */
const named = (
  error: unknown,
  name: string,
  stages: readonly PipeStage[],
  request: RenderRequest,
  origins: Origins,
): TsaltError => {
  const pipe = stages.map(stage => stage.name).join('|');
  if (!(error instanceof TsaltError))
    return new TsaltError(
      'render-failed',
      `The stage '${name}' of '${pipe}' failed: ${messageOf(error)}`,
      { kind: 'render', at: { file: request.file }, cause: error },
    );
  const traced = retraced(error, request.file, origins);
  const { code, message, kind, at, hint, saltText } = traced;
  // A refusal of host-supplied data is reported at the position where the template prints it.
  const isRefusal = code === 'render-tainted' && at?.file === request.file;
  const excerpt =
    traced.excerpt ??
    (isRefusal && at?.line !== undefined ? excerptOf(request.text, at.line) : undefined);
  const index = stages.findIndex(stage => stage.name === name);
  const note = `The stage '${name}' of '${pipe}' failed; its lines are those that '${stages[index - 1]?.name}' returned.`;
  const isLater = origins === 'unknown' && excerpt !== undefined && at?.file === request.file;
  const hints = [hint, isLater ? note : undefined, jinjaHint(request, stages)].filter(Boolean);
  if (hints.length === (hint === undefined ? 0 : 1) && excerpt === traced.excerpt) return traced;
  return new TsaltError(code, message, {
    kind,
    at,
    excerpt,
    saltText,
    cause: error,
    hint: hints.join('\n'),
  });
};

/** Salt users expect Jinja, but files without a shebang are Liquid by default. */
const jinjaHint = ({ text }: RenderRequest, stages: readonly PipeStage[]): string | undefined => {
  if (stages.every(stage => stage.name !== 'liquid') || !looksLikeJinja(text)) return undefined;
  return stages.every(({ kind }) => kind === 'text')
    ? 'This looks like Jinja: write `- template: jinja` into the state.'
    : 'This looks like Jinja: write `#!jinja|yaml` as its first line, or `renderer: jinja|yaml` into tsalt.yaml for all SLS.';
};
