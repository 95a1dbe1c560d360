import { moduleName, showDefault, unknownText } from '../src/data/signatures/module-docs.ts';
import type { FunctionMeta, ModuleKind, ModuleMeta, Param } from '../src/protocol/meta.ts';

const titles: Partial<Record<ModuleKind, string>> = {
  exec: 'Execution modules',
  state: 'State modules',
  grains: 'Grains',
};

/** The pages of the reference manual by file name: one per module, and an index. */
export const referencePages = (modules: readonly ModuleMeta[]): Map<string, string> => {
  const groups = new Map<string, ModuleMeta[]>();
  for (const module of modules) {
    const file = `${module.kind}-${module.file}.md`;
    groups.set(file, [...(groups.get(file) ?? []), module]);
  }
  const pages = new Map(
    [...groups].sort(byName).map(([file, parts]) => [file, page(parts)] as const),
  );
  return new Map([['README.md', index(groups)], ...pages]);
};

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;

const index = (groups: ReadonlyMap<string, readonly ModuleMeta[]>): string => {
  const sections = Object.entries(titles).map(([kind, title]) => {
    const lines = [...groups]
      .filter(([, [first]]) => first?.kind === kind)
      .sort(byName)
      .map(([file, parts]) => {
        const [first] = parts;
        const doc = parts.map(part => part.doc).find(Boolean) ?? '';
        const name = first ? moduleName(first) : '';
        const shown = first && name !== first.file ? `${first.file} (as ${name})` : name;
        return `- [${shown}](${file}): ${firstSentence(doc)}`;
      });
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Reference\n\nGenerated from the sources by \`npm run docs\`.\n\n${sections.join('\n')}`;
};

const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.](?=\s|$)/.exec(text)?.[0] ?? text).replace(/\s+/g, ' ');

const page = (parts: readonly ModuleMeta[]): string => {
  const [first] = parts;
  if (!first) return '';
  const name = moduleName(first);
  const docs = parts.flatMap(({ doc }) => doc ?? []);
  const tags = parts.flatMap(part => Object.entries(part.tags ?? {}));
  const functions = parts
    .flatMap(part => part.functions)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const title = `# ${name === first.file ? name : `${first.file} (${name})`}`;
  const kind = `${(titles[first.kind] ?? first.kind).replace(/s$/, '')}.`;
  const fields = tags.map(([tag, text]) => `- ${tag}: ${text}`).join('\n');
  return `${[title, kind, ...docs, fields, ...functions.map(fun => section(name, fun))]
    .filter(part => part !== '')
    .join('\n\n')}\n`;
};

const section = (module: string, fun: FunctionMeta): string => {
  const { positional, rest, keywords = [], anyKeyword } = fun.signature;
  const shown = [
    ...[...positional, ...keywords].map(showParam),
    ...(rest ? [`*${rest.name}`] : []),
    ...(anyKeyword ? ['**kwargs'] : []),
  ];
  const rows = [...positional, ...(rest ? [rest] : []), ...keywords].map(row);
  return [
    `## ${module}.${fun.name}`,
    `\`${module}.${fun.name}(${shown.join(', ')})\``,
    fun.doc ?? '',
    rows.join('\n'),
    unknownText(fun) ?? '',
    fun.returns === undefined ? '' : `Returns ${fun.returns}`,
    ...(fun.examples ?? []).map(text => `\`\`\`\n${text}\n\`\`\``),
  ]
    .filter(part => part !== '')
    .join('\n\n');
};

const showParam = ({ name, optional, default: value }: Param): string =>
  !optional
    ? name
    : `${name}=${value === undefined || value === null ? 'None' : showDefault(value)}`;

const row = ({ name, type, doc }: Param): string =>
  `- \`${name}\`${type === undefined ? '' : ` (\`${type}\`)`}${doc === undefined ? '' : `: ${doc}`}`;
