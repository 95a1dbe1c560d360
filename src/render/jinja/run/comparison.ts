import { after, type Eventual, eachInOrder } from '../after.ts';
import type { TemplatePosition } from '../jinja-error.ts';
import type { ComparisonOperator, JinjaExpression } from '../syntax/ast.ts';
import { compare, equal } from '../values/compare.ts';
import { contains } from '../values/iterate.ts';
import { textOf } from '../values/text.ts';
import type { Value } from '../values/value.ts';
import type { Compile, Evaluate } from './execute.ts';
import type { Scope } from './frame.ts';
import { SaltObject } from './salt-functions.ts';

/** Compiles `a < b <= c`: evaluates the parts until one is false. */
export const compileComparison = (
  { first, rest }: Extract<JinjaExpression, { type: 'Compare' }>,
  spot: TemplatePosition,
  compile: Compile,
): Evaluate => {
  const start = compile(first);
  const steps = rest.map(([comparison, operand]) => [comparison, compile(operand)] as const);
  return frame =>
    after(start(frame), value => {
      let left = value;
      const failed = eachInOrder(steps, ([comparison, operand]) =>
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
  comparison: ComparisonOperator,
  left: Value,
  right: Value,
  { run }: Scope,
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
        right instanceof SaltObject ? right.has(textOf(left), run) : contains(right, left);
      return comparison === 'in' ? isIn : after(isIn, found => !found);
    }
  }
};
