import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import { functionText } from '../../data/signatures/module-docs.ts';
import { toData } from '../../data/values/value.ts';
import type { FunctionMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { KnownFacts } from '../check-document.ts';
import type { OutlineState } from '../text/outline.ts';
import type { TextSpan } from '../text/scan-lines.ts';
import { isSettings, type Workspace } from '../workspace.ts';
import { declarationsOf, idAt } from './ids.ts';
import type { PositionIn } from './position-context.ts';
import { schemaDoc } from './schema-keys.ts';
import { argumentDoc } from './texts.ts';
import { saltCall, wordAt } from './word-at.ts';

/** Explains the function, argument, grain or ID at a position, as Markdown. */
export const hoverText = async (
  position: PositionIn,
  workspace: Workspace,
  facts: KnownFacts,
): Promise<{ text: string; span: TextSpan } | undefined> =>
  settingText(position, workspace) ??
  (await callText(position, workspace)) ??
  grainText(position, facts) ??
  (await stateText(position, workspace)) ??
  idText(position, workspace);

const settingText = (
  position: PositionIn,
  { files }: Workspace,
): { text: string; span: TextSpan } | undefined => {
  const { kind } = position.file;
  return isSettings(kind) && files ? schemaDoc(position, files.schemaOf(kind)) : undefined;
};

const callText = async (
  { lines, line, character }: PositionIn,
  workspace: Workspace,
): Promise<{ text: string; span: TextSpan } | undefined> => {
  const found = wordAt(lines[line] ?? '', line, character, saltCall);
  const name = found?.groups.find(group => group !== '');
  if (!found || name === undefined) return undefined;
  const [known] = await workspace.functionsNamed('exec', name);
  return known && { text: headed(name, functionText(known.fun)), span: found.span };
};

/** The value that a grain has in the host that was checked. Values of pillar are never shown. */
const grainText = (
  { lines, line, character }: PositionIn,
  { grains }: KnownFacts,
): { text: string; span: TextSpan } | undefined => {
  const pattern =
    /\bgrains(?:\.get(?:['"]\])?\(\s*['"]([\w:.-]+)['"]|((?:\.(?!get\b)\w+|\[['"][\w.-]+['"]\])+))/;
  const found = wordAt(lines[line] ?? '', line, character, pattern);
  const path = found?.groups.find(group => group !== '');
  if (!found || path === undefined) return undefined;
  const keys =
    path.startsWith('.') || path.startsWith('[') ? (path.match(/[\w-]+/g) ?? []) : path.split(':');
  let value: Plain | undefined = grains;
  for (const key of keys)
    value = isPlainDict(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (value === undefined) return undefined;
  const shown = dumpYaml(toData(value), { defaultFlowStyle: false }).slice(0, 2000);
  return {
    text: `grain \`${keys.join(':')}\` of ${String(grains.id)}\n\n${fenced(shown)}`,
    span: found.span,
  };
};

const fenced = (text: string): string =>
  `\`\`\`yaml\n${text.replaceAll('```', "'''").trimEnd()}\n\`\`\``;

const headed = (name: string, text: string): string => `**${name}**\n\n${text}`;

const stateText = async (
  { file, line, character }: PositionIn,
  workspace: Workspace,
): Promise<{ text: string; span: TextSpan } | undefined> => {
  if (file.kind !== 'sls') return undefined;
  const isHere = ({ span }: { readonly span: TextSpan }): boolean =>
    span.line === line && span.from <= character && character <= span.to;
  for (const { states } of workspace.outline(file.path).ids)
    for (const state of states) {
      const fun = await functionOf(state, workspace);
      if (isHere(state) && fun)
        return { text: headed(state.name, functionText(fun)), span: state.span };
      const arg = state.args.find(isHere);
      const text = arg && argumentDoc(fun, arg.name);
      if (arg && text !== undefined) return { text, span: arg.span };
    }
  return undefined;
};

const functionOf = async (
  { name }: OutlineState,
  workspace: Workspace,
): Promise<FunctionMeta | undefined> => (await workspace.functionsNamed('state', name))[0]?.fun;

/** Where the ID of a requisite is declared, and as what. */
const idText = (
  { file, line, character }: PositionIn,
  workspace: Workspace,
): { text: string; span: TextSpan } | undefined => {
  const found = idAt(file, line, character, workspace);
  if (!found) return undefined;
  const declared = declarationsOf(found.id, found.module, file, workspace);
  if (declared.length === 0) return undefined;
  const lines = declared.slice(0, 5).map(({ path, declared: { states } }) => {
    const names = states.map(({ name }) => `\`${name}\``).join(', ');
    return `- ${names} in SLS \`${workspace.fileAt(path)?.name ?? path}\``;
  });
  return { text: headed(found.id, lines.join('\n')), span: found.span };
};
