import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { moduleName } from '../../../src/data/signatures/module-docs.ts';
import { chromium, startChromium } from '../../helpers/chromium.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const site = mkdtempSync(join(tmpdir(), 'tsalt-docs-site-'));
afterAll(() => removeFolder(site));

beforeAll(async () => {
  const tsx = join(packageRoot, 'node_modules/tsx/dist/cli.mjs');
  await promisify(execFile)(process.execPath, [tsx, 'scripts/docs-site.ts', site], {
    cwd: packageRoot,
  });
}, 90_000);

const pagesOf = (): string[] =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'));

const read = (page: string): string => readFileSync(join(site, page), 'utf8');

const idsOf = (html: string): Set<string> =>
  new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id));

test('every link and file of the site is there', () => {
  const pages = pagesOf();
  expect(pages.length).toBeGreaterThan(250);
  const ids = new Map(pages.map(page => [page, idsOf(read(page))] as const));
  const broken = pages.flatMap(page =>
    Array.from(read(page).matchAll(/ (?:href|src)="([^"]+)"/g), ([, link = '']) => link)
      .filter(link => !/^[a-z]+:/.test(link))
      .filter(link => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(site, target))) return true;
        return anchor !== undefined && ids.get(target)?.has(decodeURIComponent(anchor)) !== true;
      })
      .map(link => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("every built-in function has a heading and an example, every module Salt's page", {
  tags: 'slow',
}, () => {
  const missing = builtinMetadata().flatMap(meta => {
    const html = read(`ref/${meta.kind}-${meta.file}.html`);
    if (!html.includes('href="https://docs.saltproject.io/')) return [meta.file];
    return meta.functions
      .map(({ name }) => `${moduleName(meta)}.${name}`)
      .filter(name => {
        const [, section = ''] = html.split(`>${name}</h2>`);
        return !section.split('<h2')[0]?.includes('<pre>');
      });
  });
  expect(missing).toEqual([]);
});

describe.skipIf(chromium === undefined)('the site in Chromium', () => {
  let browser: Browser;
  let server: Server;
  const types: Readonly<Record<string, string>> = {
    '.html': 'text/html',
    '.css': 'text/css',
    '.js': 'text/javascript',
    '.json': 'application/json',
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      const file = join(site, path === '/' ? 'index.html' : path);
      if (!existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' });
      return response.end(readFileSync(file));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  test('search finds file.managed, nothing else is requested, the console stays empty', {
    tags: 'slow',
  }, async () => {
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const page = await browser.newPage();
    const trouble: string[] = [];
    page.on('console', message => trouble.push(message.text()));
    page.on('pageerror', error => trouble.push(String(error)));
    page.on('request', request => {
      if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
        trouble.push(request.url());
    });
    await page.goto(`${origin}/guides/install.html`);
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(await page.evaluate('document.getElementById("version").textContent')).toBe(version);
    await page.type('#search', 'file.managed');
    await page.waitForSelector('#found a');
    const first = await page.evaluate('document.querySelector("#found a").textContent');
    expect(first).toContain('file.managed');
    await page.click('#found a');
    await page.waitForSelector('h2#filemanaged');
    expect(page.url()).toBe(`${origin}/ref/state-file.html#filemanaged`);
    expect(trouble).toEqual([]);
  });
});
