import { after, type Eventual } from '../after.ts';
import { JinjaError, type TemplatePosition, type TemplateSource } from '../jinja-error.ts';
import type { Statement } from '../syntax/ast.ts';
import { orElse } from '../values/or-else.ts';
import { quoted } from '../values/text.ts';
import type { Value } from '../values/value.ts';
import { type Execute, OutputBuffer } from './execute.ts';
import { compileTemplate } from './find-template.ts';
import { type Scope, TemplateContext } from './frame.ts';
import { runTemplate } from './inherit.ts';
import { loadData } from './load-data.ts';
import { type JinjaTemplate, Module } from './program.ts';

/** Runs a template inside another one; errors in it include this position. */
const inside = <T>(frame: Scope, spot: TemplatePosition, work: () => Eventual<T>): Eventual<T> => {
  const { run } = frame;
  const depth = run.callers.length;
  run.spot = spot;
  run.enter();
  run.step();
  return after(work(), result => {
    run.leave(depth, spot);
    return result;
  });
};

type Node<Type> = Extract<Statement, { type: Type }>;

export const compileInclude = (
  { template, line, ignoreMissing, withContext }: Node<'Include'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  const find = compileTemplate(template, source, spot);
  const findAny = (frame: Scope): Eventual<JinjaTemplate | undefined> => {
    try {
      return find(frame);
    } catch (error) {
      if (ignoreMissing && error instanceof JinjaError && error.kind === 'missing')
        return undefined;
      throw error;
    }
  };
  return (frame, out) =>
    after(findAny(frame), found => {
      if (!found) return undefined;
      const { program } = frame.context;
      const given = withContext ? frame.all() : new Map(program.globals());
      const context = new TemplateContext(found, program, given);
      return inside(frame, spot, () => after(runTemplate(context, out), () => undefined));
    });
};

/** Returns an imported template's module; imports without context share one. */
const moduleOf = (
  template: JinjaTemplate,
  withContext: boolean,
  frame: Scope,
  spot: TemplatePosition,
): Eventual<Module> => {
  const { program } = frame.context;
  const known = withContext ? undefined : program.modules.get(template);
  if (known) return known;
  const given = withContext ? frame.all() : new Map(program.globals());
  const context = new TemplateContext(template, program, given);
  const out = new OutputBuffer(frame.run);
  return inside(frame, spot, () =>
    after(runTemplate(context, out), () => {
      const exported = [...context.exported].map(
        name => [name, context.root.get(name) ?? null] as const,
      );
      const module = new Module(template.source.name, new Map(exported), out.capture());
      if (!withContext) program.modules.set(template, module);
      return module;
    }),
  );
};

/** Sets a variable that importers of this template do not receive. */
const setPrivate = (frame: Scope, name: string, value: Value): void => {
  frame.set(name, value);
  if (frame.isRoot) frame.context.exported.delete(name);
};

export const compileImport = (
  { template, line, name, withContext }: Node<'Import'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  const find = compileTemplate(template, source, spot);
  return frame =>
    after(find(frame), found =>
      after(moduleOf(found, withContext, frame, spot), module => {
        setPrivate(frame, name, module);
        return undefined;
      }),
    );
};

export const compileFromImport = (
  { template, line, names, withContext }: Node<'FromImport'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  const find = compileTemplate(template, source, spot);
  const place = source.isMain ? `line ${line}` : `line ${line} in ${quoted(source.name)}`;
  return frame =>
    after(find(frame), found =>
      after(moduleOf(found, withContext, frame, spot), module => {
        for (const [name, alias] of names)
          setPrivate(
            frame,
            alias,
            orElse<Value>(module.attribute(name), () =>
              frame.run.undefined(
                `the template ${quoted(found.source.name)} (imported on ${place}) does not export the requested name ${quoted(name)}`,
              ),
            ),
          );
        return undefined;
      }),
    );
};

export const compileImportData = (
  { template, line, name, format, withContext }: Node<'ImportData'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  const find = compileTemplate(template, source, spot);
  return frame =>
    after(find(frame), found =>
      after(moduleOf(found, withContext, frame, spot), module => {
        frame.run.spot = { source: found.source, line: 1 };
        frame.set(name, loadData(format, module.text(), frame.run));
        return undefined;
      }),
    );
};
