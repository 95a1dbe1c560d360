import { posix } from 'node:path';
import { rangesOf, type TaintRange } from '../../data/taint.ts';
import { type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { limitsFrom, poolSize, type ScriptLimits } from '../confined/limits.ts';
import { Pool, type ServeWorker, WorkerFailure } from '../confined/pool.ts';
import { pack, unpack } from '../confined/wire.ts';
import { quickjsModule, type Wasm, workerCode } from '../confined/worker-file.ts';
import { renderError } from '../render-error.ts';
import type { Stage } from '../types.ts';
import type { Language } from './compile.ts';
import { offered } from './guest/protocol.ts';
import { isName } from './names.ts';
import type { ScriptJob, ScriptTemplate } from './worker.ts';

type Engine = { readonly language: Language; readonly title: string };

/** Renders Mako's syntax with JavaScript (`mako/mako.ts`) in a sandbox. */
export const renderMako = (text: string, stage: Stage): Promise<string> =>
  runScript({ language: 'mako', title: 'Mako' }, text, stage);

/** Renders Wempy's syntax with JavaScript (`wempy.ts`) in a sandbox. */
export const renderWempy = (text: string, stage: Stage): Promise<string> =>
  runScript({ language: 'wempy', title: 'Wempy' }, text, stage);

/** Variables whose values are not data, or that are second names. */
const further = ['salt', '__salt__', '__grains__', '__pillar__', '__opts__'];

const runScript = async (
  { language, title }: Engine,
  text: string,
  stage: Stage,
): Promise<string> => {
  const { request, guarded } = stage;
  const { file, tplfile } = request;
  const path = String(tplfile ?? stage.variables().get('tplfile') ?? file);
  const scope = new Scope(stage);
  const limits = limitsFrom(request.context.opts);
  const job: ScriptJob = {
    language,
    template: scope.template(file, path, text),
    names: scope.names,
    guarded,
    limits,
  };
  try {
    const [printed, literals] = (await pool.run(job, scope.serve)) as readonly unknown[];
    const result = String(printed);
    notePrinted(result, literalSpans(String(literals)), stage);
    return result;
  } catch (error) {
    throw failure(error, title, { file, text, limits });
  }
};

/** Reads the offsets of the template's own text in a result: alternating beginnings and ends. */
const literalSpans = (written: string): readonly number[] =>
  written === '' ? [] : written.split(',').map(Number);

/**
 * Reports host-supplied strings in a result. The template's own text is not searched: a word such
 * as a grain's name would be found in its code.
 */
const notePrinted = (
  result: string,
  literals: readonly number[],
  { request, printed }: Stage,
): void => {
  const parts = request.context.taint?.partsOf(result) ?? [];
  const found = parts.toSorted((a, b) => a.start - b.start);
  let at = 0;
  const isLiteral = ({ start, end }: TaintRange): boolean => {
    while (at < literals.length && (literals[at + 1] ?? 0) <= start) at += 2;
    return (literals[at] ?? result.length) <= start && end <= (literals[at + 1] ?? 0);
  };
  printed(rangesOf(found.filter(range => !isLiteral(range))));
};

/** The data and calls that the templates of one rendering may use. */
class Scope {
  readonly names: readonly string[];
  readonly #stage: Stage;
  readonly #variables: Dict;
  readonly #sent = new Set<string>();

  constructor(stage: Stage) {
    const { request, variables } = stage;
    this.#stage = stage;
    this.#variables = new Map([
      ...variables(),
      ['__env__', request.saltenv],
      ['__sls__', request.sls ?? ''],
    ]);
    const all = new Set([...[...this.#variables.keys()].map(String), ...further]);
    this.names = [...all].filter(name => isName(name) && !offered.includes(name));
  }

  /**
   * Returns a template with the variables in its text that no earlier one of the rendering used.
   */
  template(file: string, path: string, text: string): ScriptTemplate {
    const variables: Record<string, string> = {};
    for (const [key, value] of this.#variables) {
      const name = String(key);
      if (this.#sent.has(name) || further.includes(name) || !text.includes(name)) continue;
      this.#sent.add(name);
      variables[name] = pack(value);
    }
    return { file, path, text, variables };
  }

  /**
   * Answers calls of the sandbox. They are untrusted: each argument is a string that is parsed as
   * data.
   */
  serve: ServeWorker = async (name, words) => {
    const [first, second, third] = words.map(String);
    const { context } = this.#stage.request;
    if (name === 'find') return this.#find(first ?? '', second ?? '');
    const args = JSON.parse(second ?? '[]') as unknown[];
    const kwargs = unpack(third ?? '{"d":[]}');
    return pack(
      await context.call(
        first ?? '',
        args.map(arg => unpack(JSON.stringify(arg))),
        isDict(kwargs) ? kwargs : new Map(),
      ),
    );
  };

  /** Finds a file of the roots: relative to the template, or else from the top of the roots. */
  #find(path: string, from: string): ScriptTemplate {
    const { context, saltenv } = this.#stage.request;
    const { files } = context;
    const isWhole = path.startsWith('/') || path.startsWith('salt://');
    const beside = posix.join(posix.dirname(from), path);
    const wanted =
      !isWhole && files.find(beside, saltenv) ? beside : path.replace(/^(?:salt:\/\/)?\/*/, '');
    return this.template(path, wanted, files.read(wanted, saltenv));
  }
}

/**
 * Returns the error of a failed rendering: that of one of its calls, or its own with its position.
 */
const failure = (
  error: unknown,
  title: string,
  { file, text, limits }: { file: string; text: string; limits: ScriptLimits },
): unknown => {
  if (!(error instanceof WorkerFailure)) return error;
  const { cause, sent } = error;
  if (cause instanceof TsaltError) return cause;
  const message =
    sent.limit && sent.message === 'time'
      ? `the template computed for more than ${limits.milliseconds / 1000} s (renderer limit)`
      : sent.message;
  return renderError(
    `${title.toLowerCase()}-failed`,
    `${title} error: ${message}`,
    { file: sent.file ?? file, text: sent.text ?? text, line: sent.line },
    {
      cause,
      ...(sent.limit ? { hint: 'See `script_limits` in docs/reference/renderers.md.' } : {}),
    },
  );
};

let wasm: Promise<Wasm> | undefined;
let code: ReturnType<typeof workerCode> | undefined;

/** V8's stack in a worker: it must hold QuickJS's half a megabyte of stack. */
const stackSizeMb = 16;

const pool = new Pool({
  size: poolSize,
  endless: { name: 'Error', message: 'time', limit: true },
  start: async () => {
    wasm ??= quickjsModule();
    code ??= workerCode('script');
    const [built, module] = await Promise.all([code, wasm]);
    return {
      code: built.code,
      options: {
        eval: built.eval,
        workerData: { wasm: module },
        argv: [],
        execArgv: [],
        env: {},
        resourceLimits: { stackSizeMb },
      },
    };
  },
});
