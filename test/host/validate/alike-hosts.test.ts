import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openGiven } from '../../../src/cli/open-given.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { checkRequest, rostersToCheck } from '../../../src/cli/validate.ts';
import type { SlsTree } from '../../../src/compiler/load.ts';
import { checkProject } from '../../../src/validate/hosts/check-project.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const hosts = Array.from({ length: 12 }, (_, at) => `web${at}`);

/** Checks a project on twelve hosts: the messages with their hosts, and how many trees were loaded. */
const check = async (files: Readonly<Record<string, string>>) => {
  const dir = mkdtempSync(join(tmpdir(), 'alike-'));
  onTestFinished(() => removeFolder(dir));
  const base = {
    'tsalt.yaml': 'cachedir: cache\nrenderer: jinja|yaml\n',
    'roster.yaml': hosts.map(id => `${id}: 192.0.2.1\n`).join(''),
    'states/top.sls': "base: {'*': [a, b]}\n",
    'states/b.sls': "b:\n  test.nop:\n    - text: {{ grains['os'] }}\n",
  };
  for (const [path, text] of Object.entries({ ...base, ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const given = parseArguments(['validate', '*', '-c', join(dir, 'tsalt.yaml')]);
  const opened = await openGiven(given, {});
  const { roster } = await rostersToCheck(opened);
  const trees = new Set<SlsTree>();
  const { findings } = await checkProject({
    request: checkRequest('*', roster, opened),
    roster: roster.hosts,
    sls: undefined,
    grains: { kind: 'profiles', names: ['debian-12'] },
    answers: [],
    inspect: checked => {
      for (const tree of checked.trees) trees.add(tree);
      return [];
    },
  });
  return {
    trees: trees.size,
    findings: findings.all().map(one => ({ message: one.message, hosts: one.hosts })),
  };
};

test('validate: renders and compiles hosts once whose templates read the same', async () => {
  const { trees, findings } = await check({
    'states/a.sls':
      "{% from 'm.jinja' import x %}a:\n  test.nope:\n    - text: {{ x }} {{ pillar['p'] }}\n",
    'states/m.jinja': "{% set x = grains['os_family'] %}\n",
    'pillar/top.sls': "base: {'*': [p]}\n",
    // Differs by host, and no state reads it.
    'pillar/p.sls': 'p: 1\nname: {{ grains.id }}\n',
  });
  expect(trees).toBe(1);
  expect(findings).toMatchObject([{ message: expect.stringContaining('test.nope'), hosts }]);
});

test.each([
  { what: 'the ID of the grains', text: "{% if grains.id == 'web7' %}a: test.nope{% endif %}" },
  { what: 'all grains', text: "{% if 'web7' in grains.values() %}a: test.nope{% endif %}" },
  { what: 'the ID of the options', text: "{% if opts.id == 'web7' %}a: test.nope{% endif %}" },
  {
    what: 'the minion',
    text: "{% if salt['grains.get']('id') == 'web7' %}a: test.nope{% endif %}",
  },
  { what: 'its pillar', text: "{% if pillar.name == 'web7' %}a: test.nope{% endif %}" },
  {
    what: 'a file that reads the ID',
    text: "{% from 'm.jinja' import x with context %}{% if x == 'web7' %}a: test.nope{% endif %}",
  },
  {
    what: 'the ID in another renderer',
    text: "#!mako|yaml\n${grains.id == 'web7' ? 'a: test.nope' : ''}",
  },
])('validate: finds the mistake of one host by $what', async ({ text }) => {
  const { findings } = await check({
    'states/a.sls': `${text}\n`,
    'states/m.jinja': '{% set x = grains.id %}\n',
    'pillar/top.sls': "base: {'*': [p]}\n",
    'pillar/p.sls': 'name: {{ grains.id }}\n',
  });
  expect(findings).toMatchObject([
    { message: expect.stringContaining('test.nope'), hosts: ['web7'] },
  ]);
});

test('validate: hosts with other SLS by the top file are checked apart', async () => {
  const { findings } = await check({
    'states/top.sls': "base:\n  '*': [b]\n  'web[0-5]': [a]\n",
    'states/a.sls': 'a: test.nope\n',
  });
  expect(findings).toMatchObject([{ hosts: hosts.slice(0, 6) }]);
});

const printing = [
  { what: 'grains.id', code: '{{ grains.id }}' },
  { what: "grains['id']", code: "{{- ' ' -}}{{ grains['id'] -}}" },
  { what: 'opts.id', code: '{{ opts.id }}' },
  { what: 'grains.get', code: "{{ salt['grains.get']('id') }}" },
];

test.each(printing)('validate: renders two hosts of many that only print $what', async one => {
  const { trees, findings } = await check({
    'states/a.sls': `conf-${one.code}:\n  test.nop: []\nx:\n  test.nope: []\n`,
  });
  expect(trees).toBe(2);
  expect(findings).toMatchObject([{ message: expect.stringContaining('test.nope'), hosts }]);
});

const conf = 'conf-{{ grains.id }}:\n  test.nop: []\n';
const needs = (id: string): string => `b:\n  test.nop:\n    - require: [{test: ${id}}]\n`;

test.each([
  {
    what: 'another SLS has the name of a host',
    sls: { 'states/a.sls': conf, 'states/b.sls': needs('conf-web7') },
    lost: hosts.filter(id => id !== 'web7'),
  },
  {
    what: 'another SLS has the name of the first host',
    sls: { 'states/a.sls': conf, 'states/b.sls': needs('conf-web0') },
    lost: hosts.filter(id => id !== 'web0'),
  },
  {
    what: 'a requisite is a pattern',
    sls: { 'states/a.sls': conf, 'states/b.sls': needs("'conf-web1*'") },
    lost: hosts.filter(id => !id.startsWith('web1')),
  },
  {
    what: 'the printed ID is captured',
    sls: {
      'states/a.sls': `{% set x %}{{ grains.id }}{% endset %}${conf}`,
      'states/b.sls': `{% set x %}{{ grains.id }}{% endset %}{% if x != 'web7' %}${needs('lost')}{% endif %}`,
    },
    lost: hosts.filter(id => id !== 'web7'),
  },
  {
    what: 'the ID is a key',
    sls: {
      'states/a.sls': conf,
      'states/b.sls': `{% if pillar.get(grains.id) %}${needs('lost')}{% endif %}{{ grains.id }}: test.nop\n`,
      'pillar/top.sls': "base: {'*': [p]}\n",
      'pillar/p.sls': 'web7: 1\n',
    },
    lost: ['web7'],
  },
  {
    what: 'a target of the pillar means one host',
    sls: {
      'states/a.sls': conf,
      'states/b.sls': `{% if pillar.get('x') %}${needs('lost')}{% endif %}`,
      'pillar/top.sls': "base: {'web7': [p]}\n",
      'pillar/p.sls': 'x: 1\n',
    },
    lost: ['web7'],
  },
])('validate: finds what differs between hosts where $what', async ({ sls, lost }) => {
  const { findings } = await check(sls);
  expect(findings.flatMap(one => one.hosts).sort()).toEqual([...lost].sort());
});
