import { attributeOf, itemOf } from '../access.ts';
import { after, type Eventual, mapInOrder } from '../after.ts';
import { raiseLimit, type TemplatePosition, type TemplateSource } from '../jinja-error.ts';
import type { JinjaExpression } from '../syntax/ast.ts';
import { assign, isTruthy } from '../values/compare.ts';
import { slice } from '../values/iterate.ts';
import { type BinaryOperator, binary, negative, positive } from '../values/operators.ts';
import { orElse } from '../values/or-else.ts';
import { percentFormat } from '../values/percent.ts';
import { longestText, quoted, textOf } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import { tuple, type Value, type ValueDict } from '../values/value.ts';
import { compileArgs, compileCall } from './calls.ts';
import { compileComparison } from './comparison.ts';
import type { Compile, Evaluate } from './execute.ts';
import type { Scope } from './frame.ts';
import { functionByTaintedName } from './salt-functions.ts';
import type { Tracking } from './taint.ts';

/**
 * Compiles an expression to a function. The function returns the value synchronously unless
 * something has to wait for a host. It records its position before any step that may fail.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of expression
export const compileExpression = (node: JinjaExpression, source: TemplateSource): Evaluate => {
  const spot: TemplatePosition = { source, line: node.line };
  const compile: Compile = part => compileExpression(part, source);
  switch (node.type) {
    case 'Const':
      return () => node.value;
    case 'Name':
      if (node.name === 'self') return frame => frame.get('self') ?? frame.context.self ?? null;
      return frame =>
        orElse(frame.get(node.name), () =>
          frame.run.undefined(`${quoted(node.name)} is undefined`),
        );
    case 'Attribute': {
      const target = compile(node.target);
      return frame => after(target(frame), value => at(frame, spot, attributeOf, value, node.name));
    }
    case 'Item':
      return both(compile(node.target), compile(node.key), (value, key, frame) => {
        const { tracking } = frame.run;
        if (!tracking) return at(frame, spot, itemOf, value, key);
        if (node.key.type !== 'Const') {
          const found = functionByTaintedName(value, key, frame.run);
          if (found !== undefined) return found;
        }
        const result = at(frame, spot, itemOf, value, key);
        tracking.taken(value, result, key);
        return result;
      });
    case 'Slice': {
      const parts = [node.target, node.start, node.stop, node.step].map(part =>
        part ? compile(part) : nothing,
      );
      return frame =>
        after(
          mapInOrder(parts, part => part(frame)),
          ([value = null, start = null, stop = null, step = null]) => {
            frame.run.spot = spot;
            const result = slice(value, start, stop, step);
            frame.run.tracking?.taken(value, result, step === null || step === 1 ? start : step);
            return result;
          },
        );
    }
    case 'Call':
      return compileCall(node, source, compile);
    case 'Filter': {
      const target = node.target ? compile(node.target) : nothing;
      const args = compileArgs(node.args, compile);
      return frame =>
        after(target(frame), value =>
          after(args(frame), given => {
            frame.run.spot = spot;
            return frame.run.filter(node.name)(value, given, frame.run);
          }),
        );
    }
    case 'Test': {
      const target = compile(node.target);
      const args = compileArgs(node.args, compile);
      return frame =>
        after(target(frame), value =>
          after(args(frame), given => {
            frame.run.spot = spot;
            return frame.run.test(node.name)(value, given, frame.run);
          }),
        );
    }
    case 'Not': {
      const operand = compile(node.operand);
      return frame => after(operand(frame), value => !truth(value, frame, spot));
    }
    case 'And':
    case 'Or': {
      const [left, right] = [compile(node.left), compile(node.right)];
      const goesOn = node.type === 'And';
      return frame =>
        after(left(frame), value => (truth(value, frame, spot) === goesOn ? right(frame) : value));
    }
    case 'If': {
      const [test, then] = [compile(node.test), compile(node.chosen)];
      const otherwise = node.otherwise ? compile(node.otherwise) : noElse(node.line);
      return frame =>
        after(test(frame), value => (truth(value, frame, spot) ? then(frame) : otherwise(frame)));
    }
    case 'Compare':
      return compileComparison(node, spot, compile);
    case 'Binary':
      return both(compile(node.left), compile(node.right), (left, right, frame) => {
        frame.run.spot = spot;
        const result = binary(node.operator, left, right);
        if (typeof result === 'string') {
          frame.run.spend(result.length);
          if (frame.run.tracking)
            trackBinary(frame.run.tracking, node.operator, left, right, result);
        }
        return result;
      });
    case 'Sign': {
      const operand = compile(node.operand);
      return frame =>
        after(operand(frame), value => {
          frame.run.spot = spot;
          return node.operator === '-' ? negative(value) : positive(value);
        });
    }
    case 'Concat': {
      const parts = node.parts.map(compile);
      return frame =>
        after(
          mapInOrder(parts, part => part(frame)),
          values => {
            frame.run.spot = spot;
            return concat(values, frame);
          },
        );
    }
    case 'List': {
      const items = node.items.map(compile);
      return frame => mapInOrder(items, item => item(frame));
    }
    case 'Tuple': {
      const items = node.items.map(compile);
      return frame =>
        after(
          mapInOrder(items, item => item(frame)),
          tuple,
        );
    }
    case 'Dict': {
      const pairs = node.pairs.map(([key, value]) => both(compile(key), compile(value), pair));
      return frame =>
        after(
          mapInOrder(pairs, item => item(frame)),
          values => {
            frame.run.spot = spot;
            return toDict(values);
          },
        );
    }
  }
};

const nothing: Evaluate = () => null;

/** Lenient even in strict templates: Jinja prints nothing for `{{ 'a' if false }}`. */
const noElse = (line: number): Evaluate => {
  const where = `the inline if-expression on line ${line}`;
  const reason = `${where} evaluated to false and no else section was defined.`;
  return () => new Undefined(reason, false);
};

const both =
  (
    left: Evaluate,
    right: Evaluate,
    combine: (left: Value, right: Value, frame: Scope) => Eventual<Value>,
  ): Evaluate =>
  frame =>
    after(left(frame), a => after(right(frame), b => combine(a, b, frame)));

const pair = (key: Value, value: Value): Value => tuple([key, value]);

const toDict = (pairs: Value[]): ValueDict => {
  const dict: ValueDict = new Map();
  for (const [key = null, value = null] of pairs as Value[][]) {
    if (typeof key === 'string') dict.set(key, value);
    else assign(dict, key, value);
  }
  return dict;
};

const at = <Key>(
  { run }: Scope,
  spot: TemplatePosition,
  look: (value: Value, key: Key, run: Scope['run']) => Value,
  value: Value,
  key: Key,
): Value => {
  run.spot = spot;
  return look(value, key, run);
};

/** Tracks the result of a text operator. */
const trackBinary = (
  tracking: Tracking,
  operator: BinaryOperator,
  left: Value,
  right: Value,
  result: string,
): void => {
  if (operator === '%' && typeof left === 'string')
    tracking.formatted([left, right], result, onPiece => percentFormat(left, right, onPiece));
  else if (operator === '*') {
    const [text, times] = typeof left === 'string' ? [left, right] : [right, left];
    tracking.concatenated(new Array<Value>(Math.max(0, Number(times))).fill(text), result);
  } else tracking.concatenated([left, right], result);
};

const truth = (value: Value, { run }: Scope, spot: TemplatePosition): boolean => {
  run.spot = spot;
  return isTruthy(value);
};

const concat = (values: Value[], { run }: Scope): string => {
  const { tracking } = run;
  const texts = values.map(textOf);
  const size = texts.reduce((sum, text) => sum + text.length, 0);
  if (size > longestText) raiseLimit('A text grew too long');
  run.spend(size);
  const text = texts.join('');
  tracking?.concatenated(values, text);
  return text;
};
