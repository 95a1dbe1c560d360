import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, startChromium } from '../../../helpers/chromium.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

const hostileDiff = '</script><script>window.hacked = 1</script><img src=x onerror="hacked=2">';

let project: Project;
let browser: Browser;
let html = '';

/** A page, what its console said, and what it asked the network for. */
type Opened = { readonly page: Page; readonly trouble: string[] };

const open = async (file: string): Promise<Opened> => {
  const page = await browser.newPage();
  const trouble: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warn') trouble.push(message.text());
  });
  page.on('pageerror', error => trouble.push(String(error)));
  page.on('request', request => {
    if (request.url() !== url) trouble.push(request.url());
  });
  await page.goto(url);
  return { page, trouble };
};

const texts = (page: Page, selector: string): Promise<string[]> =>
  page.$$eval(selector, found => found.map(element => element.textContent ?? ''));

describe.skipIf(chromium === undefined)('--report html in Chromium', () => {
  beforeAll(async () => {
    browser = await startChromium();
    project = await startProject({
      hosts: ['web1', 'web2', 'web3'],
      files: {
        'states/site.sls': `#!jinja|yaml
{% if grains.id == 'web2' %}
conf:
  file.managed:
    - name: {{ grains.root }}/conf
    - contents: |
        first
        ${hostileDiff}
{% endif %}
'<img src=x onerror=hacked=3>':
  test.succeed_without_changes: []
breaks:
  {{ 'test.fail_without_changes' if grains.id == 'web2' else 'test.succeed_with_changes' }}:
    - require:
      - test: '<img src=x onerror=hacked=3>'
{%- if grains.id == 'web2' %}
      - file: conf
{%- endif %}
after:
  test.succeed_with_changes:
    - require:
      - test: breaks
{% for at in [1, 2] %}
slow{{ at }}:
  cmd.run:
    - name: sleep 1
    - parallel: True
{% endfor %}
hidden:
  cmd.run:
    - name: echo c3RhdGUtNWVjcmV0 | base64 -d
    - no_log: True
`,
      },
    });
    for (const { root } of Object.values(project.hosts)) writeFileSync(join(root, 'conf'), 'old\n');
    const down = 'down1:\n  host: 127.0.0.1\n  port: 1\n  user: x\n';
    project.roster(
      Object.values(project.hosts)
        .map(({ entry }) => entry)
        .join('') + down,
    );
    const { code, stderr } = await project.run(
      ...['*', 'state.apply', 'site', 'pillar={token: 5ecret}', '--report', 'html=run.html'],
    );
    expect(code, stderr).toBe(68);
    html = join(project.dir, 'run.html');
  });
  afterAll(async () => {
    await browser?.close();
    await project?.close();
  });

  test('the file is private, holds no secret, and has one script besides its data', () => {
    const text = readFileSync(html, 'utf8');
    expect(statSync(html).mode & 0o777).toBe(0o600);
    expect(text).not.toContain('5ecret');
    expect(text.match(/<script/g)).toHaveLength(2);
    expect(text.match(/<\/script/g)).toHaveLength(2);
  });

  test('hosts can be filtered, searched and unfolded, without an error on the console', async () => {
    const { page, trouble } = await open(html);
    const rows = () => texts(page, '#matrix-body .name');
    expect(await rows()).toHaveLength(4);
    expect(await texts(page, '#outcomes button')).toEqual([
      '4 all',
      '1 unreachable',
      '1 failed',
      '2 changed',
    ]);
    await page.click('button[data-outcome=failed]');
    expect(await rows()).toEqual([expect.stringMatching(/^web2, failed/)]);
    expect(await texts(page, '#shown')).toEqual(['1 of 4 hosts']);
    await page.click('button[data-outcome=all]');
    await page.type('#search', 'WEB3');
    expect(await rows()).toEqual([expect.stringMatching(/^web3, changed/)]);
    await page.$eval('#search', input => {
      (input as HTMLInputElement).value = '';
      input.dispatchEvent(new Event('input'));
    });
    await page.$eval('#folded', box => (box as HTMLInputElement).click());
    await expect.poll(rows).toHaveLength(3);
    expect(await rows()).toContainEqual(expect.stringMatching(/^2 hosts alike: web[13], web[13],/));
    expect(trouble).toEqual([]);
  });

  test('a host shows results, diffs, parallel states on the timeline and what its failure led to', async () => {
    const { page, trouble } = await open(html);
    await page.click('[data-host=web2] .name');
    expect(await texts(page, '#host-title')).toEqual(['web2 – failed']);
    const open1 = await texts(page, 'details.result[open] summary strong');
    expect(open1).toEqual(['breaks', 'after']);
    // A state that changed nothing is there on demand.
    const isHidden = () =>
      page.$$eval('details.result.clean', found => found.map(one => (one as HTMLElement).hidden));
    expect(await isHidden()).toEqual([true]);
    await page.click('#show-clean');
    expect(await isHidden()).toEqual([false]);
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = true;
    });
    expect(await texts(page, '.diff ins')).toContain(`+${hostileDiff}\n`);
    expect(await texts(page, '.diff del')).toContain('-old\n');
    const bars = await page.$$eval('.timeline li', found =>
      found.map(item => ({
        text: item.querySelector('.what')?.textContent ?? '',
        start: Number(item.getAttribute('data-start')),
        length: Number(item.getAttribute('data-length')),
      })),
    );
    const stages = bars.slice(0, 5).map(({ text }) => text);
    expect(stages).toEqual(expect.arrayContaining(['connect', 'log in']));
    const slow = bars.filter(({ text }) => text.includes('slow'));
    expect(slow).toHaveLength(2);
    for (const { length } of slow) expect(length).toBeGreaterThan(900);
    expect(Math.abs((slow[0]?.start ?? 0) - (slow[1]?.start ?? 0))).toBeLessThan(800);
    const nodes = await page.$$eval('.node', found =>
      found.map(node => node.getAttribute('aria-label') ?? ''),
    );
    expect(nodes).toHaveLength(4);
    expect(nodes).toContain(
      'test.fail_without_changes breaks, failed, require <img src=x onerror=hacked=3>, require conf',
    );
    expect(await page.$$('.edge.failed')).toHaveLength(1);
    expect(trouble).toEqual([]);
  });

  test('the graph zooms, moves and leads to a state by keyboard', async () => {
    const { page } = await open(html);
    await page.click('[data-host=web2] .name');
    const view = () => page.$eval('svg.graph', svg => svg.getAttribute('viewBox') ?? '');
    const whole = await view();
    await page.click('[aria-label="Zoom in"]');
    const near = await view();
    expect(near).not.toBe(whole);
    await page.$eval('svg.graph', svg => (svg as SVGElement).focus());
    await page.keyboard.press('ArrowRight');
    expect(await view()).not.toBe(near);
    await page.keyboard.press('0');
    expect(await view()).toBe(whole);
    await page.$eval('.node[aria-label*=" conf,"]', node => (node as SVGElement).focus());
    await page.keyboard.press('Enter');
    const focused = await page.evaluate(() => document.activeElement?.textContent);
    expect(focused).toContain('conf');
  });

  test('the command to run again is there, for all hosts and for those that failed', async () => {
    const { page } = await open(html);
    const [command = ''] = await texts(page, '#command');
    expect(command).toBe("tsalt-ssh --report=html=run.html '*' state.apply site 'pillar=***'");
    const [rerun = ''] = await texts(page, '#rerun');
    expect(rerun).toContain('-L ');
    expect(rerun).toContain('web2');
    expect(rerun).not.toContain('web1');
  });

  test('hostile names stay text, and the policy blocks a script that is put into the page', async () => {
    const { page } = await open(html);
    expect(await texts(page, '.column')).toContain('<img src=x onerror=hacked=3>');
    expect(await page.$$('img')).toEqual([]);
    expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBeUndefined();
    const blocked = await page.evaluate(async () => {
      const violation = new Promise<string>(resolve => {
        addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective));
      });
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 4';
      document.body.append(script);
      return [await violation, Reflect.get(window, 'hacked') ?? 'no'];
    });
    expect(blocked).toEqual(['script-src-elem', 'no']);
  });

  test('everything that can be used has a name for screen readers', async () => {
    const { page } = await open(html);
    await page.click('[data-host=web2] .name');
    const client = await page.createCDPSession();
    const { nodes } = (await client.send('Accessibility.getFullAXTree')) as {
      nodes: { ignored?: boolean; role?: { value: string }; name?: { value: string } }[];
    };
    const used = ['button', 'link', 'checkbox', 'searchbox', 'table', 'columnheader', 'heading'];
    const found = nodes.filter(({ ignored, role }) => !ignored && used.includes(role?.value ?? ''));
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(({ name }) => (name?.value ?? '') === '')).toEqual([]);
    for (const role of ['table', 'searchbox', 'link'])
      expect(found.map(node => node.role?.value)).toContain(role);
  });

  test('the page of a plan shows what hosts have in common, and how to apply it', {
    tags: 'slow',
  }, async () => {
    const call = ['web*', 'state.apply', 'site', '--skip', 'hidden', '--plan-out', 'site.plan'];
    const made = await project.run(...call);
    // A state of web2 fails, and would fail again.
    expect(made.code, made.stderr).toBe(20);
    const shown = await project.run('show', 'site.plan', '--out=html', '--out-file', 'plan.html');
    expect(shown.code, shown.stderr).toBe(0);
    const { page, trouble } = await open(join(project.dir, 'plan.html'));
    expect(await texts(page, '#title')).toEqual([expect.stringMatching(/^Plan \d+$/)]);
    expect(await texts(page, '#facts dt')).toEqual(['Call', 'Hosts', 'Made', 'Expires', 'Made by']);
    expect(await texts(page, '#command-0')).toEqual(['tsalt-ssh apply site.plan']);
    expect(await texts(page, '#changes h2')).toEqual(['What would change']);
    expect(await texts(page, '#changes .group h3')).toContain('3 hosts alike');
    expect(await texts(page, '#outcomes button')).toContainEqual('2 would change');
    expect(await texts(page, '.group .result strong')).toContain('slow1');
    await page.click('.group .hosts button');
    expect(await texts(page, '#host-title')).toEqual([expect.stringMatching(/^web\d – would/)]);
    expect((await page.$$('.node')).length).toBeGreaterThan(1);
    expect(await page.$$('.timeline')).toEqual([]);
    expect(trouble).toEqual([]);
  });

  test('the page of an audit shows what has drifted, also as a report', {
    tags: 'slow',
  }, async () => {
    const audit = ['audit', 'web[13]', 'site', '--out=html', '--out-file', 'audit.html'];
    const { code, stderr } = await project.run(...audit, '--report', 'html=beside.html');
    expect(code, stderr).toBe(21);
    for (const file of ['audit.html', 'beside.html']) {
      const { page, trouble } = await open(join(project.dir, file));
      expect(await texts(page, '#title')).toEqual([expect.stringMatching(/^Audit \d+$/)]);
      expect(await texts(page, '#outcomes button')).toEqual(['2 all', '2 drifted']);
      expect(await texts(page, '#changes h2')).toEqual(['What has drifted']);
      expect(await texts(page, '#command-0')).toEqual([
        expect.stringMatching(/^tsalt-ssh -L web[13],web[13] state\.apply site$/),
      ]);
      expect((await page.$$('.node')).length).toBeGreaterThan(1);
      expect(trouble).toEqual([]);
    }
  });

  test('dark and light differ, and paper shows no buttons', async () => {
    const { page } = await open(html);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    const light = await background();
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    expect(await background()).not.toBe(light);
    await page.emulateMediaType('print');
    const shown = await page.$eval('.tools', element => getComputedStyle(element).display);
    expect(shown).toBe('none');
  });
});
