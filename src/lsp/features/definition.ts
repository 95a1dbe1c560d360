import { existsSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import type { TextSpan } from '../text/scan-lines.ts';
import { scanLines } from '../text/scan-lines.ts';
import type { Workspace } from '../workspace.ts';
import { declarationsOf, type FileLocation, idAt } from './ids.ts';
import type { PositionIn } from './position-context.ts';
import { importedFile, saltCall, wordAt } from './word-at.ts';

const beginning: TextSpan = { line: 0, from: 0, to: 0 };

/** Finds the places where a name at a position is defined. */
export const definitions = async (
  position: PositionIn,
  workspace: Workspace,
): Promise<readonly FileLocation[]> => {
  for (const find of [urlAt, templateFileAt, macroAt, slsAt, requisiteAt])
    if (find(position, workspace).length > 0) return find(position, workspace);
  return functionAt(position, workspace);
};

type Find = (position: PositionIn, workspace: Workspace) => readonly FileLocation[];

const lineOf = ({ lines, line }: PositionIn): string => lines[line] ?? '';

const found = (path: string | undefined): FileLocation[] =>
  path === undefined ? [] : [{ path, span: beginning }];

/** `salt://` paths, those with an environment as well. */
const urlAt: Find = (position, { states }) => {
  const { line, character, file } = position;
  const url = wordAt(lineOf(position), line, character, /salt:\/\/[^\s'",|\]}]+/)?.word;
  return url === undefined ? [] : found(states.find(url, file.saltenv)?.path);
};

const templateFileAt: Find = (position, workspace) => {
  const { line, character } = position;
  const match = wordAt(lineOf(position), line, character, importedFile);
  const name = match?.groups.find(group => group !== '');
  return name === undefined ? [] : found(pathOfTemplate(name, position, workspace));
};

/** A file of a template: by the roots, or beside the file where it begins with a dot. */
const pathOfTemplate = (
  name: string,
  { file }: PositionIn,
  { states }: Workspace,
): string | undefined => {
  const rel = /^\.{1,2}\//.test(name) ? posix.join(dirname(file.rel), name) : name;
  return states.find(rel, file.saltenv)?.path;
};

/** A macro or variable: where this file, or the one that it is imported from, defines it. */
const macroAt: Find = (position, workspace) => {
  const { file, text, line, character } = position;
  const name = wordAt(lineOf(position), line, character, /[A-Za-z_]\w*/)?.word;
  if (name === undefined || !isInTemplate(position)) return [];
  for (const [, one = '', other = '', list = ''] of text.matchAll(
    /\bfrom\s+(?:'([^'\n]+)'|"([^"\n]+)")\s+import\s+([\w ,]+)/g,
  )) {
    const imported = list.split(',').map(part => part.trim().split(/\s+as\s+/));
    const match = imported.find(parts => (parts[1] ?? parts[0])?.split(' ')[0] === name);
    const path = match && pathOfTemplate(one || other, position, workspace);
    if (path === undefined) continue;
    const span = definitionIn(workspace.text(path) ?? '', match?.[0]?.split(' ')[0] ?? name);
    return [{ path, span: span ?? beginning }];
  }
  const own = definitionIn(text, name);
  return own ? [{ path: file.path, span: own }] : [];
};

const isInTemplate = (position: PositionIn): boolean =>
  /\{[{%][^}]*$/.test(lineOf(position).slice(0, position.character));

const definitionIn = (text: string, name: string): TextSpan | undefined => {
  const pattern = new RegExp(`\\{%[-+]?\\s*(?:macro|set|assign)\\s+(${name})\\b`);
  const lines = text.split('\n');
  for (const [line, one] of lines.entries()) {
    const match = pattern.exec(one);
    if (!match) continue;
    const from = match.index + match[0].length - name.length;
    return { line, from, to: from + name.length };
  }
  return undefined;
};

/** SLS of includes, of top files and of `- sls:` requisites. */
const slsAt: Find = (position, workspace) => {
  const { file, lines, line, character } = position;
  const isHere = ({ span }: { readonly span: TextSpan }): boolean =>
    span.line === line && span.from <= character && character <= span.to;
  if (file.kind === 'top' || file.kind === 'pillar-top') {
    const one = scanLines(lines).find(
      ({ isItem, key, valueSpan }) => isItem && key === undefined && isHere({ span: valueSpan }),
    );
    const kind = file.kind === 'top' ? 'sls' : 'pillar';
    return one ? found(workspace.slsPath(one.value, { ...file, kind })) : [];
  }
  const { includes, requisites } = workspace.outline(file.path);
  const name =
    includes.find(isHere)?.name ?? requisites.find(one => one.module === 'sls' && isHere(one))?.id;
  return name === undefined ? [] : found(workspace.slsPath(name, file));
};

const requisiteAt: Find = ({ file, line, character }, workspace) => {
  const one = idAt(file, line, character, workspace);
  return one ? declarationsOf(one.id, one.module, file, workspace) : [];
};

/** Functions in the TypeScript source of their modules, the user's first. */
const functionAt = async (
  position: PositionIn,
  workspace: Workspace,
): Promise<readonly FileLocation[]> => {
  const { file, line, character } = position;
  const call = wordAt(lineOf(position), line, character, saltCall);
  const called = call?.groups.find(group => group !== '');
  const states =
    file.kind === 'sls' ? workspace.outline(file.path).ids.flatMap(id => id.states) : [];
  const state = states.find(
    ({ span }) => span.line === line && span.from <= character && character <= span.to,
  );
  const name = called ?? state?.name;
  if (name === undefined) return [];
  const known = await workspace.functionsNamed(called === undefined ? 'state' : 'exec', name);
  return known
    .filter(({ module }) => existsSync(module.path))
    .slice(0, 10)
    .map(({ fun, module }) => ({
      path: module.path,
      span: { line: Math.max(0, fun.line - 1), from: 0, to: 0 },
    }));
};
