import { TsaltError } from '../../../protocol/error.ts';
import { JsonReader } from '../../json-reader.ts';
import { loadTaintedJson, loadTaintedYaml } from '../../taint/load-tainted.ts';
import type { TaintSource } from '../../taint/taint-table.ts';
import { raiseRuntime } from '../fault.ts';
import type { DataFormat } from '../syntax/ast.ts';
import type { Value } from '../values/value.ts';

/**
 * What `load_*` and `import_*` make of a text.
 *
 * @param taint what is known of the host's data.
 */
export const loadData = (format: DataFormat, text: string, taint?: TaintSource): Value => {
  if (format === 'text') return text;
  return format === 'yaml' ? readYaml(text, taint) : readJson(text, taint);
};

const readYaml = (text: string, taint: TaintSource | undefined): Value => {
  try {
    return loadTaintedYaml(text, taint, { file: 'yaml' });
  } catch (error) {
    if (!(error instanceof TsaltError) || error.code === 'render-tainted') throw error;
    return raiseRuntime(
      [`Encountered error loading yaml: ${error.message}`, error.excerpt]
        .filter(Boolean)
        .join('\n'),
    );
  }
};

const readJson = (text: string, taint: TaintSource | undefined): Value => {
  try {
    return loadTaintedJson(text, taint, 'json', json => new JsonReader(json).read());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return raiseRuntime(`Unable to load json from ${text}`);
  }
};
