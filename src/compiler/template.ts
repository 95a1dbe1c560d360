import { pyStr } from '../data/python/python-text.ts';
import { splitFunctionName } from '../data/signatures/function-name.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { isFalsy } from './high.ts';
import { copyOf, locationOf, setFile } from './location.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/**
 * Returns high data of a single template that is not an SLS: it cannot be included, and its states
 * have neither an SLS nor order numbers. (salt.state.State.render_template)
 */
export const templateHigh = (
  data: Data,
  name: string,
): { readonly high: Dict; readonly problems: readonly Problem[] } => {
  if (isFalsy(data)) return { high: new Map(), problems: [] };
  if (!isDict(data)) {
    const message = `Template ${name} does not render to a dictionary`;
    return { high: new Map(), problems: [problem(message, undefined)] };
  }
  setFile(data, name);
  const invalid = ['include', 'exclude', 'extends'].find(key => data.has(key));
  if (invalid) {
    const message = `The '${invalid}' declaration found on '${name}' is invalid when rendering single templates`;
    return { high: data, problems: [problem(message, locationOf([data], invalid))] };
  }
  const problems: Problem[] = [];
  const high: Dict = new Map();
  for (const [id, body] of data) high.set(id, declare(id, body, data, name, problems));
  return { high, problems };
};

const declare = (
  id: DataKey,
  body: Data,
  source: Dict,
  name: string,
  problems: Problem[],
): Data => {
  if (typeof body === 'string' && body.includes('.')) {
    const [module, fun] = splitFunctionName(body) as [string, string];
    return new Map([[module, [fun]]]);
  }
  if (!isDict(body)) {
    const message = `ID ${pyStr(id)} in template ${name} is not a dictionary`;
    problems.push(problem(message, locationOf([source], id)));
    return body;
  }
  const copy = copyOf(body);
  setFile(copy, name);
  const modules = new Set<string>();
  for (const key of [...body.keys()].map(pyStr).sort()) {
    const args = body.get(key);
    if (key.startsWith('_')) continue;
    if (args === null) {
      const message =
        `ID '${pyStr(id)}' in template ${name} contains a short declaration (${key}) with a ` +
        'trailing colon. When not passing any arguments to a state, the colon must be omitted.';
      problems.push(problem(message, locationOf([source, body], key)));
    }
    if (!Array.isArray(args)) continue;
    const [module, fun] = splitFunctionName(key);
    if (fun !== undefined && modules.has(module)) {
      const message = `ID '${pyStr(id)}' in template '${name}' contains multiple state declarations of the same type`;
      problems.push(problem(message, locationOf([source, body], key)));
      continue;
    }
    if (fun !== undefined) copy.delete(key);
    copy.set(module, fun === undefined ? [...args] : [...args, fun]);
    modules.add(module);
  }
  return copy;
};
