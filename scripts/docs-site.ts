// Builds the documentation as a static site from docs/ and the reference of all built-in functions:
// `npm run docs:site [-- FOLDER]`, into dist-site by default. Pages load nothing from elsewhere.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import MiniSearch from 'minisearch';
import { builtinMetadata } from '../src/bundle/metadata.ts';
import { moduleName } from '../src/data/signatures/module-docs.ts';
import type { ModuleMeta } from '../src/protocol/meta.ts';
import { wrapperModules } from '../src/wrapper/table.ts';
import { referencePages } from './reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = process.argv[2] ?? join(root, 'dist-site');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const source = 'https://github.com/tsalt-ssh/tsalt-ssh/blob/main/';
const markdown = new MarkdownIt({ html: false, linkify: false });

/** A part of a page, below one heading: what the search finds. */
type Section = { readonly id: string; readonly title: string; readonly page: string; text: string };

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** Anchors as GitHub makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const htmlPath = (page: string): string =>
  page.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html');

/** Returns the link as it is on the site; files of the project outside docs are on GitHub. */
const linkOf = (href: string, page: string, pages: ReadonlyMap<string, string>): string => {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, '');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  for (const known of [target, `${target}/README.md`])
    if (pages.has(known)) return posix.relative(posix.dirname(page), htmlPath(known)) + hash;
  return source + posix.normalize(posix.join('docs', target)) + hash;
};

/** Renders a page, and splits its text into sections for the search. */
const renderPage = (
  page: string,
  pages: ReadonlyMap<string, string>,
): { readonly title: string; readonly html: string; readonly sections: Section[] } => {
  const tokens = markdown.parse(pages.get(page) ?? '', {});
  const seen = new Map<string, number>();
  const sections: Section[] = [];
  tokens.forEach((token, at) => {
    const inline = tokens[at + 1];
    if (token.type === 'heading_open' && inline?.children) {
      const title = inline.children.map(({ content }) => content).join('');
      const plain = anchorOf(title);
      const count = seen.get(plain) ?? 0;
      seen.set(plain, count + 1);
      const anchor = count === 0 ? plain : `${plain}-${count}`;
      token.attrSet('id', anchor);
      sections.push({ id: `${htmlPath(page)}#${anchor}`, title, page: htmlPath(page), text: '' });
    }
    for (const child of token.children ?? [])
      if (child.type === 'link_open')
        child.attrSet('href', linkOf(String(child.attrGet('href')), page, pages));
    const last = sections.at(-1);
    if (last && (token.type === 'inline' || token.type === 'fence'))
      last.text += ` ${token.content}`;
  });
  return {
    title: sections[0]?.title ?? page,
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  };
};

const menu: readonly (readonly [title: string, page: string])[] = [
  ['Start', 'getting-started.md'],
  ['Documentation', 'README.md'],
  ['Functions', 'ref/README.md'],
  ['Command line', 'reference/command-line.md'],
  ['Security', 'security.md'],
];

const shell = (page: string, title: string, html: string): string => {
  const up = posix.relative(posix.dirname(page), '.') || '.';
  const links = menu.map(
    ([name, to]) => `<a href="${posix.relative(posix.dirname(page), htmlPath(to))}">${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:">
<title>${escapeHtml(title)} · tsalt-ssh ${escapeHtml(version)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}/site.css">
<script type="module" src="${up}/search.js"></script>
</head>
<body>
<header><strong>tsalt-ssh</strong> <span id="version">${escapeHtml(version)}</span>
<nav>${links.join(' ')}</nav>
<input id="search" type="search" placeholder="Search" aria-label="Search">
<ol id="found" hidden></ol></header>
<main>
${html}</main>
</body>
</html>
`;
};

/** Salt's page of a module, and an example for functions whose documentation has none. */
const withSaltLinks = (
  reference: ReadonlyMap<string, string>,
  modules: readonly ModuleMeta[],
): Map<string, string> => {
  const kinds: Readonly<Record<string, string>> = {
    exec: 'modules',
    state: 'states',
    grains: 'grains',
  };
  const known = new Map<string, ModuleMeta>(
    modules.map(meta => [`${meta.kind}-${meta.file}.md`, meta] as const),
  );
  return new Map(
    [...reference].map(([file, text]) => {
      const meta = known.get(file);
      if (meta === undefined) return [`ref/${file}`, text] as const;
      const name = meta.kind === 'grains' ? meta.file : moduleName(meta);
      const link = `https://docs.saltproject.io/en/latest/ref/${kinds[meta.kind]}/all/salt.${kinds[meta.kind]}.${name}.html`;
      const [title = '', ...rest] = withExamples(text, meta.kind).split('\n');
      return [`ref/${file}`, [title, '', `[Salt's page](${link})`, ...rest].join('\n')] as const;
    }),
  );
};

const withExamples = (text: string, kind: string): string =>
  text
    .split(/^(?=## )/m)
    .map(part => {
      const name = /^## (\S+)/.exec(part)?.[1];
      if (name === undefined || part.includes('```')) return part;
      return `${part.trimEnd()}\n\n\`\`\`\n${exampleOf(name, kind)}\n\`\`\`\n\n`;
    })
    .join('');

const exampleOf = (name: string, kind: string): string =>
  kind === 'state'
    ? `tsalt-ssh '*' state.single ${name} name=NAME`
    : kind === 'grains'
      ? "tsalt-ssh '*' grains.items"
      : `tsalt-ssh '*' ${name}`;

const css = `:root{color-scheme:light dark}body{margin:0;font:16px/1.5 system-ui,sans-serif}
header{position:sticky;top:0;padding:.5rem 1rem;background:Canvas;border-bottom:1px solid #8886;display:flex;flex-wrap:wrap;gap:1rem;align-items:center}
nav a{margin-right:.8rem}main{max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
#search{margin-left:auto;font:inherit}#found{flex-basis:100%;max-height:60vh;overflow:auto;margin:0}
pre{overflow:auto;padding:.7rem;background:#8882}code{font-family:ui-monospace,monospace}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #8886;padding:.2rem .5rem;text-align:left}
h2{border-top:1px solid #8884;padding-top:.8rem;scroll-margin-top:5rem}
`;

/** The names of functions are words of the search as a whole, and by their parts. */
const searchScript = `import MiniSearch from './minisearch.js';
const input = document.getElementById('search');
const list = document.getElementById('found');
const base = new URL('.', import.meta.url);
const split = text => text.toLowerCase().split(/[^\\p{L}\\p{N}_.-]+/u)
  .flatMap(word => [word, ...word.split(/[.-]+/)]).filter(Boolean);
let index;
const load = () => index ??= fetch(new URL('search.json', base)).then(reply => reply.text())
  .then(text => MiniSearch.loadJSON(text, OPTIONS));
input.addEventListener('focus', load);
input.addEventListener('input', async () => {
  const query = input.value;
  const found = (await load()).search(query, { prefix: true, boost: { title: 8 }, combineWith: 'AND' });
  if (query !== input.value) return;
  list.hidden = found.length === 0;
  list.replaceChildren(...found.slice(0, 20).map(({ id, title, page }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = new URL(id, base).href;
    link.textContent = title + ' (' + page + ')';
    item.append(link);
    return item;
  }));
});
`;
const split = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_.-]+/u)
    .flatMap(word => [word, ...word.split(/[.-]+/)])
    .filter(Boolean);

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

const modules = [...builtinMetadata(), ...wrapperModules()];
const pages = new Map(
  readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => name.endsWith('.md') && !name.startsWith('ref/'))
    .map(name => [name, readFileSync(join(root, 'docs', name), 'utf8')] as const),
);
for (const [name, text] of withSaltLinks(referencePages(modules), modules)) pages.set(name, text);

rmSync(folder, { recursive: true, force: true });
const index = new MiniSearch<Section>({
  fields: ['title', 'text'],
  storeFields: ['title', 'page'],
  tokenize: split,
});
for (const page of pages.keys()) {
  const { title, html, sections } = renderPage(page, pages);
  write(htmlPath(page), shell(page, title, html));
  index.addAll(sections);
}
write('search.json', JSON.stringify(index));
write('site.css', css);
write(
  'search.js',
  searchScript.replace(
    'OPTIONS',
    "{ fields: ['title', 'text'], storeFields: ['title', 'page'], tokenize: split }",
  ),
);
cpSync(join(root, 'node_modules/minisearch/dist/es/index.js'), join(folder, 'minisearch.js'));
console.log(`${folder}: ${pages.size} pages`);
