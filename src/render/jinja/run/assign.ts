import { raise, raiseRuntime, type TemplateSource } from '../jinja-error.ts';
import type { Target } from '../syntax/ast.ts';
import { itemsIn } from '../values/iterate.ts';
import { quoted, typeName } from '../values/text.ts';
import { Namespace } from '../values/things.ts';
import type { Value } from '../values/value.ts';
import type { Scope } from './frame.ts';

export type Assign = (frame: Scope, value: Value) => void;

/** Compiles the assignment of a value to a variable, to several, or to a namespace. */
export const compileTarget = (target: Target, source: TemplateSource): Assign => {
  switch (target.type) {
    case 'Name':
      return (frame, value) => frame.set(target.name, value);
    case 'Member': {
      const spot = { source, line: target.line };
      return (frame, value) => {
        frame.run.spot = spot;
        const space =
          frame.get(target.name) ??
          frame.run.undefined(`${quoted(target.name)} is undefined`).raise();
        if (!(space instanceof Namespace))
          return raiseRuntime('cannot assign attribute on non-namespace object');
        space.set(target.attribute, value);
      };
    }
    case 'Targets': {
      const parts = target.items.map(item => compileTarget(item, source));
      const spot = { source, line: target.line };
      return (frame, value) => {
        frame.run.spot = spot;
        const items =
          itemsIn(value) ?? raise(`cannot unpack non-iterable ${typeName(value)} object`);
        if (items.length > parts.length)
          return raise(`too many values to unpack (expected ${parts.length})`);
        if (items.length < parts.length)
          return raise(
            `not enough values to unpack (expected ${parts.length}, got ${items.length})`,
          );
        frame.run.tracking?.spread(value, items);
        const taken = [...items];
        parts.forEach((assign, index) => assign(frame, taken[index] ?? null));
      };
    }
  }
};
