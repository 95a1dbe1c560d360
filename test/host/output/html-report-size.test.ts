// @module-tag slow
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { htmlOutput } from '../../../src/output/html/html.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { showPlan } from '../../../src/plan/show-as.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { StateResults } from '../../../src/protocol/result.ts';
import { chromium, startChromium } from '../../helpers/chromium.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

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

/** Writes the page of a plan whose every prediction is another; returns its file. */
const planPage = async (hosts: number, states: number): Promise<string> => {
  const tags = Array.from({ length: states }, (_, at) => `file_|-s${at}_|-/etc/s${at}_|-managed`);
  const chunks = tags.map((_, at) => ({
    ...{ state: 'file', fun: 'managed', name: `/etc/s${at}`, order: at },
    ...{ __id__: `s${at}`, __sls__: 'site', __env__: 'base' },
    ...(at > 1 ? { require: [{ file: `s${at >> 1}` }] } : {}),
  })) satisfies LowChunk[];
  const predictions = Array.from({ length: hosts * states }, (_, place) => {
    const at = place % states;
    const isChange = at % 10 === 0;
    const diff = `--- \n+++ \n-old ${place}\n+new ${at}\n`;
    const about = { tag: tags[at] ?? '', id: `s${at}`, sls: 'site', name: `/etc/s${at}` };
    const result = isChange ? null : true;
    return { ...about, result, comment: `text ${place}`, changes: isChange ? { diff } : {} };
  });
  const list = [...tags.keys()];
  const plan: Plan = {
    ...{ tsalt: '1.0.0', artifact: '', jid: '1', failed: [], findings: [], files: {}, folders: {} },
    ...{ created: '2026-01-01T00:00:00.000Z', expires: '2026-01-02T00:00:00.000Z' },
    call: { target: '*', fun: 'state.apply', args: [], kwargs: {} },
    ...{ chunks, states: predictions },
    hosts: Object.fromEntries(
      Array.from({ length: hosts }, (_, host) => [
        `web${host + 1}`,
        {
          ...{ chunks: list, states: list.map(at => host * states + at) },
          ...{ saltenv: 'base', opts: {}, sources: {}, tainted: [] },
        },
      ]),
    ),
  };
  const pieces: string[] = [];
  const write = (text: string) => void pieces.push(text);
  await showPlan(plan, 'html', { options: {} as never, write, apply: 'tsalt-ssh apply p' });
  const file = join(dir, `plan-${hosts}.html`);
  writeFileSync(file, pieces.join(''));
  return file;
};

test('a report of 300 hosts with 200 states each stays below 10 MB, whatever hosts send', async () => {
  expect(statSync(await report(300, 200, 'usual')).size).toBeLessThan(10_000_000);
  expect(statSync(await planPage(300, 200)).size).toBeLessThan(10_000_000);
  const long = await report(300, 200, '<&\u2028'.repeat(500));
  expect(statSync(long).size).toBeLessThan(10_000_000);
  expect(readFileSync(long, 'utf8')).toContain('results are left out');
});

test.skipIf(chromium === undefined).each([
  ['a report', () => report(300, 200, 'usual')],
  ['a plan', () => planPage(300, 200)],
])(
  '%s of 300 hosts with 200 states each opens in Chromium with less than two seconds of work',
  async (_, written) => {
    const file = await written();
    const browser = await startChromium();
    try {
      const times: number[] = [];
      // The first page also starts the browser's processes.
      for (let round = 0; round < 3; round += 1) {
        const page = await browser.newPage();
        const client = await page.createCDPSession();
        // The time that the page's thread works: other programs on the machine do not count.
        await client.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(pathToFileURL(file).href, { timeout: 120_000 });
        await page.waitForSelector('#matrix-body .row');
        await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
        const { metrics } = await client.send('Performance.getMetrics');
        times.push(metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
        expect(await page.$$eval('#matrix-body .row', rows => rows.length)).toBeGreaterThan(0);
        await page.close();
      }
      expect(Math.min(...times)).toBeGreaterThan(0.01);
      expect(Math.min(...times)).toBeLessThan(2);
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
