import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { htmlOutput } from '../../src/output/html/html.ts';
import type { StateResults } from '../../src/protocol/result.ts';
import { chromium, startChromium } from '../helpers/chromium.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const dir = mkdtempSync(join(tmpdir(), 'tsalt-report-'));
afterAll(() => removeFolder(dir));

const request = (pieces: string[]) => ({
  options: {} as never,
  write: (text: string) => {
    pieces.push(text);
  },
  complain: () => undefined,
  logLevel: 'quiet' as const,
  timeline: false,
});

/** Writes the report of a fleet whose every result is another; returns its file. */
const report = async (hosts: number, states: number, comment: string): Promise<string> => {
  const pieces: string[] = [];
  const output = htmlOutput(request(pieces));
  const ids = Array.from({ length: hosts }, (_, at) => `web${at + 1}`);
  const tags = Array.from({ length: states }, (_, at) => `file_|-s${at}_|-/etc/s${at}_|-managed`);
  output.emit({ type: 'start', hosts: ids, fun: 'state.apply' });
  const edges = tags.flatMap((_, at) => (at > 1 ? ([[at, at >> 1, 'require']] as const) : []));
  for (const id of ids) {
    output.emit({ type: 'phase', host: id, phase: 'connect' });
    const requisites = () => ({ tags, edges });
    output.emit({ type: 'plan', host: id, total: states, requisites });
    const results: StateResults = {};
    for (const [at, tag] of tags.entries())
      results[tag] = {
        name: `/etc/s${at}`,
        changes: at % 10 === 0 ? { diff: `--- \n+++ \n-old ${id}\n+new ${at}\n` } : {},
        result: at !== 7,
        comment: `${comment} ${id} ${at}: ${(at * 7919 + ids.indexOf(id) * 104_729) % 1_000_003}`,
        __id__: `s${at}`,
        __sls__: 'site',
        __run_num__: at,
        start_time: '10:00:00.000000',
        duration: at,
      };
    output.emit({ type: 'host', result: { id, fun: 'state.apply', retcode: 2, states: results } });
  }
  await output.finish();
  const file = join(dir, `${hosts}-${comment.length}.html`);
  writeFileSync(file, pieces.join(''));
  return file;
};

test('a report of 300 hosts with 200 states each stays below 10 MB, whatever hosts send', async () => {
  expect(statSync(await report(300, 200, 'usual')).size).toBeLessThan(10_000_000);
  const long = await report(300, 200, '<&\u2028'.repeat(500));
  expect(statSync(long).size).toBeLessThan(10_000_000);
  expect(readFileSync(long, 'utf8')).toContain('results are left out');
});

test.skipIf(chromium === undefined)(
  'a report of 300 hosts with 200 states each opens in Chromium in less than two seconds',
  async () => {
    const file = await report(300, 200, 'usual');
    const browser = await startChromium();
    try {
      const times: number[] = [];
      // The first page also starts the browser's processes.
      for (let round = 0; round < 3; round += 1) {
        const page = await browser.newPage();
        const began = performance.now();
        await page.goto(pathToFileURL(file).href);
        await page.waitForSelector('#matrix-body .row');
        await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
        times.push(performance.now() - began);
        expect(await page.$$eval('#matrix-body .row', rows => rows.length)).toBeGreaterThan(0);
        await page.close();
      }
      expect(Math.min(...times)).toBeLessThan(2000);
    } finally {
      await browser.close();
    }
  },
);

test.skipIf(chromium === undefined)('a host named <script> stays text', async () => {
  const id = '</script><script>window.hacked = 1</script>';
  const pieces: string[] = [];
  const output = htmlOutput(request(pieces));
  output.emit({ type: 'start', hosts: [id, '<script>'], fun: 'test.ping' });
  const failure = { kind: 'host', code: 'x', message: `${id} is <b>down</b>` } as const;
  output.emit({ type: 'host', result: { id, fun: 'test.ping', retcode: 1, failure } });
  await output.finish();
  const file = join(dir, 'hostile.html');
  writeFileSync(file, pieces.join(''));
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(file).href);
    const names = await page.$$eval('.name', found => found.map(one => one.textContent));
    expect(names).toEqual([`${id}, failed`, '<script>, skipped']);
    const shown = await page.$eval('.failure', one => one.textContent);
    expect(shown).toBe(failure.message);
    expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBeUndefined();
  } finally {
    await browser.close();
  }
});
