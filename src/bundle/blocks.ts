import { SourceMap } from 'node:module';
import { lineStarts, type Moved, MovedText, placeIn } from './moved.ts';

/** A bundle in two parts: a head, and the blocks that are behind it in an artifact. */
export type Blocks = {
  readonly head: string;
  readonly blocks: string;
  /** Where the text of each part was in the bundle. */
  readonly moved: { readonly head: readonly Moved[]; readonly blocks: readonly Moved[] };
};

/** esbuild's function for CommonJS modules: what it returns runs the module at the first call. */
const wrapper = /([\w$]+)=\(([\w$]+),([\w$]+)\)=>\(\)=>\{try\{return \3\|\|\2\(/;

/** A CommonJS module of the bundle: `name=wrapper(…)`. */
type Module = {
  readonly name: string;
  readonly block: string;
  readonly start: number;
  readonly end: number;
};

/**
 * Cuts the CommonJS modules that belong to a block out of a bundle. A run uses few of hundreds of
 * modules: V8 then neither reads the text of the others nor makes functions for them.
 *
 * @param text - a bundle with short names
 * @param map - its source map, as JSON
 * @param blockOf - names the block of a source; undefined if that stays in the head
 * @returns undefined if nothing belongs to a block, or the text has another form than this esbuild
 *   writes
 */
export const intoBlocks = async (
  text: string,
  map: string,
  blockOf: (source: string) => string | undefined,
): Promise<Blocks | undefined> => {
  const found = await namesIn(text, sourceFinder(text, map), blockOf);
  if (!found || found.modules.length === 0) return undefined;
  const { modules, constants, used } = found;
  const opened: string[] = [];
  const edits: Edit[] = [];
  const blocks = new MovedText(text);
  for (const block of new Set(modules.map(module => module.block))) {
    const { size, line } = blocks;
    const members = modules.filter(module => module.block === block);
    const shared = members.flatMap(member => {
      const call = `tsaltBlock(${opened.length},"${member.name}")`;
      const replaced = inHead(text, member, call, used);
      edits.push(...replaced);
      return replaced.some(edit => edit.text !== '') ? [member.name] : [];
    });
    const own = new Set(members.map(({ name }) => name));
    const names = [...(used.get(block)?.keys() ?? [])]
      .filter(name => constants.has(name) && !own.has(name))
      .sort();
    blocks.add(`(function(${names}){var `);
    members.forEach(({ start, end }, at) => {
      if (at > 0) blocks.add(',');
      blocks.copy(start, end);
    });
    blocks.add(`;return{${shared}}})`);
    opened.push(`()=>TS.block(${size},${blocks.size - size},${line})(${names})`);
    blocks.add('\n');
  }
  const head = new MovedText(text);
  head.add(opening(opened));
  let last = 0;
  for (const { start, end, text: other } of edits.sort((a, b) => a.start - b.start)) {
    head.copy(last, start);
    head.add(other);
    last = end;
  }
  head.copy(last, text.length);
  const moved = { head: head.moved, blocks: blocks.moved };
  return { head: head.text, blocks: blocks.text, moved };
};

/** A text in the place of a part of the bundle. */
type Edit = { readonly start: number; readonly end: number; readonly text: string };

/**
 * Returns what a head has in the place of a module, and of its calls.
 *
 * @param call - code that returns the module's function
 */
const inHead = (
  text: string,
  { name, block, start, end }: Module,
  call: string,
  used: Names['used'],
): Edit[] => {
  const isShared = [...used].some(
    ([other, names]) => other !== undefined && other !== block && names.has(name),
  );
  const places = used.get(undefined)?.get(name) ?? [];
  const named = start + name.length;
  if (isShared || !places.every(at => text[at + name.length] === '('))
    return [{ start: named, end, text: `=${call}` }];
  return [
    { start: named, end, text: '' },
    ...places.map(at => ({ start: at, end: at + name.length, text: call })),
  ];
};

/** Code that returns the function of a module in a block, which is opened when one is called. */
const opening = (opened: readonly string[]): string => `var tsaltBlock=(()=>{
const open=[${opened.join(',\n')}],made=[];
return(at,name)=>()=>(made[at]??=open[at]())[name]()})();
`;

type Names = {
  readonly modules: readonly Module[];
  /** Names that a block may use: each has its value before the first block is opened, and keeps it. */
  readonly constants: ReadonlySet<string>;
  /** Where each block, and the rest of the bundle (`undefined`), use which names. */
  readonly used: ReadonlyMap<string | undefined, Used>;
};
type Used = ReadonlyMap<string, readonly number[]>;

/**
 * Reads the declarations of a bundle. Its ES modules declare variables without a value: what belongs
 * to a block must not use them, since it gets values.
 */
const namesIn = async (
  text: string,
  sourceAt: (offset: number) => string | undefined,
  blockOf: (source: string) => string | undefined,
): Promise<Names | undefined> => {
  const wrap = wrapper.exec(text)?.[1];
  // Blocks are found by their bytes.
  if (wrap === undefined || !isAscii(text)) return undefined;
  const { parse } = await import('@babel/parser');
  const modules: Module[] = [];
  const constants = new Set(['require', 'process', 'TS']);
  const variables = new Set<string>();
  const used = new Map<string | undefined, Map<string, number[]>>();
  const use = (node: unknown, block?: string): void => {
    const names = used.get(block) ?? new Map();
    used.set(block, names);
    addNames(node, names);
  };
  for (const statement of parse(text, { sourceType: 'script' }).program.body) {
    if (statement.type === 'FunctionDeclaration' && statement.id) constants.add(statement.id.name);
    if (statement.type !== 'VariableDeclaration') {
      use(statement);
      continue;
    }
    for (const { id, init, start, end } of statement.declarations) {
      if (id.type === 'Identifier') (init ? constants : variables).add(id.name);
      const isWrapped =
        init?.type === 'CallExpression' &&
        init.callee.type === 'Identifier' &&
        init.callee.name === wrap;
      // The end of a module is in its own source, its beginning may be esbuild's.
      const source = isWrapped && end != null ? sourceAt(end - 2) : undefined;
      const block = source === undefined ? undefined : blockOf(source);
      if (id.type === 'Identifier' && block !== undefined && start != null && end != null)
        modules.push({ name: id.name, block, start, end });
      use(init, block);
    }
  }
  for (const [block, names] of used)
    if (block !== undefined && [...names.keys()].some(name => variables.has(name)))
      return undefined;
  return { modules, constants, used };
};

/**
 * Adds the names in a piece of code that may be variables. esbuild gives no variable of an inner
 * scope a name of the outermost one.
 */
const addNames = (node: unknown, names: Map<string, number[]>): void => {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) addNames(item, names);
    return;
  }
  const { type, name, start, computed } = node as Record<string, unknown>;
  if (type === 'Identifier') {
    const known = names.get(String(name));
    if (known) known.push(Number(start));
    else names.set(String(name), [Number(start)]);
    return;
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc' || ((key === 'property' || key === 'key') && computed === false)) continue;
    addNames(value, names);
  }
};

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Returns what finds the source of an offset in a bundle. */
const sourceFinder = (text: string, map: string): ((offset: number) => string | undefined) => {
  const entries = new SourceMap(JSON.parse(map));
  const starts = lineStarts(text);
  return offset => {
    const entry = entries.findEntry(...placeIn(starts, offset));
    return 'originalSource' in entry ? decodeURIComponent(entry.originalSource) : undefined;
  };
};
