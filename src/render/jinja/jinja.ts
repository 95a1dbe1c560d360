import { rangesOf } from '../../data/taint.ts';
import type { Data, Dict } from '../../data/values/value.ts';
import { escapePrinted } from '../escape-printed.ts';
import type { Recorder } from '../share/recorder.ts';
import { shareText } from '../share/share.ts';
import { TaintTable } from '../taint/taint-table.ts';
import type { Stage } from '../types.ts';
import { filters } from './filters/filters.ts';
import { makeGlobals } from './globals.ts';
import { reportJinjaError } from './report.ts';
import { compileSource } from './run/compile.ts';
import { copyOfConstant } from './run/copy-on-read.ts';
import { Deferred, type Names } from './run/deferred.ts';
import { OutputBuffer } from './run/execute.ts';
import { TemplateContext } from './run/frame.ts';
import { runTemplate } from './run/inherit.ts';
import { jinjaLimitsFrom } from './run/limits.ts';
import { templateLoader } from './run/loader.ts';
import type { JinjaProgram } from './run/program.ts';
import { Run } from './run/run.ts';
import { hostCaller, SaltObject } from './run/salt-functions.ts';
import { syntaxFrom } from './syntax/options.ts';
import { tests } from './tests.ts';
import { isTruthy } from './values/compare.ts';
import { Callable, markPillar, Thing, type Value, type ValueDict } from './values/value.ts';

/**
 * Renders Jinja as Salt does: Jinja2's language with Python's values, Salt's globals, filters,
 * tests and tags. Calls to the host are awaited.
 *
 * @throws TsaltError `jinja-…` with the template, line, excerpt, and call stack.
 */
export const renderJinja = (text: string, stage: Stage): Promise<string> =>
  shareText('jinja', text, stage, renderOwn);

const renderOwn = async (text: string, stage: Stage): Promise<string> => {
  const { request, recorder } = stage;
  const variables = stage.variables();
  const { context, saltenv, file } = request;
  // The copy is for the recorder, which has to know of each read.
  const opts = recorder ? (copyOfConstant(context.opts, recorder) as Dict) : context.opts;
  const run = new Run({
    limits: jinjaLimitsFrom(opts),
    isStrict: !isTruthy(opts.get('allow_undefined') ?? null),
    filters,
    tests,
    call: hostCaller(context.call),
    taint: context.taint && new TaintTable(context.taint.owner, context.taint),
    livesHere: context.livesHere,
  });
  try {
    const syntax = syntaxFrom(opts, isSls(variables));
    const name = String(variables.get('tplfile') ?? file);
    const source = { name, file, text, isMain: true };
    const template = compileSource(source, syntax);
    const given = makeGlobals();
    addNames(given, variables, stage);
    given.set('show_full_context', new Callable('show_full_context', () => shown(main)));
    // Most templates load no other one, whose names would be added to a copy.
    let copy: Names | undefined;
    const globals = (): Names => {
      copy ??= new Map(given);
      return copy;
    };
    const load = templateLoader({ files: context.files, saltenv, syntax, globals, recorder });
    const program: JinjaProgram = { run, globals, load, modules: new Map() };
    const main: TemplateContext = new TemplateContext(template, program, given);
    const out = new OutputBuffer(run, stage.guarded ? escapePrinted : undefined);
    await runTemplate(main, out);
    stage.printed(rangesOf(out.tainted));
    stage.mapped(out.map);
    return text.endsWith('\n') && !syntax.keepTrailingNewline ? `${out.all}\n` : out.all;
  } catch (error) {
    throw reportJinjaError(error, run, { file, text });
  }
};

const isSls = (variables: Dict): boolean => Boolean(variables.get('sls'));

/** Adds the variables of the stage, which are copied on first access, for one template. */
const addNames = (names: Names, variables: Dict, { request, recorder }: Stage): void => {
  const { grains, pillar, opts } = request.context;
  // Entries of a loop would be objects, for each template of each state.
  variables.forEach((value, name) => {
    const isWatched = value === grains || value === pillar || value === opts;
    names.set(String(name), own(value, isWatched ? recorder : undefined, value === pillar));
  });
  if (!variables.has('salt')) names.set('salt', new SaltObject());
};

const own = (value: Data, recorder: Recorder | undefined, isPillar: boolean): Value | Deferred => {
  if (typeof value !== 'object' || value === null) return value;
  return new Deferred(() => {
    const copy = copyOfConstant(value, recorder);
    return isPillar ? markPillar(copy) : copy;
  });
};

/** `show_full_context()`: returns the variables that are data. */
const shown = (context: TemplateContext): ValueDict => {
  const all: ValueDict = new Map();
  for (const [name, given] of context.root.all()) {
    const value = given instanceof Deferred ? given.value : given;
    if (!(value instanceof Thing)) all.set(name, value);
  }
  return all;
};
