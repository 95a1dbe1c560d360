import { attributeOf, itemOf, methodOf } from '../access.ts';
import { after, type Eventual, inTurn, mapInTurn } from '../after.ts';
import { raise, raiseLimit, type Source, type Spot } from '../fault.ts';
import type { CallArgs, CallNode, Comparison, Expression } from '../syntax/ast.ts';
import { assign, compare, equal, isTrue } from '../values/compare.ts';
import { contains, itemsOf, slice } from '../values/iterate.ts';
import { binary, negative, positive } from '../values/operators.ts';
import { orElse } from '../values/or-else.ts';
import { longestText, quoted, textOf, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import {
  type Args,
  isMap,
  noArgs,
  Thing,
  tuple,
  type Value,
  type ValueDict,
} from '../values/value.ts';
import type { Evaluate } from './execute.ts';
import type { Frame } from './frame.ts';
import { SaltFunctions } from './salt-functions.ts';

/**
 * An expression as a function. It gives its value at once unless something in it has to wait
 * for a host. Before what can fail it notes where it stands.
 */
export const compileExpression = (node: Expression, source: Source): Evaluate => {
  const spot: Spot = { source, line: node.line };
  const compile = (part: Expression): Evaluate => compileExpression(part, source);
  switch (node.type) {
    case 'Const':
      return () => node.value;
    case 'Name':
      return frame =>
        orElse(frame.get(node.name), () =>
          frame.run.undefined(`${quoted(node.name)} is undefined`),
        );
    case 'Attribute': {
      const target = compile(node.target);
      return frame => after(target(frame), value => at(frame, spot, attributeOf, value, node.name));
    }
    case 'Item':
      return both(compile(node.target), compile(node.key), (value, key, frame) =>
        at(frame, spot, itemOf, value, key),
      );
    case 'Slice': {
      const parts = [node.target, node.start, node.stop, node.step].map(part =>
        part ? compile(part) : nothing,
      );
      return frame =>
        after(
          mapInTurn(parts, part => part(frame)),
          ([value = null, start = null, stop = null, step = null]) => {
            frame.run.spot = spot;
            return slice(value, start, stop, step);
          },
        );
    }
    case 'Call':
      return compileCall(node, source);
    case 'Filter': {
      const target = node.target ? compile(node.target) : nothing;
      const args = compileArgs(node.args, source);
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
      const args = compileArgs(node.args, source);
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
      const otherwise = node.otherwise ? compile(node.otherwise) : noElse;
      return frame =>
        after(test(frame), value => (truth(value, frame, spot) ? then(frame) : otherwise(frame)));
    }
    case 'Compare':
      return compileComparison(node, source);
    case 'Binary':
      return both(compile(node.left), compile(node.right), (left, right, frame) => {
        frame.run.spot = spot;
        const result = binary(node.operator, left, right);
        if (typeof result === 'string') frame.run.spend(result.length);
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
          mapInTurn(parts, part => part(frame)),
          values => {
            frame.run.spot = spot;
            return concat(values, frame);
          },
        );
    }
    case 'List': {
      const items = node.items.map(compile);
      return frame => mapInTurn(items, item => item(frame));
    }
    case 'Tuple': {
      const items = node.items.map(compile);
      return frame =>
        after(
          mapInTurn(items, item => item(frame)),
          tuple,
        );
    }
    case 'Dict': {
      const pairs = node.pairs.map(([key, value]) => both(compile(key), compile(value), pair));
      return frame =>
        after(
          mapInTurn(pairs, item => item(frame)),
          values => {
            frame.run.spot = spot;
            return toDict(values);
          },
        );
    }
  }
};

const nothing: Evaluate = () => null;

const noElse: Evaluate = frame =>
  frame.run.undefined(
    'the inline if-expression evaluated to false and no else section was defined.',
  );

const both =
  (
    left: Evaluate,
    right: Evaluate,
    combine: (left: Value, right: Value, frame: Frame) => Eventual<Value>,
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
  { run }: Frame,
  spot: Spot,
  look: (value: Value, key: Key, run: Frame['run']) => Value,
  value: Value,
  key: Key,
): Value => {
  run.spot = spot;
  return look(value, key, run);
};

const truth = (value: Value, { run }: Frame, spot: Spot): boolean => {
  run.spot = spot;
  return isTrue(value);
};

const concat = (values: Value[], { run }: Frame): string => {
  const texts = values.map(textOf);
  const size = texts.reduce((sum, text) => sum + text.length, 0);
  if (size > longestText) raiseLimit('A text grew too long');
  run.spend(size);
  return texts.join('');
};

const compileComparison = (
  { first, rest, line }: Extract<Expression, { type: 'Compare' }>,
  source: Source,
): Evaluate => {
  const spot = { source, line };
  const start = compileExpression(first, source);
  const steps = rest.map(
    ([comparison, operand]) => [comparison, compileExpression(operand, source)] as const,
  );
  return frame =>
    after(start(frame), value => {
      let left = value;
      const failed = inTurn(steps, ([comparison, operand]) =>
        after(operand(frame), right => {
          frame.run.spot = spot;
          return after(holds(comparison, left, right, frame), isRight => {
            left = right;
            return isRight ? undefined : true;
          });
        }),
      );
      return after(failed, isFailed => isFailed !== true);
    });
};

const holds = (
  comparison: Comparison,
  left: Value,
  right: Value,
  { run }: Frame,
): Eventual<boolean> => {
  switch (comparison) {
    case '==':
      return equal(left, right);
    case '!=':
      return !equal(left, right);
    case '<':
      return compare(left, right, '<') < 0;
    case '<=':
      return compare(left, right, '<=') <= 0;
    case '>':
      return compare(left, right, '>') > 0;
    case '>=':
      return compare(left, right, '>=') >= 0;
    default: {
      const isIn =
        right instanceof SaltFunctions ? right.has(textOf(left), run) : contains(right, left);
      return comparison === 'in' ? isIn : after(isIn, found => !found);
    }
  }
};

/** The arguments of a call, filter or test. */
export const compileArgs = (
  { list, named, more, moreNamed }: CallArgs,
  source: Source,
): ((frame: Frame) => Eventual<Args>) => {
  if (list.length === 0 && named.length === 0 && !more && !moreNamed) return () => noArgs;
  const values = list.map(item => compileExpression(item, source));
  const namedValues = named.map(([name, item]) => [name, compileExpression(item, source)] as const);
  const rest = more && compileExpression(more, source);
  const restNamed = moreNamed && compileExpression(moreNamed, source);
  return frame =>
    after(
      mapInTurn(values, item => item(frame)),
      given =>
        after(
          mapInTurn(namedValues, ([, item]) => item(frame)),
          givenNamed => {
            const all = new Map(
              namedValues.map(([name], index) => [name, givenNamed[index] ?? null]),
            );
            if (!rest && !restNamed) return { list: given, named: all };
            return after(rest ? rest(frame) : [], extra =>
              after(restNamed ? restNamed(frame) : new Map(), extraNamed => {
                addNamed(all, extraNamed);
                return { list: [...given, ...itemsOf(extra)], named: all };
              }),
            );
          },
        ),
    );
};

const addNamed = (all: Map<string, Value>, extra: Value): void => {
  if (extra instanceof Undefined) extra.raise();
  const dict = isMap(extra)
    ? extra
    : raise(`argument after ** must be a mapping, not ${typeName(extra)}`);
  for (const [key, value] of dict) {
    const name = typeof key === 'string' ? key : raise('keywords must be strings');
    if (all.has(name)) raise(`got multiple values for keyword argument ${quoted(name)}`);
    all.set(name, value);
  }
};

const compileCall = ({ callee, args, line }: CallNode, source: Source): Evaluate => {
  const spot = { source, line };
  const given = compileArgs(args, source);
  if (callee.type === 'Attribute') {
    const target = compileExpression(callee.target, source);
    const targetSpot = { source, line: callee.line };
    return frame =>
      after(target(frame), value => {
        const method = methodOf(value, callee.name);
        if (!method) {
          frame.run.spot = targetSpot;
          const found = attributeOf(value, callee.name, frame.run);
          return after(given(frame), all => callValue(found, all, frame, spot));
        }
        return after(given(frame), all => {
          frame.run.spot = spot;
          return method(value as never, all, frame.run);
        });
      });
  }
  const called = compileExpression(callee, source);
  return frame =>
    after(called(frame), value => after(given(frame), all => callValue(value, all, frame, spot)));
};

/** Calls what can be called. */
export const callValue = (
  callee: Value,
  args: Args,
  { run }: Frame,
  spot: Spot | undefined,
): Eventual<Value> => {
  run.spot = spot;
  if (callee instanceof Thing && (callee.isCallable || callee instanceof Undefined))
    return callee.call(args, run);
  return raise(`'${typeName(callee)}' object is not callable`);
};
