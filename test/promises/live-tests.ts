import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { isNode, literal, type Node, parseFile, sourceOf, walk } from './syntax.ts';

/** A `test(…)` call that vitest runs. */
export type LiveTest = {
  readonly title: string;
  /** Under what it runs, as written: the arguments of `skipIf` and `runIf`, and of `if` around it. */
  readonly conditions: readonly string[];
};

/** The questions about the tests of one file. */
export type FileTests = {
  readonly live: readonly LiveTest[];
  /** Title and cause of the calls that never run, or that pass when their body fails. */
  readonly dead: readonly { readonly title: string; readonly cause: string }[];
};

/**
 * Collects the tests of a file from its syntax tree, so that comments and other text do not count.
 *
 * @param file a test file, or a file whose exported functions test files call
 * @param callers the test files that may call them
 * @param text the file's text, when it is not read from the disk
 * @returns the tests that run and those that do not
 */
export const testsOf = (
  file: string,
  callers: readonly string[] = [],
  text = readFileSync(file, 'utf8'),
): FileTests => {
  const live: LiveTest[] = [];
  const dead: { title: string; cause: string }[] = [];
  const program = parseFile(file, text);
  const aliases = testAliases(program);
  walk(program, (node, above) => {
    const found = testCall(node, aliases);
    const title = found && literal((node.arguments as unknown[])[0]);
    if (title === undefined || !found) return;
    const conditions: string[] = [];
    const cause =
      modifierFault(found.modifiers, conditions, text) ??
      surroundingFault({ file, program, above, conditions, callers, text, aliases });
    if (cause) dead.push({ title, cause });
    else live.push({ title, conditions });
  });
  return { live, dead };
};

type Modifier = { readonly name: string; readonly argument?: Node | undefined };
type Aliases = ReadonlyMap<string, readonly Modifier[]>;

const runners = new Set(['test', 'it']);

/** Constants such as `const real = test.skipIf(!has)`. */
const testAliases = (program: Node): Aliases => {
  const aliases = new Map<string, readonly Modifier[]>();
  walk(program, node => {
    if (node.type !== 'VariableDeclarator' || !isNode(node.id) || !isNode(node.init)) return;
    const chain = modifiersOf(node.init, aliases);
    if (chain && runners.has(chain.root)) aliases.set(String(node.id.name), chain.modifiers);
  });
  return aliases;
};

/** The runner of a call (`test`, `describe` …) and what stands between it and the title. */
const modifiersOf = (
  node: Node,
  aliases: Aliases,
): { root: string; modifiers: readonly Modifier[] } | undefined => {
  if (node.type === 'Identifier') {
    const alias = aliases.get(String(node.name));
    return alias ? { root: 'test', modifiers: alias } : { root: String(node.name), modifiers: [] };
  }
  if (node.type === 'MemberExpression' && isNode(node.object) && isNode(node.property)) {
    const inner = modifiersOf(node.object, aliases);
    return (
      inner && { ...inner, modifiers: [...inner.modifiers, { name: String(node.property.name) }] }
    );
  }
  if (node.type === 'CallExpression' && isNode(node.callee)) {
    const inner = modifiersOf(node.callee, aliases);
    const last = inner?.modifiers.at(-1);
    if (!inner || !last) return undefined;
    const argument = (node.arguments as Node[])[0];
    return {
      ...inner,
      modifiers: [...inner.modifiers.slice(0, -1), { name: last.name, argument }],
    };
  }
  if (node.type === 'TaggedTemplateExpression' && isNode(node.tag))
    return modifiersOf(node.tag, aliases);
  return undefined;
};

const callOf = (node: Node, aliases: Aliases, roots: ReadonlySet<string>) => {
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return undefined;
  const chain = modifiersOf(node.callee, aliases);
  return chain && roots.has(chain.root) ? chain : undefined;
};
const testCall = (node: Node, aliases: Aliases) => callOf(node, aliases, runners);

/** Why a test with these modifiers shows nothing. Conditions are added to `conditions`. */
const modifierFault = (
  modifiers: readonly Modifier[],
  conditions: string[],
  text: string,
): string | undefined => {
  for (const { name, argument } of modifiers) {
    if (['skip', 'todo', 'fails'].includes(name)) return `it is marked ${name}`;
    if (
      name === 'each' &&
      argument?.type === 'ArrayExpression' &&
      !(argument.elements as []).length
    )
      return 'its list of cases is empty';
    if (name !== 'skipIf' && name !== 'runIf') continue;
    if (argument?.type === 'BooleanLiteral' && argument.value === (name === 'skipIf'))
      return `it is marked ${name}(${argument.value})`;
    if (argument) conditions.push(`${name}(${sourceOf(argument, text)})`);
  }
  return undefined;
};

type Surroundings = {
  readonly file: string;
  readonly program: Node;
  readonly above: readonly Node[];
  readonly conditions: string[];
  readonly callers: readonly string[];
  readonly text: string;
  readonly aliases: Aliases;
};

const functions = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration']);
const repeating = new Set(['forEach', 'map', 'each']);

/** Why code around a test call keeps it from being run. */
const surroundingFault = (around: Surroundings): string | undefined => {
  const { above, conditions, text, aliases } = around;
  for (let at = above.length - 1; at > 0; at--) {
    const [node, parent] = [above[at] as Node, above[at - 1] as Node];
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      const condition = node.test as Node;
      if (condition.type === 'BooleanLiteral') return `it stands behind if (${condition.value})`;
      conditions.push(`if (${sourceOf(condition, text)})`);
    }
    if (!functions.has(node.type)) continue;
    if (parent.type === 'CallExpression' && parent.callee !== node) {
      const group = callOf(parent, aliases, new Set(['describe']));
      const fault = group && modifierFault(group.modifiers, conditions, text);
      if (fault) return `of its group ${fault}`;
      if (group || repeating.has(calledName(parent))) continue;
      return `it stands in an argument of ${calledName(parent)}`;
    }
    const name = functionName(node, parent);
    if (name === undefined) return 'it stands in a function without a name';
    const inside = above[at - 1];
    if (isCalled(around.program, name, inside)) continue;
    if (!around.callers.some(caller => callsFrom(caller, around.file, name)))
      return `no test file calls ${name}`;
  }
  return undefined;
};

const calledName = (call: Node): string => {
  const callee = call.callee as Node;
  const last = callee.type === 'MemberExpression' ? (callee.property as Node) : callee;
  return String(last.name ?? last.type);
};

const functionName = (node: Node, parent: Node): string | undefined => {
  const id =
    node.type === 'FunctionDeclaration'
      ? node.id
      : parent.type === 'VariableDeclarator'
        ? parent.id
        : undefined;
  return isNode(id) ? String(id.name) : undefined;
};

/** Whether a program calls a function by its name; calls within `except` do not count. */
const isCalled = (program: Node, name: string, except?: Node): boolean => {
  let found = false;
  walk(program, (node, above) => {
    if (node.type !== 'CallExpression' || calledName(node) !== name) return;
    if (except === undefined || !above.includes(except)) found = true;
  });
  return found;
};

/** Whether a test file imports a function from `file` and calls it. */
const callsFrom = (caller: string, file: string, name: string): boolean => {
  const program = parseFile(caller);
  let local: string | undefined;
  for (const node of program.body as Node[]) {
    if (node.type !== 'ImportDeclaration') continue;
    const from = posix.join(posix.dirname(caller), String((node.source as Node).value));
    if (from !== file) continue;
    for (const each of node.specifiers as Node[])
      if (isNode(each.imported) && each.imported.name === name && isNode(each.local))
        local = String(each.local.name);
  }
  return local !== undefined && isCalled(program, local);
};
