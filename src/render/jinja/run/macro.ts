import { after, type Eventual, eachInOrder } from '../after.ts';
import { raise, type TemplateSource } from '../jinja-error.ts';
import type { JinjaExpression, MacroSignature, Statement } from '../syntax/ast.ts';
import { quoted } from '../values/text.ts';
import { type Args, Thing, tuple, type Value } from '../values/value.ts';
import { type Evaluate, type Execute, OutputBuffer } from './execute.ts';
import { compileExpression } from './expressions.ts';
import type { Scope } from './frame.ts';
import type { Run } from './run.ts';

/** A macro's compiled head and body, to be bound to the scope of its definition. */
export type MacroCode = {
  readonly name: string;
  readonly params: readonly string[];
  readonly defaults: readonly Evaluate[];
  readonly uses: ReadonlySet<string>;
  readonly execute: Execute;
};

export const macroCode = (
  name: string,
  { params, defaults }: MacroSignature,
  body: readonly Statement[],
  execute: Execute,
  source: TemplateSource,
): MacroCode => ({
  name,
  params,
  defaults: defaults.map(item => compileExpression(item, source)),
  uses: usedNames([body, defaults]),
  execute,
});

const special = ['caller', 'kwargs', 'varargs'];

/** Finds the special variables of a macro that its body uses. */
const usedNames = (tree: unknown): Set<string> => {
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { type, name } = part as Partial<JinjaExpression & { name: string }>;
    if (type === 'Name' && name !== undefined && special.includes(name)) used.add(name);
    for (const value of Object.values(part)) visit(value);
  };
  visit(tree);
  return used;
};

/** A macro, bound to the variables around its definition. */
export class Macro extends Thing {
  override readonly typeName = 'Macro';
  readonly #code: MacroCode;
  readonly #frame: Scope;

  constructor(code: MacroCode, frame: Scope) {
    super();
    this.#code = code;
    this.#frame = frame;
  }

  override get isCallable(): boolean {
    return true;
  }

  override attribute(name: string): Value | undefined {
    const { params, uses } = this.#code;
    if (name === 'name') return this.#code.name;
    if (name === 'arguments') return tuple(params);
    if (name === 'catch_kwargs') return uses.has('kwargs');
    if (name === 'catch_varargs') return uses.has('varargs');
    return name === 'caller' ? uses.has('caller') : undefined;
  }

  override text(): string {
    return `<Macro ${quoted(this.#code.name)}>`;
  }

  override call(args: Args, run: Run): Eventual<Value> {
    const { execute } = this.#code;
    const frame = this.#frame.inner();
    const { spot } = run;
    const depth = run.callers.length;
    run.step();
    const bound = this.#bind(args, frame, run);
    const out = new OutputBuffer(run);
    run.enter();
    return after(bound, () =>
      after(execute(frame, out), () => {
        run.leave(depth, spot);
        return out.capture();
      }),
    );
  }

  #bind({ list, named }: Args, frame: Scope, run: Run): Eventual<undefined> {
    const { name, params, defaults, uses } = this.#code;
    const left = new Map(named);
    if (list.length > params.length && !uses.has('varargs'))
      raise(`macro ${quoted(name)} takes not more than ${params.length} argument(s)`);
    params.slice(0, list.length).forEach(param => {
      if (left.has(param))
        raise(`macro ${quoted(name)} got multiple values for argument ${quoted(param)}`);
    });
    const given = params.map((param, index) =>
      index < list.length ? list[index] : takeFrom(left, param),
    );
    this.#bindSpecial(left, list, frame, run);
    const firstDefault = params.length - defaults.length;
    return eachInOrder<string, undefined>(params, (param, index) => {
      const value = given[index];
      const otherwise = defaults[index - firstDefault];
      if (value !== undefined) frame.set(param, value);
      else if (otherwise)
        return after(otherwise(frame), made => {
          frame.set(param, made);
          return undefined;
        });
      else frame.set(param, run.undefined(`parameter ${quoted(param)} was not provided`));
      return undefined;
    });
  }

  #bindSpecial(left: Map<string, Value>, list: readonly Value[], frame: Scope, run: Run): void {
    const { name, params, uses } = this.#code;
    if (uses.has('caller'))
      frame.set('caller', takeFrom(left, 'caller') ?? run.undefined('No caller defined'));
    if (uses.has('kwargs')) frame.set('kwargs', left);
    else
      for (const key of left.keys())
        raise(
          key === 'caller'
            ? `macro ${quoted(name)} was invoked with two values for the special caller argument. This is most likely a bug.`
            : `macro ${quoted(name)} takes no keyword argument ${quoted(key)}`,
        );
    if (uses.has('varargs')) frame.set('varargs', tuple(list.slice(params.length)));
  }
}

const takeFrom = (named: Map<string, Value>, name: string): Value | undefined => {
  const value = named.get(name);
  named.delete(name);
  return value;
};
