import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import { expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { moduleName } from '../../../src/data/signatures/module-docs.ts';
import type { FunctionSignature } from '../../../src/protocol/meta.ts';

type Node = { type: string; start: number } & Record<string, unknown>;
type Call = { readonly fun: string; readonly args: readonly Node[]; readonly at: number };

const root = fileURLToPath(new URL('../../../src/modules/', import.meta.url));
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Functions of a name: providers of one virtual module may differ. */
const signatures = new Map<string, FunctionSignature[]>();
for (const module of builtinMetadata()) {
  if (module.kind !== 'exec') continue;
  for (const { name, signature } of module.functions)
    for (const virtual of new Set([moduleName(module), ...(module.virtual ?? [])])) {
      const fun = `${virtual}.${name}`;
      signatures.set(fun, [...(signatures.get(fun) ?? []), signature]);
    }
}

/** `salt('a.b')(…)`, `__salt__['a.b'](…)` and `__salt__['a.b']?.(…)`. */
const callOf = (node: Node): Call | undefined => {
  if (node.type !== 'CallExpression' && node.type !== 'OptionalCallExpression') return undefined;
  const callee = node.callee as Node;
  const inner =
    callee.type === 'CallExpression' && (callee.callee as Node).name === 'salt'
      ? (callee.arguments as Node[])[0]
      : callee.type === 'MemberExpression' && (callee.object as Node).name === '__salt__'
        ? (callee.property as Node)
        : undefined;
  return inner?.type === 'StringLiteral'
    ? { fun: String(inner.value), args: node.arguments as Node[], at: node.start }
    : undefined;
};

const callsIn = (value: unknown): Call[] => {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (!isNode(value)) return [];
  const own = callOf(value);
  return [...(own ? [own] : []), ...Object.values(value).flatMap(callsIn)];
};

/**
 * Why a call does not fit: TypeScript accepts an options object in place of a positional argument.
 */
const misfit = (
  { args }: Call,
  { positional, rest, keywords, anyKeyword }: FunctionSignature,
): string[] => {
  if (rest || args.some(arg => arg.type === 'SpreadElement')) return [];
  if (args.length > positional.length + (keywords || anyKeyword ? 1 : 0))
    return ['too many arguments'];
  return args.flatMap((arg, index) => {
    if (arg.type !== 'ObjectExpression') return [];
    const parameter = positional[index];
    if (parameter)
      return /Dict|Record|Plain|unknown|\{/.test(parameter.type ?? '')
        ? []
        : [`options stand in the place of ${parameter.name}`];
    if (anyKeyword) return [];
    const known = new Set(keywords?.map(({ name }) => name));
    return (arg.properties as Node[])
      .map(property => (property.key as Node | undefined)?.name)
      .filter(name => name !== undefined && !known.has(String(name)))
      .map(name => `it has no argument ${name}`);
  });
};

test('modules call execution functions with arguments that these have, each in its place', () => {
  const wrong = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .flatMap(name => {
      const text = readFileSync(join(root, name), 'utf8');
      const tree = parse(text, { sourceType: 'module', plugins: ['typescript'] });
      return callsIn(tree.program).flatMap(call => {
        const known = signatures.get(call.fun) ?? [];
        const reasons = known.map(signature => misfit(call, signature));
        return known.length > 0 && reasons.every(each => each.length > 0)
          ? [`${name}:${text.slice(0, call.at).split('\n').length} ${call.fun}: ${reasons[0]}`]
          : [];
      });
    });
  expect(wrong).toEqual([]);
});
