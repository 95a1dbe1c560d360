import { TsaltError } from '../../protocol/error.ts';
import type { TextSpan } from '../text/scan-lines.ts';
import type { Workspace } from '../workspace.ts';
import { type DeclaredId, declarationsOf, idAt, referencesTo } from './ids.ts';
import type { PositionIn } from './position-context.ts';

/** A change of a file: new text for a part of a line. */
export type RenameEdit = { readonly path: string; readonly span: TextSpan; readonly text: string };

/**
 * The ID at a position that can be renamed.
 *
 * @throws TsaltError `rename-…` where it cannot
 */
export const renamedId = (
  { file, line, character }: PositionIn,
  workspace: Workspace,
): { readonly span: TextSpan; readonly target: DeclaredId } => {
  const found = file.kind === 'sls' ? idAt(file, line, character, workspace) : undefined;
  if (!found) throw new TsaltError('rename-place', 'Only IDs of states can be renamed.');
  if (/\{[{%]/.test(found.id))
    throw new TsaltError('rename-template', `A template makes the ID '${found.id}'.`);
  const declared = declarationsOf(found.id, found.module, file, workspace);
  const own = declared.filter(one => one.id === found.id);
  const [target, ...more] = own;
  if (!target)
    throw new TsaltError(
      'rename-name',
      declared.length > 0
        ? `'${found.id}' is the name of a state, not its ID.`
        : `No SLS declares the ID '${found.id}'.`,
    );
  if (more.some(({ path }) => path !== target.path))
    throw new TsaltError('rename-several', `Several SLS declare the ID '${found.id}'.`);
  return { span: found.span, target };
};

/**
 * Returns the changes that rename an ID. A state whose name is its ID gets `- name` with the old ID,
 * so that it still manages the same thing.
 *
 * @throws TsaltError `rename-…`
 */
export const renameEdits = (
  position: PositionIn,
  name: string,
  workspace: Workspace,
): readonly RenameEdit[] => {
  const { target } = renamedId(position, workspace);
  checkName(name, target, workspace);
  const edits = referencesTo(target, workspace).map(({ path, span }) => ({
    path,
    span,
    text: isQuoted(workspace, path, span) ? name : yamlName(name),
  }));
  return [...edits, ...keptNames(target, workspace)];
};

const checkName = (name: string, { path, id }: DeclaredId, workspace: Workspace): void => {
  if (name.trim() !== name || name === '' || /[\n\r\t'"]|\{[{%#]/.test(name))
    throw new TsaltError('rename-text', `'${name}' cannot be an ID.`);
  if (['include', 'exclude', 'extend'].includes(name))
    throw new TsaltError('rename-text', `'${name}' is a keyword of SLS files.`);
  if (name !== id && workspace.outline(path).ids.some(one => one.id === name))
    throw new TsaltError('rename-text', `This SLS declares an ID '${name}' already.`);
};

const isQuoted = (workspace: Workspace, path: string, { line, from }: TextSpan): boolean =>
  /['"]/.test((workspace.text(path) ?? '').split('\n')[line]?.[from - 1] ?? '');

/** Quotes a name that YAML would read as something else. */
const yamlName = (name: string): string =>
  /^[\w./][\w./@ -]*$/.test(name) && !/^[\d.-]+$|^(true|false|yes|no|on|off|null|~)$/i.test(name)
    ? name
    : `'${name}'`;

const keptNames = (target: DeclaredId, workspace: Workspace): RenameEdit[] => {
  const lines = (workspace.text(target.path) ?? '').split('\n');
  return target.declared.states.flatMap(({ name, span, args }) => {
    const isNamed = args.some(one => one.name === 'name' || one.name === 'names');
    if (isNamed || !name.includes('.')) return [];
    const line = lines[span.line] ?? '';
    const kept = `- name: ${yamlName(target.id)}`;
    // `ID: test.nop` becomes the long form.
    if (span.line === target.span.line) {
      const from = line.slice(0, span.from).trimEnd().length;
      const text = `\n  ${name}:\n    ${kept}`;
      return [{ path: target.path, span: { ...span, from }, text }];
    }
    const own = /^\s*/.exec(line)?.[0] ?? '';
    const indent = /^\s*(?=- )/.exec(lines[span.line + 1] ?? '')?.[0] ?? `${own}  `;
    const rest = /^['"]?(?::|$)\s*(?:\[\s*\])?\s*(#.*)?$/.exec(line.slice(span.to));
    if (!rest)
      throw new TsaltError(
        'rename-name',
        `The ID '${target.id}' is the name of its state ${name}. Write the name as an argument before.`,
      );
    const comment = rest[1] === undefined ? '' : ` ${rest[1]}`;
    const text = `:${comment}\n${indent}${kept}`;
    return [{ path: target.path, span: { ...span, from: span.to, to: line.length }, text }];
  });
};
