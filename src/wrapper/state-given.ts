import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { compile, compileHigh } from '../compiler/compile.ts';
import { loadRendered } from '../compiler/load.ts';
import { templateHigh } from '../compiler/template.ts';
import { isDict } from '../data/values/value.ts';
import type { WrapperCall } from './define.ts';
import type { Outcome } from './outcome.ts';
import { noDict, runCompiled, withView } from './run-low.ts';
import { compileErrors, compileOptions, required } from './state-call.ts';

/** `state.high`: runs high data from an argument. */
export const high = async (call: WrapperCall): Promise<Outcome> => {
  const data = required(call, 'data', 'state.high');
  if (!isDict(data)) throw noDict('state.high', 'high data');
  return withView(call, view => runCompiled(view, compileHigh(data, compileOptions(call.ctx))));
};

/** `state.template`: runs an SLS file, which may be outside of the roots. */
export const template = async (call: WrapperCall): Promise<Outcome> => {
  const written = String(required(call, 'tem', 'state.template'));
  const path = written.endsWith('.sls') ? written : `${written}.sls`;
  return withView(call, async view => {
    const { ctx } = view;
    const inRoots = await ctx.readFile(path, view.saltenv);
    const content = inRoots ?? readLocal(path);
    if (content === undefined)
      return compileErrors([
        { message: `Specified SLS ${path} on local filesystem cannot be found.` },
      ]);
    const saltenv = view.saltenv ?? '';
    const origin = inRoots === undefined ? undefined : 'user-file';
    const data = await ctx.renderSls(content, path, view.pillar, origin);
    const tree = await loadRendered({ sls: path, saltenv, file: path, data }, view.loader);
    return runCompiled(view, compile(tree, compileOptions(ctx)));
  });
};

/** Reads an absolute path on this machine: the command line's user may read it anyway. */
const readLocal = (path: string): string | undefined =>
  isAbsolute(path) && existsSync(path) ? readFileSync(path, 'utf8') : undefined;

/** `state.template_str`: runs states from a string. */
export const templateStr = async (call: WrapperCall): Promise<Outcome> => {
  const content = String(required(call, 'tem', 'state.template_str'));
  return withView(call, async view => {
    const { ctx } = view;
    const name = '<template-str>';
    const data = await ctx.renderSls(content, name, view.pillar);
    const made = templateHigh(data, name);
    if (made.problems.length > 0) return compileErrors(made.problems);
    return runCompiled(view, compileHigh(made.high, compileOptions(ctx)));
  });
};
