import { choosesOnlyNames } from '../../../data/taint.ts';
import { choiceError } from '../../taint/choice-error.ts';
import { after, type Eventual } from '../after.ts';
import { JinjaError, raise, type TemplatePosition, type TemplateSource } from '../jinja-error.ts';
import type { JinjaExpression } from '../syntax/ast.ts';
import { quoted, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import type { Value } from '../values/value.ts';
import { compileExpression } from './expressions.ts';
import type { Scope } from './frame.ts';
import type { JinjaTemplate } from './program.ts';

type Find = (frame: Scope) => Eventual<JinjaTemplate>;

/** Compiles a template expression; for a list, the first template that exists is used. */
export const compileTemplate = (
  node: JinjaExpression,
  source: TemplateSource,
  spot: TemplatePosition,
): Find => {
  const name = compileExpression(node, source);
  return frame =>
    after(name(frame), value => {
      frame.run.spot = spot;
      if (node.type !== 'Const') refuseTainted(value, frame);
      return find(value, frame);
    });
};

/** Refuses host-supplied data in a template's name, except a name within one folder. */
const refuseTainted = (value: Value, { run }: Scope): void => {
  const { tracking } = run;
  if (!tracking) return;
  for (const name of Array.isArray(value) ? value : [value]) {
    const ranges = typeof name === 'string' ? tracking.look(name) : undefined;
    if (typeof name !== 'string' || !ranges || choosesOnlyNames(name, ranges)) continue;
    throw choiceError(tracking.table.owner, ranges, `the template ${quoted(name)}`, {
      at: run.spot && { file: run.spot.source.file, line: run.spot.line },
      hint: 'A host may choose a name within one folder, as in "files/" ~ grains.os ~ ".jinja".',
    });
  }
};

const find = (value: Value, { context: { program } }: Scope): JinjaTemplate => {
  const names = Array.isArray(value) ? value : [value];
  for (const [index, name] of names.entries()) {
    if (name instanceof Undefined) name.raise();
    if (typeof name !== 'string')
      return raise(`a template's name is a text, not ${typeName(name)}`);
    try {
      return program.load(name);
    } catch (error) {
      const isLast = index === names.length - 1;
      if (isLast || !(error instanceof JinjaError) || error.kind !== 'missing') throw error;
    }
  }
  throw new JinjaError('missing', 'an empty list names no template');
};
