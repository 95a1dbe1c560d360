import { after, type Eventual } from '../after.ts';
import { JinjaFault } from '../fault.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import { textOf } from '../values/text.ts';
import { isMap, type Value } from '../values/value.ts';

/** Asks the host: these filters are about its files and users, not the control node's. */
const ask = (run: Run, fun: string, list: Value[], named = new Map<string, Value>()) =>
  run.call(fun, { list, named });

const asking =
  (fun: string): Operation =>
  (value, { list, named }, run) =>
    ask(run, fun, [value, ...list], new Map(named));

/** False where the host cannot tell. */
const orFalse = async (work: Eventual<Value>, judge: (value: Value) => boolean): Promise<Value> => {
  try {
    return judge(await work);
  } catch (error) {
    if (error instanceof JinjaFault && error.kind === 'call') return false;
    throw error;
  }
};

const sizeIs =
  (test: (size: number) => boolean) =>
  (stats: Value): boolean =>
    isMap(stats) && test(Number(stats.get('size')));

const isText = (content: Value): boolean => !textOf(content).includes('\0');

/** Salt's filters that look at a machine. */
export const hostFilters: Operations = new Map<string, Operation>([
  ['which', asking('cmd.which')],
  ['get_uid', asking('file.user_to_uid')],
  ['file_hashsum', asking('file.get_hash')],
  ['list_files', asking('file.find')],
  ['http_query', asking('http.query')],
  ['dns_check', (value, _, run) => after(ask(run, 'network.dig', [value]), found => found)],
  [
    'is_empty',
    (path, _, run) =>
      orFalse(
        ask(run, 'file.stats', [path]),
        sizeIs(n => n === 0),
      ),
  ],
  ['is_text_file', (path, _, run) => orFalse(ask(run, 'file.read', [path]), isText)],
  [
    'is_bin_file',
    (path, _, run) => orFalse(ask(run, 'file.read', [path]), content => !isText(content)),
  ],
]);
