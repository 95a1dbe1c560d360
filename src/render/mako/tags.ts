import { isName } from '../script/names.ts';
import { type ScriptProgram, scriptSyntaxError } from '../script/program.ts';

/** A Mako tag, `<%name key="value">`. */
export type MakoTag = {
  readonly name: string;
  readonly line: number;
  readonly attributes: ReadonlyMap<string, string>;
};

export const tagAttributes = (written: string, line: number): ReadonlyMap<string, string> => {
  const attributes = new Map<string, string>();
  const rest = written.replace(
    /\s*(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g,
    (_, key: string, double?: string, single?: string) => {
      attributes.set(key, double ?? single ?? '');
      return '';
    },
  );
  if (rest.trim() !== '')
    throw scriptSyntaxError(`'${rest.trim()}' is not an attribute: write it as key="value"`, line);
  return attributes;
};

type Kind = {
  /** The attributes that it accepts; all others are refused. */
  readonly takes: readonly string[];
  /** Its immediate effect; without it, the tag has a body and `close`. */
  readonly at?: (tag: MakoTag, program: ScriptProgram) => void;
  readonly close?: (tag: MakoTag, program: ScriptProgram) => void;
};

const signature = /^\s*([A-Za-z_]\w*)\s*\(([\s\S]*)\)\s*$/;

const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [
    'include',
    {
      takes: ['file'],
      at: (tag, program) => program.code(`$out(await $include(${file(tag)}));`, tag.line),
    },
  ],
  ['inherit', { takes: ['file'], at: (tag, program) => program.inherit(file(tag)) }],
  ['namespace', { takes: ['file', 'name', 'import'], at: namespace }],
  [
    'def',
    {
      takes: ['name', 'filter'],
      close: (tag, program) => {
        const [, name = '', parameters = ''] = signature.exec(need(tag, 'name')) ?? [];
        if (!isName(name))
          throw scriptSyntaxError(
            '<%def> needs a name and parameters: name="greet(who)"',
            tag.line,
          );
        program.endFunction(name, parameters, filters(tag));
      },
    },
  ],
  [
    'block',
    {
      takes: ['name', 'filter'],
      close: (tag, program) => {
        const name = tag.attributes.get('name');
        if (name === undefined) program.endNameless(filters(tag));
        else if (!isName(name))
          throw scriptSyntaxError(`'${name}' cannot be the name of a block`, tag.line);
        else if (program.has(name))
          throw scriptSyntaxError(`there is a block or function '${name}' already`, tag.line);
        else program.endBlock(name, filters(tag));
      },
    },
  ],
]);

/**
 * Begins a Mako tag.
 *
 * @returns whether it stays open until its `</%name>`.
 * @throws SyntaxError that names an unsupported tag or attribute
 */
export const openTag = (tag: MakoTag, isClosed: boolean, program: ScriptProgram): boolean => {
  const kind = kinds.get(tag.name);
  if (!kind) throw scriptSyntaxError(`the tag <%${tag.name}> is not supported`, tag.line);
  for (const key of tag.attributes.keys())
    if (!kind.takes.includes(key))
      throw scriptSyntaxError(
        `the attribute '${key}' of <%${tag.name}> is not supported`,
        tag.line,
      );
  if (kind.at) {
    if (!isClosed) throw scriptSyntaxError(`<%${tag.name}> ends with />, without a body`, tag.line);
    kind.at(tag, program);
    return false;
  }
  program.begin();
  if (isClosed) closeTag(tag, program);
  return !isClosed;
};

export const closeTag = (tag: MakoTag, program: ScriptProgram): void =>
  kinds.get(tag.name)?.close?.(tag, program);

function namespace(tag: MakoTag, program: ScriptProgram): void {
  const name = tag.attributes.get('name');
  const names = (tag.attributes.get('import') ?? '')
    .split(',')
    .map(part => part.trim())
    .filter(Boolean);
  for (const wanted of [...(name === undefined ? [] : [name]), ...names])
    if (!isName(wanted))
      throw scriptSyntaxError(
        wanted === '*'
          ? '<%namespace> imports by name, not *: write import="one, other"'
          : `'${wanted}' is no name`,
        tag.line,
      );
  if (name === undefined && names.length === 0)
    throw scriptSyntaxError('<%namespace> needs a name or an import', tag.line);
  const loaded = `await $namespace(${file(tag)}, ${JSON.stringify(names)})`;
  if (name !== undefined) program.shared(`const ${name} = ${loaded};`, tag.line);
  if (names.length > 0)
    program.shared(`const { ${names.join(', ')} } = ${name ?? loaded};`, tag.line);
}

/** Returns the file that a tag names, as an expression: it may contain `${…}`. */
const file = (tag: MakoTag): string => {
  const written = need(tag, 'file');
  const expression = /^\$\{([\s\S]*)\}$/.exec(written)?.[1];
  return expression === undefined ? JSON.stringify(written) : `await (${expression}\n)`;
};

const need = (tag: MakoTag, key: string): string => {
  const value = tag.attributes.get(key);
  if (value === undefined || value === '')
    throw scriptSyntaxError(`<%${tag.name}> needs the attribute '${key}'`, tag.line);
  return value;
};

const filters = (tag: MakoTag): string[] =>
  (tag.attributes.get('filter') ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
