import { after, type Eventual } from '../after.ts';
import { raiseRuntime, type TemplateSource } from '../jinja-error.ts';
import type { Statement } from '../syntax/ast.ts';
import { quoted } from '../values/text.ts';
import { Callable, Thing, type Value } from '../values/value.ts';
import { type Execute, OutputBuffer, type Signal } from './execute.ts';
import { compileTemplate } from './find-template.ts';
import type { Scope, TemplateContext } from './frame.ts';
import type { BlockBody } from './program.ts';

/** Runs a template, and then the one that it extends, in its context. */
export const runTemplate = (context: TemplateContext, out: OutputBuffer): Eventual<undefined> => {
  addBlocks(context, context.template.blocks);
  context.self = new Self(context);
  return runFrom(context, context.template.execute, out);
};

const runFrom = (
  context: TemplateContext,
  execute: Execute,
  out: OutputBuffer,
): Eventual<undefined> => {
  context.parent = undefined;
  const wasMuted = out.isMuted;
  return after(execute(context.root, out), () => {
    out.isMuted = wasMuted;
    return context.parent ? runFrom(context, context.parent.execute, out) : undefined;
  });
};

const addBlocks = ({ blocks }: TemplateContext, bodies: readonly BlockBody[]): void => {
  for (const body of bodies) {
    const known = blocks.get(body.name);
    if (known) known.push(body);
    else blocks.set(body.name, [body]);
  }
};

type Node<Type> = Extract<Statement, { type: Type }>;

export const compileExtends = (
  { template, line }: Node<'Extends'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  const find = compileTemplate(template, source, spot);
  return (frame, out) =>
    after(find(frame), parent => {
      const { context } = frame;
      if (context.parent) return raiseRuntime('extended multiple times');
      context.parent = parent;
      addBlocks(context, parent.blocks);
      out.isMuted = true;
      return undefined;
    });
};

export const compileBlock = (
  { name, isScoped, line }: Node<'Block'>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line };
  return (frame, out) => {
    if (out.isMuted) return undefined;
    frame.run.spot = spot;
    return runBlock(name, 0, isScoped ? frame : frame.context.root, out);
  };
};

/** Runs a block's body at a level: 0 is the most derived, the next one is that of `super()`. */
const runBlock = (
  name: string,
  level: number,
  outer: Scope,
  out: OutputBuffer,
): Eventual<Signal | undefined> => {
  const bodies = outer.context.blocks.get(name) ?? [];
  const body = bodies[level];
  if (!body) return undefined;
  if (body.isRequired && level === 0)
    return raiseRuntime(`Required block ${quoted(name)} not found`);
  outer.run.step();
  const frame = outer.inner();
  frame.set('super', superOf(name, level + 1, outer, bodies.length));
  outer.run.enterBlock();
  return after(body.execute(frame, out), signal => {
    outer.run.leaveBlock();
    return signal;
  });
};

const superOf = (name: string, level: number, outer: Scope, count: number): Value =>
  level < count
    ? blockFunction(name, level, outer)
    : outer.run.undefined(`there is no parent block called ${quoted(name)}.`);

const blockFunction = (name: string, level: number, outer: Scope): Callable =>
  new Callable(name, (_, run) => {
    const out = new OutputBuffer(run);
    const { spot } = run;
    const depth = run.callers.length;
    run.enter();
    return after(runBlock(name, level, outer, out), () => {
      run.leave(depth, spot);
      return out.capture();
    });
  });

/** `self`: the blocks of the template, to be printed again. */
class Self extends Thing {
  override readonly typeName = 'TemplateReference';
  readonly #context: TemplateContext;

  constructor(context: TemplateContext) {
    super();
    this.#context = context;
  }
  override attribute(name: string): Value | undefined {
    return this.#context.blocks.has(name) ? blockFunction(name, 0, this.#context.root) : undefined;
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'string' ? this.attribute(key) : undefined;
  }
}
