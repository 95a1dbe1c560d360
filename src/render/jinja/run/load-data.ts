import { TsaltError } from '../../../protocol/error.ts';
import { loadYaml } from '../../../yaml/load.ts';
import { JsonReader } from '../../json-reader.ts';
import { raiseRuntime } from '../fault.ts';
import type { DataFormat } from '../syntax/ast.ts';
import type { Value } from '../values/value.ts';

/** What `load_*` and `import_*` make of a text. */
export const loadData = (format: DataFormat, text: string): Value => {
  if (format === 'text') return text;
  return format === 'yaml' ? readYaml(text) : readJson(text);
};

const readYaml = (text: string): Value => {
  try {
    return loadYaml(text, { file: 'yaml' });
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    return raiseRuntime(
      [`Encountered error loading yaml: ${error.message}`, error.excerpt]
        .filter(Boolean)
        .join('\n'),
    );
  }
};

const readJson = (text: string): Value => {
  try {
    return new JsonReader(text).read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return raiseRuntime(`Unable to load json from ${text}`);
  }
};
