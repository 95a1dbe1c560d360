import { expect, test } from 'vitest';
import { type Dict, Float, toDict } from '../../../src/data/values/value.ts';
import { WatchedDict } from '../../../src/data/values/watched-dict.ts';
import { site } from '../../render/site.ts';

test('grains, pillar and defaults', async () => {
  const { data } = site({ pillar: { nginx: { port: 81 }, pkgs: ['a', 'b'] } });
  expect(
    await data(
      'a: {{ grains.os }}\nb: {{ pillar.nginx.port | default: 80 }}\nc: {{ pillar.apache.port | default: 80 }}\n{% for p in pillar.pkgs %}{{ p }}x: 1\n{% endfor %}',
    ),
  ).toEqual({ a: 'Debian', b: 81, c: 80, ax: 1, bx: 1 });
});

test('only the grains that a template names are read', async () => {
  const text = "{{ grains.os }} {{ grains.none | default: 'no' }}";
  const read = async (...known: string[]): Promise<boolean> => {
    const grains = new WatchedDict(toDict({ os: 'Debian', kernel: 'Linux' }), new Set(known));
    expect(await site({ grains }).text(text)).toBe('Debian no');
    return grains.hasRead;
  };
  expect(await read('os', 'none')).toBe(false);
  expect(await read('os')).toBe(true);
});

test('a grain may have the name of a method that liquidjs looks for', async () => {
  const grains = new WatchedDict(toDict({ toLiquid: 'mine' }));
  expect(await site({ grains }).text('{{ grains.toLiquid }}')).toBe('mine');
  expect(grains.hasRead).toBe(true);
});

test('lists and dicts print as text that YAML reads back', async () => {
  const { data } = site({ pillar: { list: ['a: b', 1], dict: { x: null } } });
  expect(await data('a: {{ pillar.list }}\nb: {{ pillar.dict }}')).toEqual({
    a: ['a: b', 1],
    b: { x: null },
  });
});

test('dicts iterate as pairs, know their size and their keys', async () => {
  const { text } = site({ pillar: { d: { b: 1, a: 2, size: 3 }, e: { x: 1, y: 2 } } });
  expect(await text('{% for p in pillar.d %}{{ p[0] }}={{ p[1] }};{% endfor %}')).toBe(
    'b=1;a=2;size=3;',
  );
  expect(await text('{{ pillar.d.size }} {{ pillar.e.size }} {{ pillar.e | size }}')).toBe('3 2 2');
  expect(
    await text(
      "{% if pillar.e contains 'x' %}yes{% endif %}{% if pillar.e contains 'z' %}no{% endif %}",
    ),
  ).toBe('yes');
});

test('floats keep their point, big numbers their digits, keys their type', async () => {
  const extra: Dict = new Map([
    ['f', new Float(1)],
    ['big', 12345678901234567890n],
    ['d', new Map([[386, 'x']])],
  ] as never);
  const { text } = site({ extra });
  expect(
    await text('{{ f }} {{ big }} {{ d[386] }} {% if f == 1 %}one{% endif %} {{ f | plus: 1 }}'),
  ).toBe('1.0 12345678901234567890 x one 2');
});

test('the salt filter calls the host with positional and named arguments', async () => {
  const { data, calls } = site({ pillar: { l: ['k', 'v'] } });
  expect(await data("a: {{ 'cmd.run' | salt: 'id', pillar.l, runas: 'www' }}")).toEqual({
    a: 'cmd.run()',
  });
  expect(calls).toEqual([['cmd.run', ['id', ['k', 'v']], { runas: 'www' }]]);
});

test('the salt tag keeps the result under a name', async () => {
  const { data, calls } = site();
  expect(await data("{% salt k = cmd.run 'uname -r', shell: '/bin/sh' %}a: {{ k }}")).toEqual({
    a: 'cmd.run()',
  });
  expect(calls).toEqual([['cmd.run', ['uname -r'], { shell: '/bin/sh' }]]);
});

test('load_yaml, load_json and load_text keep data under a name', async () => {
  const { data } = site();
  expect(
    await data(
      '{% load_yaml as n %}\npkg: {{ grains.os }}\nv: 1.0\n{% endload %}{% load_json as j %}{"a": [1]}{% endload %}{% load_text as t %}hi{% endload %}a: {{ n.pkg }}-{{ n.v }}\nb: {{ j.a[0] }}\nc: {{ t }}',
    ),
  ).toEqual({ a: 'Debian-1.0', b: 1, c: 'hi' });
});

test('imports, includes and layouts come from the file roots, also by relative paths', async () => {
  const { data } = site({
    files: {
      'web/map.yaml': 'port: 80\n',
      'web/part.liquid': 'p: {{ x }}\n{% include "./inner.liquid" %}',
      'web/inner.liquid': 'i: {{ grains.os }}\n',
      'layout.liquid': 'top: 1\n{% block body %}none: 1{% endblock %}',
    },
  });
  expect(
    await data(
      "{% import_yaml './map.yaml' as a %}{% import_yaml 'web/map.yaml' as b %}a: {{ a.port }}\nb: {{ b.port }}\n{% render 'web/part.liquid', x: 5 %}",
    ),
  ).toEqual({ a: 80, b: 80, p: 5, i: 'Debian' });
  expect(await data("{% layout 'layout.liquid' %}{% block body %}mine: 2{% endblock %}")).toEqual({
    top: 1,
    mine: 2,
  });
});

test('nothing outside of the file roots can be included', async () => {
  const { failure } = site();
  for (const path of ['../../../etc/passwd', '/etc/passwd', './../../../../etc/passwd'])
    expect(await failure(`a: {% include '${path}' %}`)).toContain('there is no template');
});

test('templates cannot reach prototypes', async () => {
  const { failure } = site({ pillar: { a: { b: 1 }, list: [1], text: 'x' } });
  for (const path of [
    'pillar.constructor',
    'pillar.__proto__',
    'toString',
    'pillar.a.hasOwnProperty',
    'pillar.list.constructor',
    'pillar.text.constructor',
    'constructor',
  ])
    expect(await failure(`a: {{ ${path} }}`)).toContain(`Liquid variable '${path}' is undefined`);
});

test('an undefined variable names file, line and column and shows the lines', async () => {
  const { failure } = site();
  expect(await failure('a: 1\nb: {{ nosuch.x }}\nc: 2\n')).toBe(
    [
      "Liquid variable 'nosuch' is undefined (web/init.sls:2:7)",
      '---',
      'a: 1',
      'b: {{ nosuch.x }}    <======================',
      'c: 2',
      '---',
      'Give it a value, or write `| default: …` behind it.',
    ].join('\n'),
  );
});

test.each([
  ['a: {% if %}', 'Liquid syntax error: invalid value expression: "" (web/init.sls:1:9)'],
  ['{% frob %}', 'Liquid syntax error: tag "frob" not found (web/init.sls:1:1)'],
  ["{{ 'a' | frob }}", "Liquid filter 'frob' is unknown (web/init.sls:1:1)"],
  [
    '{% load_yaml as x %}\na: b: c\n{% endload %}',
    'mapping values are not allowed in this context (web/init.sls:2:5)',
  ],
  ["{{ 'a' | regex_search: '(' }}", "'(' is not a regular expression"],
  ["{{ 'a' | yaml: nope: 1 }}", "the filter 'yaml' has no argument 'nope'"],
])('%j fails with: %s', async (text, expected) => {
  expect(await site().failure(text)).toContain(expected);
});

test('an error in an included template names that template', async () => {
  const { failure } = site({ files: { 'web/part.liquid': 'x\n{{ nope }}\n' } });
  expect(await failure("a: 1\n{% include 'web/part.liquid' %}")).toContain(
    "Liquid variable 'nope' is undefined (web/part.liquid:2:4)",
  );
});

test('host-supplied text is never a template', async () => {
  const { data } = site({ grains: { os: "{{ 'cmd.run' | salt: 'x' }} {% if %}" } });
  expect(await data('a: {{ grains.os | yaml_encode }}')).toEqual({
    a: "{{ 'cmd.run' | salt: 'x' }} {% if %}",
  });
});

test('the variables of the SLS are there under Salt names', async () => {
  const { data } = site();
  const names = [
    'sls',
    'slspath',
    'sls_path',
    'slsdotpath',
    'slscolonpath',
    'tplfile',
    'tpldir',
    'tpldot',
    'tplroot',
    'saltenv',
  ];
  const text = names.map(name => `${name}: '{{ ${name} }}'`).join('\n');
  expect(await data(text, { file: '/srv/a/b/c.sls', sls: 'a.b.c' })).toEqual({
    sls: 'a.b.c',
    slspath: 'a/b',
    sls_path: 'a_b',
    slsdotpath: 'a.b',
    slscolonpath: 'a:b',
    tplfile: 'a/b/c.sls',
    tpldir: 'a/b',
    tpldot: 'a.b',
    tplroot: 'a',
    saltenv: 'base',
  });
  expect(await data(text, { file: '/srv/a.sls', sls: 'a' })).toMatchObject({
    slspath: '',
    tplfile: 'a.sls',
    tpldir: '.',
    tpldot: '',
  });
});

test('templates that include each other without end are an error', async () => {
  const { failure } = site({
    files: {
      'a.liquid': "{% include 'b.liquid' %}",
      'b.liquid': "{% render 'a.liquid' %}",
      'l.liquid': "{% layout 'l.liquid' %}",
    },
  });
  for (const text of ["{% include 'a.liquid' %}", "{% layout 'l.liquid' %}"])
    expect(await failure(text)).toContain('templates include each other more than 50 levels deep');
});

test('a template that grows without end is an error', async () => {
  const { failure } = site();
  expect(await failure('{% for i in (1..1000000000) %}x{% endfor %}')).toContain(
    'memory alloc limit exceeded',
  );
  expect(
    await failure(
      '{% assign s = "aaaaaaaaaa" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}',
    ),
  ).toContain('memory alloc limit exceeded');
});
