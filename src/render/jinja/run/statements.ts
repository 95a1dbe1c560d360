import { after, eachInOrder } from '../after.ts';
import type { TemplatePosition, TemplateSource } from '../jinja-error.ts';
import type { FilterNode, Statement } from '../syntax/ast.ts';
import { isTruthy } from '../values/compare.ts';
import { printed } from '../values/text.ts';
import type { Value } from '../values/value.ts';
import { compileTarget } from './assign.ts';
import { callValue, compileArgs } from './calls.ts';
import { type Evaluate, type Execute, OutputBuffer } from './execute.ts';
import { compileExpression } from './expressions.ts';
import type { Scope } from './frame.ts';
import { compileFromImport, compileImport, compileImportData, compileInclude } from './import.ts';
import { compileBlock, compileExtends } from './inherit.ts';
import { loadData } from './load-data.ts';
import { compileFor } from './loop.ts';
import { Macro, macroCode } from './macro.ts';

/** Compiles statements to one function. */
export const compileStatements = (body: readonly Statement[], source: TemplateSource): Execute => {
  const steps = body.map(node => compileStatement(node, source));
  const [only] = steps;
  if (!only) return nothing;
  if (steps.length === 1) return only;
  return (frame, out) => eachInOrder(steps, step => step(frame, out));
};

const nothing: Execute = () => undefined;

/** Runs statements and returns their output as a value. */
const captured =
  (
    execute: Execute,
    use: (text: string, frame: Scope, out: OutputBuffer) => ReturnType<Execute>,
  ): Execute =>
  (frame, out) => {
    const inner = new OutputBuffer(frame.run);
    return after(execute(frame.inner(), inner), () => use(inner.capture(), frame, out));
  };

const compileStatement = (node: Statement, source: TemplateSource): Execute => {
  const spot = { source, line: node.line };
  const compileBody = (body: readonly Statement[]): Execute => compileStatements(body, source);
  switch (node.type) {
    case 'Text': {
      const place: TemplatePosition = { ...spot, column: node.column, isText: true };
      return (_, out) => {
        out.text(node.text, place);
        return undefined;
      };
    }
    case 'Print': {
      const value = compileExpression(node.value, source);
      const place: TemplatePosition = { ...spot, column: node.column };
      return (frame, out) => after(value(frame), made => print(made, frame, out, place));
    }
    case 'Do': {
      const value = compileExpression(node.value, source);
      return frame => after(value(frame), () => undefined);
    }
    case 'Set': {
      const assign = compileTarget(node.target, source);
      const value = compileExpression(node.value, source);
      return frame =>
        after(value(frame), made => {
          assign(frame, made);
          return undefined;
        });
    }
    case 'SetBlock': {
      const assign = compileTarget(node.target, source);
      const filter = compileChain(node.filter, source);
      return captured(compileBody(node.body), (text, frame) =>
        after(filter(text, frame), value => {
          assign(frame, value);
          return undefined;
        }),
      );
    }
    case 'FilterBlock': {
      const filter = compileChain(node.filter, source);
      return captured(compileBody(node.body), (text, frame, out) =>
        after(filter(text, frame), value => print(value, frame, out, spot)),
      );
    }
    case 'Choose':
      return compileChoose(node, source);
    case 'For':
      return compileFor(node, source, compileBody);
    case 'With':
      return compileWith(node, source);
    case 'Scope': {
      const body = compileBody(node.body);
      return (frame, out) => body(frame.inner(), out);
    }
    case 'Group':
      return compileBody(node.body);
    case 'Macro': {
      const code = macroCode(node.name, node.signature, node.body, compileBody(node.body), source);
      return frame => {
        frame.set(node.name, new Macro(code, frame));
        return undefined;
      };
    }
    case 'CallBlock':
      return compileCallBlock(node, source);
    case 'LoadData': {
      const assign = compileTarget(node.target, source);
      return captured(compileBody(node.body), (text, frame) => {
        frame.run.spot = spot;
        assign(frame, loadData(node.format, text, frame.run));
        return undefined;
      });
    }
    case 'Break':
      return () => 'break';
    case 'Continue':
      return () => 'continue';
    case 'Include':
      return compileInclude(node, source);
    case 'Import':
      return compileImport(node, source);
    case 'FromImport':
      return compileFromImport(node, source);
    case 'ImportData':
      return compileImportData(node, source);
    case 'Block':
      return compileBlock(node, source);
    case 'Extends':
      return compileExtends(node, source);
  }
};

const print = (
  value: Value,
  frame: Scope,
  out: OutputBuffer,
  spot: TemplatePosition,
): undefined => {
  frame.run.spot = spot;
  out.value(printed(value), spot, frame.run.tracking?.print(value, spot));
};

/** Compiles the filters of a block, which receive its output. */
const compileChain = (
  chain: FilterNode | undefined,
  source: TemplateSource,
): ((text: Value, frame: Scope) => ReturnType<Evaluate>) => {
  if (!chain) return text => text;
  const { target, name, args, line } = chain;
  const before = compileChain(target?.type === 'Filter' ? target : undefined, source);
  const given = compileArgs(args, part => compileExpression(part, source));
  return (text, frame) =>
    after(before(text, frame), value =>
      after(given(frame), all => {
        frame.run.spot = { source, line };
        return frame.run.filter(name)(value, all, frame.run);
      }),
    );
};

const compileChoose = (
  node: Extract<Statement, { type: 'Choose' }>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line: node.line };
  const branches = node.branches.map(({ test, body }) => ({
    test: compileExpression(test, source),
    body: compileStatements(body, source),
  }));
  const otherwise = compileStatements(node.otherwise, source);
  return (frame, out) => {
    const chosen = eachInOrder(branches, ({ test, body }) =>
      after(test(frame), value => {
        frame.run.spot = spot;
        return isTruthy(value) ? body : undefined;
      }),
    );
    return after(chosen, (body = otherwise) => body(frame, out));
  };
};

const compileWith = (
  node: Extract<Statement, { type: 'With' }>,
  source: TemplateSource,
): Execute => {
  const body = compileStatements(node.body, source);
  const pairs = node.pairs.map(([target, value]) => ({
    assign: compileTarget(target, source),
    value: compileExpression(value, source),
  }));
  return (frame, out) => {
    const inner = frame.inner();
    const done = eachInOrder<(typeof pairs)[number], never>(pairs, ({ assign, value }) =>
      after(value(frame), made => {
        assign(inner, made);
        return undefined;
      }),
    );
    return after(done, () => body(inner, out));
  };
};

const compileCallBlock = (
  node: Extract<Statement, { type: 'CallBlock' }>,
  source: TemplateSource,
): Execute => {
  const spot = { source, line: node.line };
  const callee = compileExpression(node.call.callee, source);
  const args = compileArgs(node.call.args, part => compileExpression(part, source));
  const body = compileStatements(node.body, source);
  const code = macroCode('caller', node.signature, node.body, body, source);
  return (frame, out) =>
    after(callee(frame), called =>
      after(args(frame), ({ list, named }) => {
        const caller = new Macro(code, frame);
        const all = { list, named: new Map([...named, ['caller', caller] as const]) };
        return after(callValue(called, all, frame, spot), value => print(value, frame, out, spot));
      }),
    );
};
