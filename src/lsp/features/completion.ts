import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver/node';
import { functionText, moduleName } from '../../data/signatures/module-docs.ts';
import type { FunctionMeta, Param } from '../../protocol/meta.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import { commonSchemas } from '../../validate/schemas/common-arguments.ts';
import { topSchema } from '../../validate/schemas/project-schemas.ts';
import { type KnownFacts, nestedKeys } from '../check-document.ts';
import { absoluteName, isSettings, type Workspace } from '../workspace.ts';
import { includedPaths } from './ids.ts';
import { contextAt, type PositionIn } from './position-context.ts';
import { schemaChoices } from './schema-keys.ts';
import { argumentDoc } from './texts.ts';
import { pillarKeysWritten } from './written-keys.ts';

/** The choices for a position, and the text before it that a choice replaces. */
type Offer = { readonly typed: string; readonly items: readonly Choice[] };
type Choice = Pick<
  CompletionItem,
  'label' | 'kind' | 'detail' | 'insertText' | 'sortText' | 'data'
>;

const mostChoices = 3000;

/** Offers what can be written at a position. */
export const completions = async (
  position: PositionIn,
  workspace: Workspace,
  facts: KnownFacts,
): Promise<CompletionItem[]> => {
  const offer = await offerAt(position, workspace, facts);
  if (!offer) return [];
  const { line, character } = position;
  const range = {
    start: { line, character: Math.max(0, character - offer.typed.length) },
    end: { line, character },
  };
  const typed = offer.typed.toLowerCase();
  return offer.items
    .filter(({ label }) => isFit(label.toLowerCase(), typed))
    .map(({ sortText, ...item }) => ({
      ...item,
      sortText: `${rankOf(item.label.toLowerCase(), typed)}${sortText ?? item.label}`,
    }))
    .sort((a, b) => (a.sortText < b.sortText ? -1 : 1))
    .slice(0, mostChoices)
    .map(({ insertText, ...item }) => ({
      ...item,
      filterText: item.label,
      textEdit: { range, newText: insertText ?? item.label },
    }));
};

/** Ranks choices that begin with the typed text first, then those that contain it. */
const rankOf = (label: string, typed: string): number =>
  label.startsWith(typed) ? 0 : label.includes(typed) ? 1 : 2;

/** Returns whether a label has the letters of a word in this order. */
const isFit = (label: string, typed: string): boolean => {
  let at = 0;
  for (const letter of typed) {
    at = label.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
};

/** Adds the documentation to a choice: it is only read for the one that is shown. */
export const completionDocs = async (
  item: CompletionItem,
  workspace: Workspace,
): Promise<CompletionItem> => {
  const data: unknown = item.data;
  if (!isPlainDict(data) || typeof data.name !== 'string') return item;
  const kind = data.kind === 'exec' ? 'exec' : 'state';
  const [found] = await workspace.functionsNamed(kind, data.name);
  if (!found) return item;
  const value =
    typeof data.argument === 'string'
      ? argumentDoc(found.fun, data.argument)
      : functionText(found.fun);
  return value === undefined ? item : { ...item, documentation: { kind: 'markdown', value } };
};

const offerAt = async (
  position: PositionIn,
  workspace: Workspace,
  facts: KnownFacts,
): Promise<Offer | undefined> => {
  const { file } = position;
  const context = contextAt(position);
  if (isSettings(file.kind))
    return context?.kind === 'template'
      ? undefined
      : schemaOffer(position, workspace.files?.schemaOf(file.kind));
  switch (context?.kind) {
    case undefined:
      return undefined;
    case 'template':
      return templateOffer(context.before, position, workspace, facts);
    case 'salt-path':
      return { typed: context.typed, items: pathsOf(workspace, file.saltenv) };
    case 'match':
      return {
        typed: context.typed,
        items: schemaOffer(position, topSchema())?.items ?? [],
      };
    case 'sls':
      return { typed: context.typed, items: slsNames(context.typed, position, workspace) };
    case 'state':
      return { typed: context.typed, items: await stateFunctions(workspace) };
    case 'function':
      return { typed: context.typed, items: await ownFunctions(context.module, workspace) };
    case 'argument':
      return { typed: context.typed, items: await argumentsOf(context.state, workspace) };
    case 'value':
      return {
        typed: context.typed,
        items: await valuesOf(context.state, context.argument, workspace),
      };
    case 'requisite':
      return { typed: context.typed, items: requisitesOf(context.module, position, workspace) };
  }
};

const schemaOffer = (position: PositionIn, schema: PlainDict | undefined): Offer | undefined => {
  const found = schema && schemaChoices(position, schema);
  if (!found) return undefined;
  const items = found.items.map(({ label, doc, isKey }) => ({
    label,
    kind: isKey ? CompletionItemKind.Property : CompletionItemKind.Value,
    detail: firstSentence(doc),
    insertText: isKey ? `${label}: ` : label,
  }));
  return { typed: found.typed, items };
};

const pathsOf = (workspace: Workspace, saltenv: string): Choice[] =>
  workspace
    .saltPaths(saltenv)
    .filter(path => !path.endsWith('.sls'))
    .map(label => ({ label, kind: CompletionItemKind.File }));

/** Names of SLS; relative ones while the name begins with a dot. */
const slsNames = (typed: string, { file }: PositionIn, workspace: Workspace): Choice[] => {
  const dots = /^\.+/.exec(typed)?.[0] ?? '';
  const base = dots === '' ? '' : absoluteName(`${dots}x`, file).slice(0, -1);
  const wanted = file.kind === 'top' ? ({ ...file, kind: 'sls' } as const) : file;
  return workspace
    .slsFiles(wanted)
    .flatMap(({ name, kind }) =>
      name === undefined || kind === 'top' || kind === 'pillar-top' || !name.startsWith(base)
        ? []
        : [{ label: dots + name.slice(base.length), kind: CompletionItemKind.Module }],
    );
};

const firstSentence = (doc = ''): string => /^[^\n]*?(?:\.(?=\s|$)|$)/m.exec(doc)?.[0] ?? '';

const functionChoice = (
  label: string,
  name: string,
  kind: 'state' | 'exec',
  fun: FunctionMeta,
) => ({
  label,
  kind: CompletionItemKind.Function,
  detail: firstSentence(fun.doc),
  data: { kind, name },
});

const stateFunctions = async (workspace: Workspace): Promise<Choice[]> =>
  [...(await workspace.functions('state'))].map(([name, fun]) => ({
    ...functionChoice(name, name, 'state', fun),
    insertText: `${name}:`,
  }));

const ownFunctions = async (module: string, workspace: Workspace): Promise<Choice[]> =>
  [...(await workspace.functions('state'))]
    .filter(([name]) => name.startsWith(`${module}.`))
    .map(([name, fun]) => functionChoice(name.slice(module.length + 1), name, 'state', fun));

const paramsOf = (fun: FunctionMeta | undefined): readonly Param[] =>
  fun ? [...fun.signature.positional, ...(fun.signature.keywords ?? [])] : [];

const argumentsOf = async (state: string, workspace: Workspace): Promise<Choice[]> => {
  const fun = (await workspace.functions('state')).get(state);
  const own = paramsOf(fun);
  const named = new Set(own.map(({ name }) => name));
  return [
    ...own.map(({ name, doc, optional }) => ({
      label: name,
      kind: CompletionItemKind.Property,
      detail: firstSentence(doc),
      insertText: `${name}: `,
      sortText: `${optional ? '1' : '0'}${name}`,
      data: { kind: 'state', name: state, argument: name },
    })),
    ...Object.entries(commonSchemas)
      .filter(([name]) => !named.has(name))
      .flatMap(([name, schema]) =>
        isPlainDict(schema) && typeof schema.description === 'string'
          ? [
              {
                label: name,
                kind: CompletionItemKind.Keyword,
                detail: schema.description,
                insertText: `${name}: `,
                sortText: `2${name}`,
              },
            ]
          : [],
      ),
  ];
};

/** Values of a type that has only a few. */
const valuesOf = async (
  state: string,
  argument: string,
  workspace: Workspace,
): Promise<Choice[]> => {
  const fun = (await workspace.functions('state')).get(state);
  const type = paramsOf(fun).find(({ name }) => name === argument)?.type ?? '';
  const values = type
    .split('|')
    .map(part => part.trim())
    .flatMap(part =>
      part === 'boolean' ? ['True', 'False'] : (/^(['"])(.*)\1$/.exec(part)?.[2] ?? []),
    );
  if (argument === 'source') return pathsOf(workspace, 'base').map(asUrl);
  return values.map(label => ({ label, kind: CompletionItemKind.Value }));
};

const asUrl = (choice: Choice): Choice => ({ ...choice, label: `salt://${choice.label}` });

/** States that a requisite can name: of this SLS, of those it includes, then of all others. */
const requisitesOf = (
  module: string | undefined,
  { file }: PositionIn,
  workspace: Workspace,
): Choice[] => {
  const near = new Map(
    [file.path, ...includedPaths(file, workspace)].map((path, at) => [path, at]),
  );
  const others = workspace.slsFiles(file).map(({ path }) => path);
  const found = new Map<string, Choice>();
  for (const path of new Set([...near.keys(), ...others]))
    for (const { id, states, isExtend } of workspace.outline(path).ids) {
      if (isExtend || id.includes('{')) continue;
      for (const name of new Set(states.map(state => state.name.split('.')[0] ?? ''))) {
        if (module !== undefined && module !== name) continue;
        const label = module === undefined ? `${name}: ${id}` : id;
        if (found.has(label)) continue;
        const sortText = `${String(near.get(path) ?? 9999).padStart(4, '0')}${label}`;
        const detail = workspace.fileAt(path)?.name ?? '';
        found.set(label, { label, kind: CompletionItemKind.Reference, detail, sortText });
      }
    }
  return [...found.values()];
};

/** Grains, pillar keys and functions in an expression of a template. */
const templateOffer = async (
  before: string,
  position: PositionIn,
  workspace: Workspace,
  facts: KnownFacts,
): Promise<Offer | undefined> => {
  const call =
    /\b(?:salt(?:\.|\[['"]))?(grains|pillar)\.(?:get|item)(?:['"]\])?\(\s*['"]([^'"]*)$/.exec(
      before,
    );
  if (call) {
    const keys = await keysOf(call[1] ?? '', workspace, facts);
    return { typed: call[2] ?? '', items: keys.map(keyChoice) };
  }
  const chain = /\b(grains|pillar)((?:\.\w+|\[['"][^'"\]]*['"]\])*)(?:\.|\[['"])([\w.-]*)$/.exec(
    before,
  );
  if (chain) {
    const above = [...(chain[2] ?? '').matchAll(/\w[\w.-]*/g)].map(([key]) => `${key}:`).join('');
    const keys = await keysOf(chain[1] ?? '', workspace, facts);
    const below = keys
      .filter(key => key.startsWith(above) && !key.slice(above.length).includes(':'))
      .map(key => key.slice(above.length));
    return { typed: chain[3] ?? '', items: below.map(keyChoice) };
  }
  const called = /\bsalt(?:\.|\[['"])([\w.]*)$/.exec(before);
  if (called) return { typed: called[1] ?? '', items: await execFunctions(workspace) };
  const file = /\b(?:from|import|include|extends|render)\s+['"]([^'"]*)$/.exec(before);
  if (file)
    return {
      typed: file[1] ?? '',
      items: workspace
        .saltPaths(position.file.saltenv)
        .map(label => ({ label, kind: CompletionItemKind.File })),
    };
  const word = /(?:^|[^\w.'"])([A-Za-z_]\w*)?$/.exec(before);
  return word ? { typed: word[1] ?? '', items: variablesIn(position.text) } : undefined;
};

const keyChoice = (label: string): Choice => ({ label, kind: CompletionItemKind.Field });

const keysOf = async (kind: string, workspace: Workspace, facts: KnownFacts): Promise<string[]> =>
  kind === 'grains'
    ? nestedKeys(facts.grains, mostChoices)
    : [...new Set([...nestedKeys(facts.pillar, mostChoices), ...pillarKeysWritten(workspace)])];

const execFunctions = async (workspace: Workspace): Promise<Choice[]> =>
  (await workspace.modules())
    .filter(module => module.kind === 'exec' && module.broken === undefined)
    .flatMap(module =>
      module.functions.map(fun => {
        const name = `${moduleName(module)}.${fun.name}`;
        return functionChoice(name, name, 'exec', fun);
      }),
    );

/** Lists Salt's variables, and those that a template sets, defines and imports. */
const variablesIn = (text: string): Choice[] => {
  const names = new Set([
    'grains',
    'pillar',
    'salt',
    'opts',
    'saltenv',
    'sls',
    'slspath',
    'tpldir',
    'tplfile',
  ]);
  for (const [, name = ''] of text.matchAll(/\{%[-+]?\s*(?:set|macro|assign|for)\s+(\w+)/g))
    names.add(name);
  for (const [, list = ''] of text.matchAll(
    /\bimport\s+([\w ,]+?)\s*(?:with(?:out)? context)?\s*[-+]?%\}/g,
  ))
    for (const part of list.split(','))
      names.add(
        part
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? '',
      );
  names.delete('');
  return [...names].map(label => ({ label, kind: CompletionItemKind.Variable }));
};
