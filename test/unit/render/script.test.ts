import { expect, test } from 'vitest';
import { site } from '../../render/site.ts';

const example = `#!liquid|mako|yaml
An_Example:
  cmd.run:
    - name: |
        echo "Using Salt \${grains['saltversion']}" \\
             "from path {{grains['saltpath']}}."
    - cwd: /

<%doc> \${...} is Mako's notation, and so is this comment. </%doc>
{% comment %} And this one is Liquid's. {% endcomment %}
`;

test('the example of the renderer document runs', async () => {
  const { data } = site({ grains: { saltversion: '3006.9', saltpath: '/opt/salt' } });
  expect(await data(example)).toEqual({
    An_Example: {
      'cmd.run': [
        { name: 'echo "Using Salt 3006.9"              "from path /opt/salt."\n' },
        { cwd: '/' },
      ],
    },
  });
});

test('the output of one engine is not code for the next', async () => {
  const { data } = site({ grains: { evil: '${1 + 1} <% throw 1 %> ## x\n% if' } });
  expect(await data('#!liquid|mako|yaml\na: {{ grains.evil | json }}\nb: ${1 + 1}\n')).toEqual({
    a: '${1 + 1} <% throw 1 %> ## x\n% if',
    b: 2,
  });
});

test('Mako: loops, conditions, code, filters, comments, includes, joined lines', async () => {
  const { text } = site({
    pillar: { d: { a: 1, b: 2 }, l: ['x', 'y'] },
    files: { 'part.mako': 'part ${grains.os}\n' },
  });
  const source = [
    '## comment',
    '% for k, v in pillar.d.items():',
    '${k}=${v}',
    '% endfor',
    '% for x in pillar.l:',
    "% if x === 'x':",
    'one',
    '% elif x === "y":',
    'two',
    '% else:',
    'none',
    '% endif',
    '% endfor',
    '<% const n = 3; %>n=${n}',
    '${"<a>" | h, trim} ${pillar.get("no", "d")} $5 {x}',
    'joined \\',
    'line',
    '%% literal',
    '<%text>${raw}</%text>',
    '<%include file="part.mako"/>',
  ].join('\n');
  expect(await text(source, 'mako')).toBe(
    'a=1\nb=2\none\ntwo\nn=3\n&lt;a&gt; d $5 {x}\njoined line\n% literal\n${raw}\npart Debian\n',
  );
});

test('Mako and Wempy await what they ask of the host', async () => {
  const { text, calls } = site();
  expect(await text("${salt['cmd.run']('id', { runas: 'www' })}", 'mako')).toBe('cmd.run()');
  expect(await text("{{=salt['cmd.run']('id')}}", 'wempy')).toBe('cmd.run()');
  expect(calls).toEqual([
    ['cmd.run', ['id'], { runas: 'www' }],
    ['cmd.run', ['id'], {}],
  ]);
});

test('Wempy: blocks end with pass', async () => {
  const { text } = site({ pillar: { l: [1, 2] } });
  expect(
    await text('{{for x in pillar.l:}}{{if x == 1:}}one{{else:}}{{=x}}{{pass}};{{pass}}', 'wempy'),
  ).toBe('one;2;');
});

test.each([
  [
    '#!mako|yaml\na: 1\nb: ${grains.nosuch}\n',
    'Mako error: grains.nosuch is undefined (web/init.sls:3)',
  ],
  ['#!mako|yaml\nb: ${nosuch}\n', 'Mako error: nosuch is not defined (web/init.sls:2)'],
  [
    '#!mako|yaml\n% if x:\na: 1\n',
    'Mako error: % if is not closed: % endif is missing (web/init.sls:2)',
  ],
  ['#!mako|yaml\n% endif\n', 'Mako error: % endif closes no % if (web/init.sls:2)'],
  ['#!mako|yaml\n% toString\n', "Mako error: '% toString' is not a control line (web/init.sls:2)"],
  [
    '#!mako|yaml\na: ${1\n',
    'Mako error: an expression is not closed: } is missing (web/init.sls:2)',
  ],
  ['#!wempy|yaml\n{{pass}}\n', 'Wempy error: {{pass}} closes nothing (web/init.sls:2)'],
  [
    '#!ts\nexport const run = () => {\n  const a: any = null;\n  return a.b;\n};\n',
    "TypeError: Cannot read properties of null (reading 'b') (web/init.sls:4:12)",
  ],
  ['#!ts\nconst a: = 1;\n', 'TypeScript: Unexpected "=" (web/init.sls:2:10)'],
  [
    "#!ts\nimport x from './nope.ts';\nexport default x;\n",
    'TypeScript: Could not resolve "./nope.ts" (web/init.sls:2:15)',
  ],
  ['#!ts\nconst a = 1;\n', 'the module exports neither `run` nor a default (web/init.sls:1)'],
  ['#!ts\nexport default { a: () => 1 };\n', 'a function is not data'],
])('%j fails with: %s', async (text, expected) => {
  expect(await site({ files: { 'web/x': '' } }).failure(text)).toContain(expected);
});

test('TypeScript: run() gets the context, imports neighbours, may be async', async () => {
  const { data, calls } = site({
    files: { 'web/port.ts': 'export const port: number = 8080;' },
    pillar: { a: { b: 1 } },
  });
  expect(
    await data(`#!ts
import { port } from './port.ts';
import { __grains__, __salt__ } from 'tsalt-ssh/sls';
export const run = async ({ pillar }: { pillar: { a: { b: number } } }) => ({
  nginx: { 'pkg.installed': [{ version: await __salt__['x.y'](1, { k: 2 }) }, { port }, { os: __grains__.os }, { b: pillar.a.b }] },
});`),
  ).toEqual({
    nginx: { 'pkg.installed': [{ version: 'x.y()' }, { port: 8080 }, { os: 'Debian' }, { b: 1 }] },
  });
  expect(calls).toEqual([['x.y', [1], { k: 2 }]]);
});

test('TypeScript: a default object is the data, and each host sees its own grains', async () => {
  const { data } = site({ files: { 'web/x': '' } });
  expect(await data("#!js\nexport default { a: { 'test.nop': [] } };")).toEqual({
    a: { 'test.nop': [] },
  });
  const text =
    "#!ts\nimport { __grains__ } from 'tsalt-ssh/sls';\nexport const run = () => ({ os: __grains__.os });";
  const [a, b] = [site({ grains: { os: 'A' } }), site({ grains: { os: 'B' } })];
  expect(
    await Promise.all([a.data(text, { file: '/srv/x.sls' }), b.data(text, { file: '/srv/x.sls' })]),
  ).toEqual([{ os: 'A' }, { os: 'B' }]);
});

test('the builder declares states, requisites, includes and extensions', async () => {
  const { data } = site({ files: { 'web/x': '' } });
  expect(
    await data(`#!ts
import { builder } from 'tsalt-ssh/sls';
export const run = () => {
  const sls = builder();
  sls.include('base');
  const pkg = sls.state('pkg.installed', 'nginx');
  sls.state('service.running', 'nginx', { watch: pkg });
  sls.extend('file.managed', 'conf', { mode: '0644' });
  return sls.data();
};`),
  ).toEqual({
    include: ['base'],
    nginx: { 'pkg.installed': [], 'service.running': [{ watch: [{ pkg: 'nginx' }] }] },
    extend: { conf: { 'file.managed': [{ mode: '0644' }] } },
  });
});
