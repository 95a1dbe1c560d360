import { after, type Eventual, eachInOrder } from '../after.ts';
import { raise, raiseRuntime, type TemplateSource } from '../jinja-error.ts';
import type { Statement } from '../syntax/ast.ts';
import { equal, isTruthy } from '../values/compare.ts';
import { itemsOf } from '../values/iterate.ts';
import { orElse } from '../values/or-else.ts';
import { type Args, Callable, Thing, tuple, type Value } from '../values/value.ts';
import { type Assign, compileTarget } from './assign.ts';
import { type Evaluate, type Execute, OutputBuffer, type Signal } from './execute.ts';
import { compileExpression } from './expressions.ts';
import type { Scope } from './frame.ts';
import type { Run } from './run.ts';

type Code = {
  readonly assign: Assign;
  readonly test: Evaluate | undefined;
  readonly isRecursive: boolean;
  readonly body: Execute;
  readonly otherwise: Execute;
};

/** `{% for %}` */
export const compileFor = (
  node: Extract<Statement, { type: 'For' }>,
  source: TemplateSource,
  compileBody: (body: readonly Statement[]) => Execute,
): Execute => {
  const items = compileExpression(node.items, source);
  const spot = { source, line: node.line };
  const code: Code = {
    assign: compileTarget(node.target, source),
    test: node.test && compileExpression(node.test, source),
    isRecursive: node.isRecursive,
    body: compileBody(node.body),
    otherwise: compileBody(node.otherwise),
  };
  return (frame, out) =>
    after(items(frame), value => {
      frame.run.spot = spot;
      const list = itemsOf(value);
      frame.run.tracking?.spread(value, list);
      return loopOver(code, list, frame, out, 0);
    });
};

const loopOver = (
  code: Code,
  items: Value[],
  frame: Scope,
  out: OutputBuffer,
  depth: number,
): Eventual<Signal | undefined> =>
  after(kept(code, items, frame), list => {
    const loop = new Loop(code, list, frame, depth);
    const done = eachInOrder<Value, Signal>(list, (item, index) => {
      frame.run.step();
      loop.index = index;
      const inner = frame.inner();
      code.assign(inner, item);
      inner.set('loop', loop);
      return after(code.body(inner, out), signal =>
        signal === 'break' ? signal : after(frame.run.breathe(), () => undefined),
      );
    });
    return after(done, () => (loop.index < 0 ? code.otherwise(frame.inner(), out) : undefined));
  });

/** Returns the items that pass the loop's `if`. */
const kept = ({ test, assign }: Code, items: Value[], frame: Scope): Eventual<Value[]> => {
  if (!test) return items;
  const passed: Value[] = [];
  const done = eachInOrder<Value, never>(items, item => {
    frame.run.step();
    const inner = frame.inner();
    assign(inner, item);
    return after(test(inner), value => {
      if (isTruthy(value)) passed.push(item);
      return undefined;
    });
  });
  return after(done, () => passed);
};

/** The variable `loop`. */
class Loop extends Thing {
  override readonly typeName = 'LoopContext';
  index = -1;
  readonly #code: Code;
  readonly #items: Value[];
  readonly #frame: Scope;
  readonly #depth: number;
  #last: Value | undefined;

  constructor(code: Code, items: Value[], frame: Scope, depth: number) {
    super();
    this.#code = code;
    this.#items = items;
    this.#frame = frame;
    this.#depth = depth;
  }

  override get isCallable(): boolean {
    return true;
  }

  override attribute(name: string): Value | undefined {
    const { index } = this;
    const { length } = this.#items;
    switch (name) {
      case 'index':
        return index + 1;
      case 'index0':
        return index;
      case 'revindex':
        return length - index;
      case 'revindex0':
        return length - index - 1;
      case 'first':
        return index === 0;
      case 'last':
        return index === length - 1;
      case 'length':
        return length;
      case 'depth':
        return this.#depth + 1;
      case 'depth0':
        return this.#depth;
      case 'previtem':
        return this.#neighbour(index - 1, 'there is no previous item');
      case 'nextitem':
        return this.#neighbour(index + 1, 'there is no next item');
      case 'cycle':
        return new Callable('cycle', ({ list }) => {
          if (list.length === 0) return raise('no items for cycling given');
          return list[index % list.length] ?? null;
        });
      case 'changed':
        return new Callable('changed', ({ list }) => this.#changed(tuple(list)));
    }
    return undefined;
  }

  #neighbour(index: number, reason: string): Value {
    return orElse<Value>(this.#items[index], () => this.#frame.run.undefined(reason));
  }

  #changed(values: Value): boolean {
    const isChanged = this.#last === undefined || !equal(this.#last, values);
    this.#last = values;
    return isChanged;
  }

  /** `loop(items)`: runs the loop again, for a branch of a tree. */
  override call({ list: [items = null] }: Args, run: Run): Eventual<Value> {
    if (!this.#code.isRecursive)
      return raiseRuntime(
        "The loop must have the 'recursive' marker enabled to be called recursively.",
      );
    const out = new OutputBuffer(run);
    const { spot } = run;
    const depth = run.callers.length;
    const values = itemsOf(items);
    run.tracking?.spread(items, values);
    run.enter();
    const { index } = this;
    return after(loopOver(this.#code, values, this.#frame, out, this.#depth + 1), () => {
      run.leave(depth, spot);
      this.index = index;
      return out.capture();
    });
  }

  override text(): string {
    return `<LoopContext ${this.index + 1}/${this.#items.length}>`;
  }
}
