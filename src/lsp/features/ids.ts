import type { OutlineId, OutlineRequisite } from '../text/outline.ts';
import type { TextSpan } from '../text/scan-lines.ts';
import type { ProjectFile, Workspace } from '../workspace.ts';

/** A place in a file of the project. */
export type FileLocation = { readonly path: string; readonly span: TextSpan };

/** An ID that an SLS declares. */
export type DeclaredId = FileLocation & { readonly id: string; readonly declared: OutlineId };

/** The SLS that one includes, directly or through others, by their texts. Nearest first. */
export const includedPaths = (file: ProjectFile, workspace: Workspace): string[] => {
  const found = new Set([file.path]);
  for (const path of found) {
    const one = path === file.path ? file : workspace.fileAt(path);
    if (one)
      for (const { name } of workspace.outline(path).includes) {
        const included = workspace.slsPath(name, one);
        if (included !== undefined) found.add(included);
      }
  }
  return [...found].slice(1);
};

/**
 * The declarations that an ID means in a file: its own, those of the SLS that it includes or that
 * include it, else any of the project.
 */
export const declarationsOf = (
  id: string,
  module: string | undefined,
  file: ProjectFile,
  workspace: Workspace,
): DeclaredId[] => {
  const near = [[file.path], includedPaths(file, workspace)];
  for (const test of [isMeant, hasId]) {
    const inFile = (path: string): DeclaredId[] =>
      workspace
        .outline(path)
        .ids.filter(one => !one.isExtend && test(one, id, module))
        .map(declared => ({ path, span: declared.span, id: declared.id, declared }));
    for (const path of near.flat()) {
      const own = inFile(path);
      if (own.length > 0) return own;
    }
    const all = workspace.slsFiles(file).filter(({ path }) => inFile(path).length > 0);
    const above = all.filter(one => includedPaths(one, workspace).includes(file.path));
    const found = above.length > 0 ? above : all;
    if (found.length > 0) return found.flatMap(({ path }) => inFile(path));
  }
  return [];
};

/** A requisite names a state of its module, by the ID or by the name. */
const isMeant = ({ id, states }: OutlineId, wanted: string, module: string | undefined): boolean =>
  module === undefined
    ? id === wanted
    : states.some(
        ({ name, args }) =>
          name.split('.')[0] === module &&
          (id === wanted || args.some(one => one.name === 'name' && one.value === wanted)),
      );

const hasId = ({ id }: OutlineId, wanted: string): boolean => id === wanted;

/** The ID at a position: a declaration, an `extend` or a requisite. */
export const idAt = (
  file: ProjectFile,
  line: number,
  column: number,
  workspace: Workspace,
): { id: string; module?: string; span: TextSpan } | undefined => {
  const { ids, requisites } = workspace.outline(file.path);
  const isHere = ({ span }: { readonly span: TextSpan }): boolean =>
    span.line === line && span.from <= column && column <= span.to;
  const declared = ids.find(isHere);
  if (declared) return { id: declared.id, span: declared.span };
  return requisites.find(one => one.module !== 'sls' && isHere(one));
};

/** All places that name a declared ID, the declaration included. */
export const referencesTo = (
  target: DeclaredId,
  workspace: Workspace,
): (FileLocation & { readonly isDeclaration: boolean })[] => {
  const from = workspace.fileAt(target.path);
  if (!from) return [];
  const found: (FileLocation & { isDeclaration: boolean })[] = [];
  for (const file of workspace.slsFiles(from)) {
    const { ids, requisites } = workspace.outline(file.path);
    const named: (OutlineRequisite | OutlineId)[] = [
      ...ids.filter(({ id }) => id === target.id),
      ...requisites.filter(({ id, module }) => id === target.id && module !== 'sls'),
    ];
    for (const one of named) {
      const isDeclaration = 'states' in one && !one.isExtend;
      const module = 'states' in one ? undefined : one.module;
      const isTarget = isDeclaration
        ? file.path === target.path
        : isMeantIn(file, module, target, workspace);
      if (isTarget) found.push({ path: file.path, span: one.span, isDeclaration });
    }
  }
  return found;
};

const isMeantIn = (
  file: ProjectFile,
  module: string | undefined,
  target: DeclaredId,
  workspace: Workspace,
): boolean =>
  declarationsOf(target.id, module, file, workspace).some(({ path }) => path === target.path);
