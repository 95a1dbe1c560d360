import { shareText } from '../share/share.ts';
import type { Stage } from '../types.ts';
import { engineFor } from './engine.ts';
import { liquidError } from './liquid-error.ts';
import { fileIn, mapsOf } from './origins.ts';
import { setStage } from './stage.ts';
import { tableOf } from './tracking.ts';
import { trampoline } from './trampoline.ts';
import { Views, wrap } from './wrap.ts';

/** Renders Liquid with Salt's variables, filters and tags; awaits calls to the host. */
export const renderLiquid = async (text: string, stage: Stage): Promise<string> => {
  if (text.includes('{{') || text.includes('{%'))
    return shareText('liquid', text, stage, renderOwn);
  stage.printed(undefined);
  return text;
};

const renderOwn = async (text: string, stage: Stage): Promise<string> => {
  const { request, recorder } = stage;
  const variables = stage.variables();
  const tplfile = String(variables.get('tplfile') ?? request.file);
  const { liquid, parse, fileOf } = engineFor(request.context.files, request.saltenv);
  try {
    const templates = parse(text, tplfile);
    const globals = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of variables) globals[String(name)] = wrap(value);
    if (recorder) watch(globals, stage, new Views(recorder));
    setStage(globals, stage);
    const steps = liquid._render(templates, Object.create(null), { globals, sync: true });
    const rendered = (await trampoline(steps)) as string;
    stage.printed(tableOf(globals)?.of(rendered));
    const map = mapsOf(globals).known.get(rendered);
    if (map) stage.mapped(map);
    return rendered;
  } catch (error) {
    const { files } = request.context;
    const inRoots = (path: string) => fileIn(files, path, request.saltenv);
    throw liquidError(error, { file: request.file, tplfile, text, fileOf, fileIn: inRoots });
  }
};

/** Wraps data that may differ between hosts in views that report reads to the recorder. */
const watch = (
  globals: Record<string, unknown>,
  { request, variables }: Stage,
  views: Views,
): void => {
  const { grains, pillar, opts } = request.context;
  for (const [name, value] of Object.entries({ grains, pillar, opts }))
    if (variables().get(name) === value) globals[name] = views.of(value);
};
