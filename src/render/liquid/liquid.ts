import type { Stage } from '../types.ts';
import { drive } from './drive.ts';
import { engineFor } from './engine.ts';
import { liquidFault } from './fault.ts';
import { setStage } from './stage.ts';
import { wrap } from './wrap.ts';

/** Liquid with Salt's variables, filters and tags; awaits what it asks of the host. */
export const renderLiquid = async (text: string, stage: Stage): Promise<string> => {
  if (!text.includes('{{') && !text.includes('{%')) return text;
  const { request, variables } = stage;
  const tplfile = String(variables.get('tplfile') ?? request.file);
  const { liquid, parse, fileOf } = engineFor(request.context.files, request.saltenv);
  try {
    const templates = parse(text, tplfile);
    const globals = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of variables) globals[String(name)] = wrap(value);
    setStage(globals, stage);
    const steps = liquid._render(templates, Object.create(null), { globals, sync: true });
    return (await drive(steps)) as string;
  } catch (error) {
    throw liquidFault(error, { file: request.file, tplfile, text, fileOf });
  }
};
