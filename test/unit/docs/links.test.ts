import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

const top = readdirSync(packageRoot).filter(name => /^[A-Z_]+\.md$/.test(name));
const pages = [
  ...top,
  ...readdirSync(join(packageRoot, 'docs'), { encoding: 'utf8', recursive: true })
    .filter(name => name.endsWith('.md') && !name.startsWith('ref/'))
    .map(name => `docs/${name}`),
];

const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, code => code.replace(/[[\]]/g, ''));

/** Anchors as GitHub makes them of headings. */
const anchors = (path: string): Set<string> =>
  new Set(
    Array.from(
      readFileSync(path, 'utf8')
        .replace(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/^#+ (.+)$/gm),
      ([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
    ),
  );

const broken = (page: string): string[] =>
  Array.from(
    withoutCode(readFileSync(join(packageRoot, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g),
    ([, link = '']) => link,
  )
    .filter(link => !/^[a-z]+:/.test(link))
    .filter(link => {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? join(packageRoot, page) : join(packageRoot, dirname(page), path);
      if (relative(packageRoot, file).startsWith('..') || !existsSync(file)) return true;
      return anchor !== undefined && (statSync(file).isDirectory() || !anchors(file).has(anchor));
    })
    .map(link => `${page}: ${link}`);

test('every relative link of README, CONTRIBUTING and docs leads to a file and a heading', () => {
  expect(pages.length).toBeGreaterThan(15);
  expect(pages.flatMap(broken)).toEqual([]);
});

test('every page of docs can be reached from docs/README.md', () => {
  const seen = new Set<string>();
  const visit = (page: string): void => {
    if (seen.has(page) || !page.endsWith('.md')) return;
    seen.add(page);
    for (const [, link = ''] of withoutCode(readFileSync(join(packageRoot, page), 'utf8')).matchAll(
      /\]\(([^)\s#]+)[^)]*\)/g,
    )) {
      const to = join(dirname(page), link);
      if (pages.includes(to)) visit(to);
    }
  };
  visit('docs/README.md');
  expect(pages.filter(page => page.startsWith('docs/') && !seen.has(page))).toEqual([]);
});
