import type { SourceMap } from 'node:module';
import { type Data, isDict } from '../../data/values/value.ts';
import type { TsaltError } from '../../protocol/error.ts';
import { limitsFrom, poolSize } from '../confined/limits.ts';
import { Pool, WorkerFailure } from '../confined/pool.ts';
import { pack, unpack } from '../confined/wire.ts';
import { workerCode } from '../confined/worker-file.ts';
import { renderError } from '../render-error.ts';
import type { Stage } from '../types.ts';
import { buildModule } from './build-module.ts';
import type { ProgramJob } from './worker.ts';

type Given = Pick<ProgramJob, 'names' | 'missing' | 'mayBeData' | 'input'> & {
  /** Variables in addition to those of the stage. */
  readonly more?: Readonly<Record<string, Data>>;
  /** The error for a module without any of the expected exports. */
  readonly noExport: TsaltError;
};

/**
 * Runs a user's program (an SLS in TypeScript, a renderer) in a worker thread. It may use all of
 * Node there, and blocks neither other hosts nor signals.
 *
 * @throws TsaltError `ts-syntax`, `ts-failed`, and `noExport`
 */
export const runUserProgram = async (
  text: string,
  file: string,
  stage: Stage,
  { more = {}, noExport, ...given }: Given,
): Promise<Data> => {
  const { program, map } = await buildModule(text, file);
  const { context, sls } = stage.request;
  const variables: Record<string, string> = {};
  for (const [name, value] of [...stage.variables(), ...Object.entries(more)])
    variables[String(name)] = pack(value);
  variables.sls ??= pack(sls ?? '');
  const { milliseconds } = limitsFrom(context.opts);
  const job: ProgramJob = { program, ...given, variables, milliseconds };
  try {
    const packed = await pool.run(job, async (_, words) => {
      const [fun = '', args = '[]', kwargs = '{"d":[]}'] = words.map(String);
      const list = unpack(args);
      const named = unpack(kwargs);
      return pack(
        await context.call(fun, Array.isArray(list) ? list : [], isDict(named) ? named : new Map()),
      );
    });
    return unpack(String(packed));
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error;
    if (error.sent.name === 'NoExport') throw noExport;
    throw failure(error, { file, text, map, milliseconds });
  }
};

type Where = {
  readonly file: string;
  readonly text: string;
  readonly map: SourceMap;
  readonly milliseconds: number;
};

/** Reports an error of the user's code at its own line, never with a stack. */
const failure = (
  { sent, cause }: WorkerFailure,
  { file, text, map, milliseconds }: Where,
): TsaltError => {
  if (sent.limit)
    return renderError(
      'ts-failed',
      `the program computed for more than ${milliseconds / 1000} s (renderer limit)`,
      { file, text },
      { hint: 'See `script_limits` in docs/reference/renderers.md.' },
    );
  const stack = sent.stack ?? '';
  const at = [`${file}:`, `${encodeURI(file)}:`].map(name => {
    const found = stack.indexOf(name);
    return found < 0 ? '' : stack.slice(found + name.length - 1);
  });
  const [, line, column] = /^:(\d+):(\d+)/.exec(at.find(Boolean) ?? '') ?? [];
  const entry = line ? map.findEntry(Number(line) - 1, Number(column) - 1) : undefined;
  const found = entry as { originalLine?: number; originalColumn?: number } | undefined;
  return renderError(
    'ts-failed',
    `${sent.name}: ${sent.message}`,
    { file, text, line: plusOne(found?.originalLine), column: plusOne(found?.originalColumn) },
    { cause },
  );
};

const plusOne = (count: number | undefined): number | undefined =>
  count === undefined ? undefined : count + 1;

let code: ReturnType<typeof workerCode> | undefined;

const pool = new Pool({
  size: poolSize,
  endless: { name: 'Error', message: 'time', limit: true },
  start: async () => {
    code ??= workerCode('program');
    const built = await code;
    return { code: built.code, options: { eval: built.eval, workerData: {} } };
  },
});
