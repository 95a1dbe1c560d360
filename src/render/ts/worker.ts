import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import type { Dict } from '../../data/values/value.ts';
import type { SentError } from '../confined/messages.ts';
import { thrownText } from '../confined/thrown.ts';
import { pack, unpack } from '../confined/wire.ts';
import { computes, serveRuns, type WorkerRun } from '../confined/worker-side.ts';
import { fromJs, toJs } from '../js-value.ts';
import { contextOf } from './context.ts';
import * as api from './sls-api.ts';

/** A user's module, bundled into one text. */
export type ModuleProgram = {
  /** Equal modules have equal keys. */
  readonly key: string;
  readonly code: string;
  readonly format: 'cjs' | 'esm';
  /** The path as the user knows it, for the stacks of errors. */
  readonly file: string;
  /** Absolute path: modules required at run time are resolved from here. */
  readonly path: string;
};

export type ProgramJob = {
  readonly program: ModuleProgram;
  /** Exports; the first existing one is used. Without any, `missing` is the error. */
  readonly names: readonly string[];
  readonly missing: string;
  /** Whether an export that is not a function is the result itself. */
  readonly mayBeData: boolean;
  readonly variables: Readonly<Record<string, string>>;
  /** The input of a renderer before the variables, packed. */
  readonly input?: string;
  readonly milliseconds: number;
};

type Exports = Readonly<Record<string, unknown>>;

// Bundled modules find `tsalt-ssh/sls` here, and those with a top-level `await` their `require`.
Object.assign(globalThis, { __tsalt_sls__: api, require: createRequire(`${process.cwd()}/x.js`) });

/** A rendering and its remaining milliseconds of computing time. */
type Active = { readonly run: WorkerRun; left: number };

const current = new AsyncLocalStorage<Active>();
const slices: { active: Active; since: number }[] = [];

const enter = (active: Active): void => {
  slices.push({ active, since: performance.now() });
  computes(active.run.id, active.left);
};

const leave = (): void => {
  const slice = slices.pop();
  if (!slice) return;
  slice.active.left -= performance.now() - slice.since;
  const outer = slices.at(-1);
  if (outer) computes(outer.active.run.id, outer.active.left);
  else computes(0, 0);
};

// Code that continues after waiting still belongs to the rendering. Callbacks may be nested.
const entered = new Set<number>();
createHook({
  before: asyncId => {
    const active = current.getStore();
    if (!active) return;
    entered.add(asyncId);
    enter(active);
  },
  after: asyncId => {
    if (entered.delete(asyncId)) leave();
  },
}).enable();

// `import()` in a bundled program uses an API that Node calls experimental, with one warning per
// worker.
const warn = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (...args: unknown[]) => {
  if (!String(args[0]).startsWith('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER')) warn(...args);
};

const loaded = new Map<string, Promise<Exports>>();
const maxLoaded = 500;

const load = (program: ModuleProgram): Promise<Exports> => {
  const known = loaded.get(program.key);
  if (known) return known;
  if (loaded.size >= maxLoaded) loaded.clear();
  const fresh = program.format === 'esm' ? loadModule(program) : loadCommonJs(program);
  loaded.set(program.key, fresh);
  fresh.catch(() => loaded.delete(program.key));
  return fresh;
};

const loadCommonJs = async ({ code, file, path }: ModuleProgram): Promise<Exports> => {
  const module = { exports: {} as Record<string, unknown> };
  const body = compileFunction(code, ['module', 'exports', 'require', '__filename', '__dirname'], {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  body(module, module.exports, createRequire(path), path, dirname(path));
  return module.exports;
};

const loadModule = async ({ code, file }: ModuleProgram): Promise<Exports> => {
  const text = `${code}\n//# sourceURL=${encodeURI(file)}\n`;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
};

const execute = async (run: WorkerRun, job: ProgramJob): Promise<string> => {
  const exports = await load(job.program);
  const main = job.names.map(name => exports[name]).find(value => value !== undefined);
  if (main === undefined || (typeof main !== 'function' && !job.mayBeData)) {
    const error = new Error(job.missing);
    error.name = 'NoExport';
    throw error;
  }
  const context = contextOf(job.variables, (fun, args, kwargs) => ask(run, fun, args, kwargs));
  const given = job.input === undefined ? [context] : [toJs(unpack(job.input)), context];
  // Packed inside, because `__grains__` and the like are readable only here.
  return api.slsStorage.run(context, async () =>
    pack(fromJs(typeof main === 'function' ? await main(...given) : main)),
  );
};

/** Errors of calls, with the number of the call. */
const calls = new WeakMap<object, number>();

const ask = (run: WorkerRun, fun: string, args: Parameters<typeof pack>[0][], kwargs: Dict) =>
  new Promise<ReturnType<typeof unpack>>((resolve, reject) => {
    run.ask('call', [fun, pack(args), pack(kwargs)], ({ call, value, error }) => {
      if (!error) return resolve(unpack(String(value)));
      const thrown = new Error(error.message);
      thrown.name = error.name;
      calls.set(thrown, call);
      reject(thrown);
    });
  });

const sentError = (thrown: unknown): SentError => {
  const call = typeof thrown === 'object' && thrown !== null ? calls.get(thrown) : undefined;
  const isError = thrown instanceof Error;
  return {
    name: isError ? String(thrown.name) : 'Error',
    message: thrownText(thrown),
    ...(isError ? { stack: String(thrown.stack) } : {}),
    ...(call === undefined ? {} : { call }),
  };
};

serveRuns((run, job) => {
  const program = job as ProgramJob;
  const active: Active = { run, left: program.milliseconds };
  current.run(active, () => {
    enter(active);
    execute(run, program).then(
      value => run.done(value),
      thrown => run.failed(sentError(thrown)),
    );
    leave();
  });
});

// A rejection that nothing awaits must not end the renderings of others.
process.on('unhandledRejection', () => undefined);
