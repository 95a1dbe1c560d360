import type { Data } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { messageOf } from './fault.ts';
import { type PipeStage, pipeOf } from './pipe.ts';
import { lookupIn, namesIn } from './renderers.ts';
import type { RenderRequest, Stage } from './types.ts';
import { variablesOf } from './variables.ts';

/**
 * Renders a text through its whole pipe to data. An empty text is an empty dict.
 *
 * @throws TsaltError `pipe-…` before anything is rendered; else the error of the stage that
 * failed, with file, line and the lines around.
 */
export const render = async (request: RenderRequest): Promise<Data> => {
  const whole = withoutMark(request);
  if (whole.text.trim() === '') return new Map();
  const { renderers } = whole;
  const stages = pipeOf(whole, lookupIn(renderers), () => namesIn(renderers), 'data');
  return run(whole, stages);
};

/**
 * The template part alone, for `template:` of file states: `pipe` names one template engine
 * or several. Stages that make data are refused. Line ends of a Windows file stay.
 *
 * @throws TsaltError as `render`
 */
export const renderText = async (request: RenderRequest): Promise<string> => {
  const whole = { shebang: false, ...withoutMark(request) };
  const { renderers, text, file } = whole;
  const stages = pipeOf(whole, lookupIn(renderers), () => namesIn(renderers), 'text');
  const result = await run(whole, stages);
  if (typeof result !== 'string')
    throw new TsaltError('render-no-text', `The pipe '${whole.pipe}' gave no text.`, {
      kind: 'render',
      at: { file },
      hint: '`template:` takes a template engine, such as jinja or liquid.',
    });
  return text.includes('\r\n') && !result.includes('\r\n')
    ? result.replaceAll('\n', '\r\n')
    : result;
};

const withoutMark = (request: RenderRequest): RenderRequest =>
  request.text.startsWith('\ufeff') ? { ...request, text: request.text.slice(1) } : request;

const run = async (request: RenderRequest, stages: readonly PipeStage[]): Promise<Data> => {
  const variables = variablesOf(request);
  let value: Data = request.text;
  for (const { name, argument, renderer } of stages) {
    const stage: Stage = { name, argument, request, variables };
    try {
      value = await renderer.render(value, stage);
    } catch (error) {
      throw named(error, name, stages, request);
    }
  }
  return value;
};

/** In a pipe of several stages the error says which one failed. */
const named = (
  error: unknown,
  name: string,
  stages: readonly PipeStage[],
  request: RenderRequest,
): TsaltError => {
  if (error instanceof TsaltError) return error;
  const pipe = stages.map(stage => stage.name).join('|');
  return new TsaltError(
    'render-failed',
    `The stage '${name}' of '${pipe}' failed: ${messageOf(error)}`,
    { kind: 'render', at: { file: request.file }, cause: error },
  );
};
