import { type SourceLocation, TsaltError } from '../../../protocol/error.ts';
import { JsonReader } from '../../json-reader.ts';
import { RenderedText } from '../../source-map.ts';
import { loadTaintedJson, loadTaintedYaml } from '../../taint/load-tainted.ts';
import type { TaintSource } from '../../taint/taint-table.ts';
import { JinjaError, raiseRuntime, type TemplatePosition } from '../jinja-error.ts';
import type { DataFormat } from '../syntax/ast.ts';
import type { Value } from '../values/value.ts';
import type { Run } from './run.ts';

/** Parses a string for `load_*` and `import_*`. */
export const loadData = (format: DataFormat, text: string, run: Run): Value => {
  if (format === 'text') return text;
  const taint = run.tracking?.table;
  return format === 'yaml' ? readYaml(text, taint, run) : readJson(text, taint);
};

const readYaml = (text: string, taint: TaintSource | undefined, run: Run): Value => {
  const map = run.captured.get(text);
  const rendered = map && new RenderedText(text, map, { file: '', text: '', origins: undefined });
  try {
    return loadTaintedYaml(text, taint, { file: 'yaml', trace: rendered?.trace });
  } catch (error) {
    if (!(error instanceof TsaltError) || error.code === 'render-tainted') throw error;
    const reason = `Encountered error loading yaml: ${error.message}`;
    const spot = spotIn(rendered, error.at);
    const shown = [reason, error.excerpt].filter(Boolean).join('\n');
    throw new JinjaError('syntax', spot ? reason : shown, {
      ...(spot ? { spot } : {}),
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      saltSentence: `Jinja syntax error: ${shown}`,
    });
  }
};

/** Returns the template position of an offset in a text that the template printed. */
const spotIn = (
  rendered: RenderedText | undefined,
  at: SourceLocation | undefined,
): TemplatePosition | undefined => {
  if (at?.line === undefined) return undefined;
  const found = rendered?.find({ line: at.line, column: at.column ?? 1 });
  if (found?.place.line === undefined) return undefined;
  const { file, line } = found.place;
  return { source: { name: file, file, text: found.text }, line };
};

const readJson = (text: string, taint: TaintSource | undefined): Value => {
  try {
    return loadTaintedJson(text, taint, 'json', json => new JsonReader(json).read());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return raiseRuntime(`Unable to load json from ${text}`);
  }
};
