import { attributeOf, callMethod, methodOf } from '../access.ts';
import { after, type Eventual, mapInOrder } from '../after.ts';
import { raise, type TemplatePosition, type TemplateSource } from '../jinja-error.ts';
import type { CallArgs, CallNode } from '../syntax/ast.ts';
import { itemsOf } from '../values/iterate.ts';
import { quoted, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import { type Args, isMap, noArgs, Thing, type Value } from '../values/value.ts';
import type { Compile, Evaluate } from './execute.ts';
import type { Scope } from './frame.ts';

/** Compiles the arguments of a call, filter or test. */
export const compileArgs = (
  { list, named, more, moreNamed }: CallArgs,
  compile: Compile,
): ((frame: Scope) => Eventual<Args>) => {
  if (list.length === 0 && named.length === 0 && !more && !moreNamed) return () => noArgs;
  const values = list.map(compile);
  const namedValues = named.map(([name, item]) => [name, compile(item)] as const);
  const rest = more && compile(more);
  const restNamed = moreNamed && compile(moreNamed);
  return frame =>
    after(
      mapInOrder(values, item => item(frame)),
      given =>
        after(
          mapInOrder(namedValues, ([, item]) => item(frame)),
          givenNamed => {
            const all = new Map(
              namedValues.map(([name], index) => [name, givenNamed[index] ?? null]),
            );
            if (!rest && !restNamed) return { list: given, named: all };
            return after(rest ? rest(frame) : [], extra =>
              after(restNamed ? restNamed(frame) : new Map(), extraNamed => {
                addNamed(all, extraNamed);
                const items = itemsOf(extra);
                frame.run.tracking?.spread(extra, items);
                return { list: [...given, ...items], named: all };
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

/** Compiles a call; a method is called without being made a value first. */
export const compileCall = (
  { callee, args, line }: CallNode,
  source: TemplateSource,
  compile: Compile,
): Evaluate => {
  const spot = { source, line };
  const given = compileArgs(args, compile);
  if (callee.type === 'Attribute') {
    const target = compile(callee.target);
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
          return callMethod(callee.name, method, value, all, frame.run);
        });
      });
  }
  const called = compile(callee);
  return frame =>
    after(called(frame), value => after(given(frame), all => callValue(value, all, frame, spot)));
};

/** Calls a callable value. */
export const callValue = (
  callee: Value,
  args: Args,
  { run }: Scope,
  spot: TemplatePosition | undefined,
): Eventual<Value> => {
  run.spot = spot;
  if (callee instanceof Thing && (callee.isCallable || callee instanceof Undefined))
    return callee.call(args, run);
  return raise(`'${typeName(callee)}' object is not callable`);
};
